/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writes to CR0 and CR4 that exit: those that would change a bit that VMX insists
 * on, CR0.NE and CR4.VMXE (SDM volume 3C, 26.1.3 and 24.8). All others go straight to
 * the processor.
 */
#include "core/cpu.h"
#include "core/exit.h"
#include "mm/guest_memory.h"
#include "vmx/vmx.h"

#define CR0_LMSW_BITS 0xfull
#define PDPT_ADDRESS  0xffffffe0ull /* CR3 in PAE mode */
#define PDPT_ENTRIES  4u
#define PDPT_SIZE     (PDPT_ENTRIES * 8)

enum { REGISTER_RSP = 4 };

/* The guest's register by its number in an instruction; RSP lies in the VMCS. */
static uint64_t read_register(const struct vcpu *vcpu, unsigned int number)
{
	const uint64_t *registers = &vcpu->regs.rax;

	return number == REGISTER_RSP ? vmread(VMCS_GUEST_RSP) : registers[number];
}

/* What MOV to CR0 answers with #GP (SDM volume 3A, 2.5 and 4.1.1). */
static bool is_valid_cr0(uint64_t cr0)
{
	bool paging = cr0 & CR0_PG;

	if (cr0 >> 32 || (paging && !(cr0 & CR0_PE)) || ((cr0 & CR0_NW) && !(cr0 & CR0_CD)))
		return false;
	return !paging || !(vmread(VMCS_GUEST_EFER) & EFER_LME) ||
	       (vmread(VMCS_GUEST_CR4) & CR4_PAE);
}

/*
 * PAE paging reads its four top entries when CR0 turns it on (4.4.1). False if they
 * can't be read.
 */
bool vmx_load_pdptes(uint64_t cr0)
{
	const uint64_t *entry;

	if (!(cr0 & CR0_PG) || !(vmread(VMCS_GUEST_CR4) & CR4_PAE) ||
	    (vmread(VMCS_GUEST_EFER) & EFER_LME))
		return true;
	entry = guest_memory_find(gpa(vmread(VMCS_GUEST_CR3) & PDPT_ADDRESS), PDPT_SIZE);
	for (unsigned int i = 0; entry && i < PDPT_ENTRIES; i++)
		vmwrite(VMCS_GUEST_PDPTE0 + 2 * i, entry[i]);
	return entry;
}

/* Long mode begins or ends when CR0.PG changes while EFER.LME is 1. */
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
	if (!is_valid_cr0(value) || !vmx_load_pdptes(value)) {
		vmx_inject_exception(vcpu, VECTOR_GP, 0);
		return;
	}
	vmwrite(VMCS_CR0_SHADOW, value);
	vmwrite(VMCS_GUEST_CR0, value | CR0_NE | CR0_ET);
	follow_paging(value);
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

	if (CR_EXIT_TYPE(info) == CR_EXIT_LMSW)
		load_lmsw(vcpu, CR_EXIT_LMSW_VALUE(info));
	else if (CR_EXIT_NUMBER(info) == 0)
		load_cr0(vcpu, read_register(vcpu, CR_EXIT_REGISTER(info)));
	else /* CR4.VMXE was to be set: reserved where there is no VMX */
		vmx_inject_exception(vcpu, VECTOR_GP, 0);
}
