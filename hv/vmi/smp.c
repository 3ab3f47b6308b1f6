/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/smp.h"
#include "core/cpu.h"
#include "core/exit.h"
#include "core/vendor.h"
#include "dev/lapic.h"
#include "mm/guest_memory.h"
#include "vmi/calls.h"

int vmi_read_ap_state(const struct vcpu *vcpu, gva_t address, struct vmi_ap_state *state)
{
	struct fault_state fault;
	int error;

	vendor->read_fault_state(vcpu, &fault);
	error = guest_memory_read(&fault.paging, address, state, sizeof(*state));
	if (!error)
		state->eflags |= RFLAGS_RESERVED; /* Linux leaves them all 0 */
	return error;
}

int vmi_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state)
{
	return smp_set_ap_state(apic_id, state);
}

bool vmi_is_start_command(uint32_t offset, uint32_t value)
{
	return offset == LAPIC_ICR &&
	       (ICR_MODE(value) == ICR_INIT || ICR_MODE(value) == ICR_STARTUP);
}

/*
 * Where INIT exits it may as well be sent. In x2APIC mode nothing is at the register. A guest
 * that makes this call at all makes it for each INIT and STARTUP: no need to catch them.
 */
void vmi_write_start_command(uint32_t value)
{
	if (!vendor->init_exits)
		exit_apic_write(LAPIC_ICR, value);
	else if (!lapic_is_x2apic())
		lapic_write(LAPIC_ICR, value);
	if (vendor->release_apic)
		vendor->release_apic();
}
