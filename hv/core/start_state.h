/* SPDX-License-Identifier: GPL-2.0-only */
/* The states that a guest's processor starts in; the vendor's vcpu.c takes them over. */
#ifndef VELLUM_CORE_START_STATE_H
#define VELLUM_CORE_START_STATE_H

#include "core/descriptor.h"
#include "lib/types.h"

struct guest_entry;
struct vcpu;
struct vmi_ap_state;

/* Everything else is as power-on or INIT leaves it: APM volume 2, table 14-1. */
struct start_state {
	uint64_t cr0, cr3, cr4, efer;
	uint64_t rip, rsp, rflags;
	struct guest_segment es, cs, ss, ds, fs, gs, ldtr, tr, gdtr, idtr;
};

/* The boot processor at a kernel's 32-bit entry. Registers go into the vcpu. */
struct start_state start_state_kernel(struct vcpu *vcpu, const struct guest_entry *entry);

/* Real mode at page << 12, after INIT and STARTUP. */
struct start_state start_state_startup(struct vcpu *vcpu, uint8_t page);

/*
 * What the guest asked for by VMI call 62. Descriptors come from the GDT that the state
 * names, through its own page tables: -EFAULT if they can't be read, -EINVAL for a state
 * that no processor could be in.
 */
int start_state_ap(struct vcpu *vcpu, const struct vmi_ap_state *ap, struct start_state *state);

#endif
