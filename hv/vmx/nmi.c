/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs that arrive while Vellum runs. In the guest they go to the guest's own IDT; here
 * they are noted, and passed on before the guest runs again. (AMD-V holds them back by
 * itself: svm_enable() keeps GIF at 0.)
 */
#include "core/cpu.h"
#include "core/exception.h"
#include "vmx/vmx.h"

/* entry.asm: the ways into the guest, from the look at the note to the entry */
extern const uint8_t vmx_launch[], vmx_launch_end[], vmx_enter[], vmx_enter_end[];

bool vmx_nmi_pending;

static void start_again(struct exception_frame *frame, const uint8_t *start, const uint8_t *end)
{
	if (frame->rip >= (uintptr_t)start && frame->rip < (uintptr_t)end)
		frame->rip = (uintptr_t)start;
}

/* Called on the NMI's own stack frame; NMIs are blocked until its IRET. */
void vmx_note_nmi(struct exception_frame *frame)
{
	vmx_nmi_pending = true;
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
void vmx_pass_nmi_on(void)
{
	bool now = can_take_nmi();

	vmx_nmi_pending = false;
	set_window(!now);
	if (now)
		vmwrite(VMCS_ENTRY_INTERRUPTION,
			VECTOR_NMI | INTERRUPTION_NMI | INTERRUPTION_VALID);
}

/* The window opened, or an NMI came while Vellum waited for it. */
void vmx_nmi_exit(void)
{
	vmx_nmi_pending = true;
}
