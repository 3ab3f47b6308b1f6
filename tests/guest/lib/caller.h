/* SPDX-License-Identifier: GPL-2.0-only */
/* A call with every register set before and read after it. */
#ifndef VELLUM_TESTS_GUEST_CALLER_H
#define VELLUM_TESTS_GUEST_CALLER_H

#include "lib/types.h"

#define CALL_STACK_WORDS 4

/* caller.asm holds the same offsets. */
struct call {
	uint32_t eax, ecx, edx, ebx, ebp, esi, edi, eflags; /* for the target, then from it */
	uint32_t ds, es, fs, gs;			    /* selectors; CS and SS are flat */
	uint32_t target;
	uint32_t skew;			  /* bytes by which the stack is off its alignment */
	int32_t popped;			  /* out: by how much ESP has moved, 0 for a plain RET */
	uint32_t stack[CALL_STACK_WORDS]; /* what lies behind the return address */
};

_Static_assert(offsetof(struct call, ds) == 32, "caller.asm");
_Static_assert(offsetof(struct call, target) == 48, "caller.asm");
_Static_assert(offsetof(struct call, stack) == 60, "caller.asm");

/* Returns with interrupts off and flat segments, whatever the target has done to them. */
void caller_run(struct call *call);

#endif
