/* SPDX-License-Identifier: GPL-2.0-only */
/* A vcpu's registers for the debugger, and what it wants to exit: SDM volume 3C, 25.4, 25.6. */
#include "core/cpu.h"
#include "core/guest_state.h"
#include "debug/debugger.h"
#include "vmx/segment.h"
#include "vmx/vmx.h"

static void read_segments(struct guest_state *state)
{
	state->es = vmx_read_segment(SEGMENT_ES);
	state->cs = vmx_read_segment(SEGMENT_CS);
	state->ss = vmx_read_segment(SEGMENT_SS);
	state->ds = vmx_read_segment(SEGMENT_DS);
	state->fs = vmx_read_segment(SEGMENT_FS);
	state->gs = vmx_read_segment(SEGMENT_GS);
	state->ldtr = vmx_read_segment(SEGMENT_LDTR);
	state->tr = vmx_read_segment(SEGMENT_TR);
	state->gdtr.base = vmread(VMCS_GUEST_GDTR_BASE);
	state->gdtr.limit = (uint32_t)vmread(VMCS_GUEST_GDTR_LIMIT);
	state->idtr.base = vmread(VMCS_GUEST_IDTR_BASE);
	state->idtr.limit = (uint32_t)vmread(VMCS_GUEST_IDTR_LIMIT);
}

void vmx_read_state(struct vcpu *vcpu, struct guest_state *state)
{
	struct guest_paging paging = vmx_guest_paging(vcpu);

	state->regs = vcpu->regs;
	state->regs.rsp = vmread(VMCS_GUEST_RSP);
	state->rip = vmread(VMCS_GUEST_RIP);
	state->rflags = vmread(VMCS_GUEST_RFLAGS);
	state->cr0 = paging.cr0;
	state->cr2 = read_cr2();
	state->cr3 = paging.cr3;
	state->cr4 = paging.cr4;
	state->efer = paging.efer;
	state->dr6 = read_dr6();
	state->dr7 = vmread(VMCS_GUEST_DR7);
	state->halted = vmread(VMCS_GUEST_ACTIVITY) == ACTIVITY_HALTED;
	read_segments(state);
}

/* TF with such a shadow would want a trap that is pending before the step (27.3.1.5). */
void vmx_write_state(struct vcpu *vcpu, const struct guest_state *state)
{
	vcpu->regs = state->regs;
	vmwrite(VMCS_GUEST_RSP, state->regs.rsp);
	vmwrite(VMCS_GUEST_RIP, state->rip);
	vmwrite(VMCS_GUEST_RFLAGS, state->rflags);
	if (state->rflags & RFLAGS_TF)
		vmwrite(VMCS_GUEST_INTERRUPTIBILITY,
			vmread(VMCS_GUEST_INTERRUPTIBILITY) &
				~(uint64_t)(BLOCKING_STI | BLOCKING_MOV_SS));
	else
		vmwrite(VMCS_GUEST_PENDING_DEBUG,
			vmread(VMCS_GUEST_PENDING_DEBUG) & ~PENDING_DEBUG_BS);
}

void vmx_guard_breakpoints(struct vcpu *vcpu, bool on)
{
	uint64_t exceptions = vmread(VMCS_EXCEPTION_BITMAP) & ~BIT(VECTOR_BP);

	(void)vcpu;
	vmwrite(VMCS_EXCEPTION_BITMAP, on ? exceptions | BIT(VECTOR_BP) : exceptions);
}

void vmx_guard_debug_registers(struct vcpu *vcpu, bool on)
{
	uint64_t controls = vmread(VMCS_PROCESSOR_CONTROLS) & ~(uint64_t)PROCESSOR_MOV_DR;

	(void)vcpu;
	vmwrite(VMCS_PROCESSOR_CONTROLS, on ? controls | PROCESSOR_MOV_DR : controls);
}

void vmx_write_dr6(struct vcpu *vcpu, uint64_t value)
{
	(void)vcpu;
	write_dr6(DR6_INITIAL | (uint32_t)value);
}

void vmx_write_dr7(struct vcpu *vcpu, uint64_t value)
{
	(void)vcpu;
	vmwrite(VMCS_GUEST_DR7, value);
}

/* The guest's own: its #BP, with the check of the gate's DPL and the RIP behind INT3. */
void vmx_breakpoint_exit(struct vcpu *vcpu)
{
	if (debugger_takes_breakpoint(vcpu))
		return;
	vmwrite(VMCS_ENTRY_INTERRUPTION,
		VECTOR_BP | INTERRUPTION_SOFTWARE_EXCEPTION | INTERRUPTION_VALID);
	vmwrite(VMCS_ENTRY_INSTRUCTION_LENGTH, vmread(VMCS_EXIT_INSTRUCTION_LENGTH));
}

void vmx_debug_register_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);

	debugger_moves_register(vcpu, DR_EXIT_NUMBER(info), DR_EXIT_REGISTER(info),
				!(info & DR_EXIT_FROM));
}
