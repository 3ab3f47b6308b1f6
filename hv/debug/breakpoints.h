/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The debugger's breakpoints, and the guest's memory as it is without them. All of this is
 * for the time when the guest's processors stand still.
 */
#ifndef VELLUM_DEBUG_BREAKPOINTS_H
#define VELLUM_DEBUG_BREAKPOINTS_H

#include "lib/types.h"
#include "mm/guest_memory.h"

#define SOFTWARE_BREAKPOINTS_MAX 64
#define HARDWARE_BREAKPOINTS_MAX 4 /* DR0 to DR3 */

/* By the numbers of DR7's R/W fields: APM volume 2, 13.1.1.5 */
enum breakpoint_access { BREAK_EXECUTE = 0, BREAK_WRITE = 1, BREAK_ACCESS = 3 };

struct hardware_breakpoint {
	bool used;
	uint64_t address;
	enum breakpoint_access access;
	unsigned int size; /* bytes: 1, 2, 4, 8; 1 for execution */
};

/*
 * An INT3 at a linear address. Adding one twice is no error. -EFAULT: nothing is mapped
 * there; -E2BIG: too many.
 */
int breakpoint_add(const struct guest_paging *paging, uint64_t address);

/* -ENOENT: there is none. The page may be mapped elsewhere by now, or nowhere. */
int breakpoint_remove(uint64_t address);

/* True if any is set. */
bool breakpoints_in_use(void);

/* True if the INT3 at a linear address is one of these. */
bool breakpoint_is_at(const struct guest_paging *paging, uint64_t address);

/*
 * A hardware breakpoint or watchpoint. -EINVAL: a size that there is none of, or an address
 * that is not a multiple of it; -E2BIG: all four are in use.
 */
int watchpoint_add(uint64_t address, enum breakpoint_access access, uint64_t size);
int watchpoint_remove(uint64_t address, enum breakpoint_access access, uint64_t size);

/* True if any is set. */
bool watchpoints_in_use(void);

/* number is below HARDWARE_BREAKPOINTS_MAX. */
const struct hardware_breakpoint *watchpoint_at(unsigned int number);

/* What DR7 holds for these. */
uint64_t watchpoints_dr7(void);

/* Takes all of them out. */
void breakpoints_clear(void);

/*
 * As guest_memory_read() and _write(), but breakpoints are not seen, and not overwritten.
 * How many bytes could be read, from the first on.
 */
uint64_t breakpoints_read(const struct guest_paging *paging, uint64_t address, void *out,
			  uint64_t size);
int breakpoints_write(const struct guest_paging *paging, uint64_t address, const void *data,
		      uint64_t size);

#endif
