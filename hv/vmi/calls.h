/* SPDX-License-Identifier: GPL-2.0-only */
/* What the VMI calls do that are hypercalls, decoded: one file per group of calls. */
#ifndef VELLUM_VMI_CALLS_H
#define VELLUM_VMI_CALLS_H

#include "vmi/vmi.h"

struct vcpu;

/*
 * power.c: calls 36 and 37. The last records come first. A machine that cannot be switched
 * off stops, and the console says so.
 */
_Noreturn void vmi_reboot(void);
_Noreturn void vmi_shutdown(void);

/*
 * iret.c, for vmi=trace: a fault of the ROM's IRET is moved to the guest's site that has
 * called it, where the guest expects it. Does nothing if the guest is elsewhere.
 */
void vmi_move_iret_fault(struct vcpu *vcpu);

/* The ROM's offsets of that IRET, and of the stub that a site calls. */
void vmi_iret_init(uint32_t iret, uint32_t stub);

/*
 * smp.c: call 62. A state that can't be read is -EFAULT; it is checked where it is loaded.
 * -ENODEV: the guest has no such processor.
 */
int vmi_read_ap_state(const struct vcpu *vcpu, gva_t address, struct vmi_ap_state *state);
int vmi_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state);

/* Call 63, for the command register: true if it is INIT or STARTUP, and then to do that. */
bool vmi_is_start_command(uint32_t offset, uint32_t value);
void vmi_write_start_command(uint32_t value);

#endif
