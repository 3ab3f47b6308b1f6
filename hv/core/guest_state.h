/* SPDX-License-Identifier: GPL-2.0-only */
/* All of a vcpu's registers in words that both vendors share: what debuggers look at. */
#ifndef VELLUM_CORE_GUEST_STATE_H
#define VELLUM_CORE_GUEST_STATE_H

#include "core/descriptor.h"
#include "core/vcpu.h"
#include "lib/types.h"

/* APM volume 2, 11.4.4 */
#define FXSAVE_SIZE	   512
#define FXSAVE_MXCSR	   24
#define FXSAVE_MXCSR_MASK  28
#define MXCSR_DEFAULT_MASK 0xffbfu /* where that is 0 */

struct guest_state {
	uint8_t fpu[FXSAVE_SIZE] __attribute__((aligned(16))); /* as FXSAVE stores it */
	struct guest_registers regs;
	uint64_t rip, rflags;
	uint64_t cr0, cr2, cr3, cr4, efer;
	uint64_t dr6, dr7;
	bool halted; /* in HLT: RIP is there, or behind it */
	struct guest_segment es, cs, ss, ds, fs, gs, ldtr, tr, gdtr, idtr;
};

#endif
