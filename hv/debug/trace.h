/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last exits of all processors, in the order in which they came. Those that take the long
 * way are always in it; CPUID and hypercalls, which guests may make often, only with trace=on.
 */
#ifndef VELLUM_DEBUG_TRACE_H
#define VELLUM_DEBUG_TRACE_H

#include "core/vcpu.h"
#include "lib/types.h"

#define TRACE_ENTRIES	 2048
#define TRACE_DETAIL_MAX 64 /* of trace_detail()'s text */

struct trace_entry {
	uint64_t tsc, rip;
	uint64_t detail;	/* what trace_note() was told */
	uint32_t eax, ecx, edx; /* as the guest left them */
	uint32_t cycles;
	uint8_t cpu, reason; /* enum exit_reason; EXIT_REASONS: it is still being handled */
};

/* True with trace=on: quick exits are to be noted, too. */
extern bool trace_is_on;

/* An exit begins, and ends; vcpu->exit_start and the registers are set. */
void trace_begin(struct vcpu *vcpu, uint64_t rip);
void trace_end(struct vcpu *vcpu);

/* What the registers don't tell about the present exit: an address, a port access, a vector. */
static inline void trace_note(struct vcpu *vcpu, uint64_t detail)
{
	if (vcpu->trace)
		vcpu->trace->detail = detail;
}

/* trace_note()'s for a port access. */
#define TRACE_PORT(port, size, in) \
	((uint64_t)(port) | (uint64_t)(size) << 16 | (uint64_t)(in) << 24)

/* A hypercall of the quick kind is done. eax to edx: as the guest left them. */
void trace_hypercall(struct vcpu *vcpu, uint64_t rip, uint32_t eax, uint32_t ecx, uint32_t edx);

/* How many there are to be had, TRACE_ENTRIES at most. */
unsigned int trace_count(void);

/*
 * The one that came back-th before the last, from 0; false if the next exit is overwriting it.
 * back is below trace_count().
 */
bool trace_read(unsigned int back, struct trace_entry *entry);

/* "cpuid", "wrmsr", or the call's name for a VMI call. */
const char *trace_name(const struct trace_entry *entry);

/* What it was about: "msr 1b = fee00900", "out 1 cf9 = 6"; "" if there is no more to say. */
const char *trace_detail(const struct trace_entry *entry, char text[TRACE_DETAIL_MAX]);

void trace_clear(void);

#endif
