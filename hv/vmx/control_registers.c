/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writes to CR0 and CR4 that exit: those that would change a bit that VMX insists
 * on (SDM volume 3C, 26.1.3 and 24.8). All others go straight to the processor.
 */
#include "core/cpu.h"
#include "core/exit.h"
#include "core/panic.h"
#include "vmx/vmx.h"

#define CR0_LMSW_BITS 0xfull

/* The guest's register by its number in an instruction; RSP lies in the VMCS. */
static uint64_t read_register(const struct vcpu *vcpu, unsigned int number)
{
	const uint64_t *registers = &vcpu->regs.rax;

	return number == 4 ? vmread(VMCS_GUEST_RSP) : registers[number];
}

/* Long mode is entered or left when CR0.PG changes while EFER.LME is 1 (24.8.2 leaves it to us). */
static void follow_paging(uint64_t cr0)
{
	uint64_t efer = vmread(VMCS_GUEST_EFER);
	uint64_t controls = vmread(VMCS_ENTRY_CONTROLS);
	bool long_mode = (efer & EFER_LME) && (cr0 & CR0_PG);

	vmwrite(VMCS_GUEST_EFER, long_mode ? efer | EFER_LMA : efer & ~EFER_LMA);
	vmwrite(VMCS_ENTRY_CONTROLS, long_mode ? controls | ENTRY_IA32E : controls & ~ENTRY_IA32E);
}

static void load_cr0(struct vcpu *vcpu, uint64_t value)
{
	if ((value & CR0_PG) && !(value & CR0_PE)) {
		vmx_inject_exception(vcpu, VECTOR_GP, 0);
		return;
	}
	vmwrite(VMCS_CR0_SHADOW, value);
	vmwrite(VMCS_GUEST_CR0, value | CR0_NE | CR0_ET);
	follow_paging(value);
	vmx_skip_instruction(vcpu);
}

/* This guest's processor has no VMX: CR4.VMXE is a reserved bit. */
static void load_cr4(struct vcpu *vcpu, uint64_t value)
{
	if (value & CR4_VMXE) {
		vmx_inject_exception(vcpu, VECTOR_GP, 0);
		return;
	}
	vmwrite(VMCS_CR4_SHADOW, value);
	vmwrite(VMCS_GUEST_CR4, value | CR4_VMXE);
	vmx_skip_instruction(vcpu);
}

/* LMSW loads the low four bits, and can't clear PE. */
static void load_lmsw(struct vcpu *vcpu, uint64_t value)
{
	uint64_t cr0 = vmx_read_cr0(vcpu);

	load_cr0(vcpu, (cr0 & ~(CR0_LMSW_BITS & ~CR0_PE)) | (value & CR0_LMSW_BITS));
}

void vmx_cr_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);
	uint64_t value = read_register(vcpu, CR_EXIT_REGISTER(info));

	if (CR_EXIT_TYPE(info) == CR_EXIT_LMSW)
		load_lmsw(vcpu, CR_EXIT_LMSW_VALUE(info));
	else if (CR_EXIT_TYPE(info) == CR_EXIT_MOV_TO && CR_EXIT_NUMBER(info) == 0)
		load_cr0(vcpu, value);
	else if (CR_EXIT_TYPE(info) == CR_EXIT_MOV_TO && CR_EXIT_NUMBER(info) == 4)
		load_cr4(vcpu, value);
	else
		exit_unhandled(vcpu);
}
