/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DR0 to DR3 and DR7 are the guest's until the debugger sets a hardware breakpoint. Then the
 * guest's values are kept here, its accesses exit, and its own breakpoints rest.
 */
#ifndef VELLUM_DEBUG_DEBUG_REGISTERS_H
#define VELLUM_DEBUG_DEBUG_REGISTERS_H

#include "core/guest_state.h"
#include "lib/types.h"

struct vcpu;

/* All on the vcpu's own processor. */

/* Takes the registers for the debugger's breakpoints, or gives them back. */
void debug_registers_load(struct vcpu *vcpu);

/* INIT has cleared them, and the vendor's guard. */
void debug_registers_forget(const struct vcpu *vcpu);

bool debug_registers_are_taken(const struct vcpu *vcpu);

/* What the guest believes to be in DR7. */
void debug_registers_show(const struct vcpu *vcpu, struct guest_state *state);

/* The guest's own accesses, while they are taken; 4 and 5 are 6 and 7. */
uint64_t debug_registers_read(const struct vcpu *vcpu, unsigned int number,
			      const struct guest_state *state);
void debug_registers_write(struct vcpu *vcpu, unsigned int number, uint64_t value);

#endif
