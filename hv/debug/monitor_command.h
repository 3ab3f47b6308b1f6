/* SPDX-License-Identifier: GPL-2.0-only */
/* What the monitor's commands share: monitor.c has the table, each theme its own file. */
#ifndef VELLUM_DEBUG_MONITOR_COMMAND_H
#define VELLUM_DEBUG_MONITOR_COMMAND_H

#include "core/vcpu.h"
#include "debug/debugger.h"
#include "debug/guest_symbols.h"
#include "lib/types.h"
#include "lib/words.h"

/* One command that somebody has typed; all vcpus stand still. */
struct monitor_request {
	const char *rest;	 /* of the line, behind the command's name */
	struct vcpu *vcpu;	 /* which it is about; cpu changes it */
	struct stopped *stopped; /* the same one */
	bool goes_on;		 /* set by the command: the guest runs again, as resume says */
};

struct monitor_command {
	const char *name, *arguments, *help;
	void (*run)(struct monitor_request *request);
	bool own_line; /* needs the monitor's own line: with gdb, gdb does that */
};

/* Prints to whoever has asked. */
__attribute__((format(printf, 1, 2))) void monitor_print(const char *format, ...);

/* ---- monitor_argument.c: what stands behind a command's name ---- */

/* The paging of the request's vcpu. */
struct guest_paging monitor_paging(const struct monitor_request *request);

/* The linear address of its next instruction. */
uint64_t monitor_next_instruction(const struct monitor_request *request);

/* An address as one may write it: 1000, start_kernel+12, $esp-4, p:1000. */
struct monitor_address {
	uint64_t value;
	bool physical; /* a gpa */
};

/*
 * Takes the next word as an address; if there is none, the default, unless that is NULL.
 * False: it is none, and the user has been told.
 */
bool monitor_take_address(struct monitor_request *request, struct monitor_address *address,
			  const uint64_t *otherwise);

/* The same for a plain number, hexadecimal with 0x and decimal without, of 1 to max. */
bool monitor_take_number(struct monitor_request *request, uint64_t *number, uint64_t otherwise,
			 uint64_t max);

/* The same for the bytes that the rest of the line names: 90 90, or "text". 0: none, said so. */
unsigned int monitor_take_bytes(struct monitor_request *request, uint8_t *bytes, unsigned int max);

/* False, and told, if there is something behind the last argument. */
bool monitor_is_at_end(struct monitor_request *request);

/* Copies the guest's memory; how many bytes could be, from the first on. */
uint64_t monitor_read(const struct monitor_request *request, struct monitor_address address,
		      void *out, uint64_t size);

struct trace_entry;

/* One exit of the ring, and the title over several. */
void monitor_print_exit(const struct trace_entry *entry);
void monitor_print_exits_title(void);

/* ---- the commands ---- */

void monitor_registers(struct monitor_request *request);
void monitor_processors(struct monitor_request *request);
void monitor_processor(struct monitor_request *request);
void monitor_backtrace(struct monitor_request *request);
void monitor_symbol(struct monitor_request *request);
void monitor_memory(struct monitor_request *request);
void monitor_code(struct monitor_request *request);
void monitor_write(struct monitor_request *request);
void monitor_find(struct monitor_request *request);
void monitor_walk(struct monitor_request *request);
void monitor_trace(struct monitor_request *request);
void monitor_histogram(struct monitor_request *request);
void monitor_exits(struct monitor_request *request);
void monitor_vmi(struct monitor_request *request);
void monitor_break(struct monitor_request *request);
void monitor_watch(struct monitor_request *request);
void monitor_delete(struct monitor_request *request);
void monitor_continue(struct monitor_request *request);
void monitor_step(struct monitor_request *request);
void monitor_log(struct monitor_request *request);
void monitor_nmi(struct monitor_request *request);
void monitor_reset(struct monitor_request *request);
void monitor_power_off(struct monitor_request *request);

#endif
