/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs and machine checks that arrive while Vellum runs. In the guest they go to the
 * guest's own IDT; here they are noted, and passed on before the guest runs again. (AMD-V
 * holds them back by itself: svm_enable() keeps GIF at 0.)
 */
#include "core/cpu.h"
#include "core/exception.h"
#include "core/exit.h"
#include "core/processor.h"
#include "vmx/vmx.h"

/* entry.asm: the ways into the guest, from the look at the note to the entry */
extern const uint8_t vmx_launch[], vmx_launch_end[], vmx_enter[], vmx_enter_end[];

static void start_again(struct exception_frame *frame, const uint8_t *start, const uint8_t *end)
{
	if (frame->rip >= (uintptr_t)start && frame->rip < (uintptr_t)end)
		frame->rip = (uintptr_t)start;
}

/* Called on the event's own stack frame; NMIs are blocked until their IRET. */
void vmx_note_event(struct exception_frame *frame)
{
	struct vcpu *vcpu = &processor_current()->vcpu;

	if (frame->vector == VECTOR_MC)
		vcpu->pending.machine_check = true;
	else
		vcpu->pending.nmi = true;
	start_again(frame, vmx_launch, vmx_launch_end);
	start_again(frame, vmx_enter, vmx_enter_end);
}

static void change_control(enum vmcs_field field, uint64_t bits, bool on)
{
	uint64_t value = vmread(field);

	vmwrite(field, on ? value | bits : value & ~bits);
}

/* An exit as soon as the guest can take an NMI (SDM volume 3C, 26.3 and 26.2). */
static void set_window(bool open)
{
	change_control(VMCS_PIN_CONTROLS, PIN_NMI_EXITING | PIN_VIRTUAL_NMIS, open);
	change_control(VMCS_PROCESSOR_CONTROLS, PROCESSOR_NMI_WINDOW, open);
}

static bool can_take_nmi(void)
{
	return !(vmread(VMCS_GUEST_INTERRUPTIBILITY) &
		 (BLOCKING_NMI | BLOCKING_MOV_SS | BLOCKING_STI)) &&
	       !(vmread(VMCS_ENTRY_INTERRUPTION) & INTERRUPTION_VALID);
}

/* Injects the NMI, or waits for the guest to be ready for it. */
static void pass_nmi_on(struct vcpu *vcpu)
{
	bool now = can_take_nmi();

	vcpu->pending.nmi = false;
	set_window(!now);
	if (now)
		vmwrite(VMCS_ENTRY_INTERRUPTION,
			VECTOR_NMI | INTERRUPTION_NMI | INTERRUPTION_VALID);
}

/* With CR4.MCE clear a machine check shuts a processor down (SDM volume 3A, 6.15, #MC). */
static void pass_machine_check_on(struct vcpu *vcpu)
{
	vcpu->pending.machine_check = false;
	if (!(vmread(VMCS_GUEST_CR4) & CR4_MCE))
		exit_machine_check(vcpu);
	vmx_inject_exception(vcpu, VECTOR_MC, NO_ERROR_CODE);
}

/* While it waits for STARTUP it takes nothing; an entry with an event would fail (27.3.1.5). */
static bool has_started(void)
{
	return vmread(VMCS_GUEST_ACTIVITY) != ACTIVITY_WAIT_FOR_STARTUP;
}

/* One event; entry.asm looks again. */
void vmx_pass_on(struct vcpu *vcpu)
{
	if (!has_started())
		vcpu->pending.nmi = vcpu->pending.machine_check = false;
	else if (vcpu->pending.machine_check)
		pass_machine_check_on(vcpu);
	else
		pass_nmi_on(vcpu);
}

/* The window opened, or an NMI came while Vellum waited for it. */
void vmx_nmi_exit(struct vcpu *vcpu)
{
	vcpu->pending.nmi = true;
}

void vmx_delay_interrupt(struct vcpu *vcpu, unsigned int vector)
{
	vcpu->pending.interrupt = (uint8_t)vector;
	change_control(VMCS_PROCESSOR_CONTROLS, PROCESSOR_INTERRUPT_WINDOW, true);
}

void vmx_interrupt_window_exit(struct vcpu *vcpu)
{
	change_control(VMCS_PROCESSOR_CONTROLS, PROCESSOR_INTERRUPT_WINDOW, false);
	vmwrite(VMCS_ENTRY_INTERRUPTION,
		vcpu->pending.interrupt | INTERRUPTION_EXTERNAL | INTERRUPTION_VALID);
}

void vmx_close_windows(void)
{
	set_window(false);
	change_control(VMCS_PROCESSOR_CONTROLS, PROCESSOR_INTERRUPT_WINDOW, false);
}
