/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An exit at a time: the preemption timer, SDM volume 3C, 26.5.1. It counts while the guest
 * runs, and what is left is saved at each exit; the time that Vellum takes comes on top.
 */
#include "core/cpu.h"
#include "vmx/vmx.h"

#define TIMER_MAX UINT32_MAX

static bool has_timer(void)
{
	return (vmx_controls(MSR_VMX_PIN, PIN_PREEMPTION_TIMER) & PIN_PREEMPTION_TIMER) &&
	       (vmx_controls(MSR_VMX_EXIT, EXIT_SAVE_TIMER) & EXIT_SAVE_TIMER);
}

/* Not saved unless it runs, as an entry insists (27.2.1.2). */
static void switch_timer(bool on)
{
	uint64_t pin = vmread(VMCS_PIN_CONTROLS) & ~PIN_PREEMPTION_TIMER;
	uint64_t exit = vmread(VMCS_EXIT_CONTROLS) & ~EXIT_SAVE_TIMER;

	vmwrite(VMCS_PIN_CONTROLS, on ? pin | PIN_PREEMPTION_TIMER : pin);
	vmwrite(VMCS_EXIT_CONTROLS, on ? exit | EXIT_SAVE_TIMER : exit);
}

/* It counts the changes of one of the TSC's bits; the first behind the deadline is the last. */
static void load_timer(uint64_t deadline)
{
	uint64_t now = rdtsc();
	unsigned int rate = VMX_MISC_TIMER_RATE(rdmsr(MSR_VMX_MISC));
	uint64_t count = deadline > now ? (deadline >> rate) - (now >> rate) + 1 : 0;

	vmwrite(VMCS_PREEMPTION_TIMER, min_u64(count, TIMER_MAX));
}

bool vmx_set_timer(struct vcpu *vcpu, uint64_t deadline, void (*due)(struct vcpu *vcpu))
{
	if (!has_timer())
		return false;
	vcpu->deadline = deadline;
	vcpu->due = due;
	if (deadline != NO_DEADLINE)
		load_timer(deadline);
	switch_timer(deadline != NO_DEADLINE);
	return true;
}

/* A deadline that lies farther away than the timer counts needs several rounds. */
void vmx_timer_exit(struct vcpu *vcpu)
{
	if (rdtsc() < vcpu->deadline) {
		load_timer(vcpu->deadline);
		return;
	}
	switch_timer(false);
	vcpu->due(vcpu);
}
