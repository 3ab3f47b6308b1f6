/* SPDX-License-Identifier: GPL-2.0-only */
/* Who has called the code that the guest is in. */
#ifndef VELLUM_DEBUG_GUEST_BACKTRACE_H
#define VELLUM_DEBUG_GUEST_BACKTRACE_H

#include "core/guest_state.h"
#include "lib/types.h"

struct backtrace_frame {
	uint64_t address; /* linear: the next instruction, then return addresses */
	bool guessed;	  /* it lies on the stack, and behind a call; it may be an old one */
};

/*
 * Fills at most max (1 or more) frames, the innermost first, and returns how many: through
 * frame pointers, as far as they lead up the stack; then, with the guest's System.map, from
 * what else on the stack looks like a return address, as Linux does by itself.
 */
unsigned int guest_backtrace(const struct guest_state *state, struct backtrace_frame *frames,
			     unsigned int max);

#endif
