/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writes to CR0 and CR4 that exit: those that would change a bit that VMX insists
 * on, CR0.NE and CR4.VMXE (SDM volume 3C, 26.1.3 and 24.8), or set one of a feature that is
 * hidden, CR4.SMXE and FRED. All others go straight to the processor. (With paging=shadow
 * more of them exit: paging.c.)
 */
#include "core/cpu.h"
#include "core/exit.h"
#include "lib/string.h"
#include "mm/guest_memory.h"
#include "vmx/vmx.h"

#define CR0_LMSW_BITS  0xfull
#define CR0_CACHE      (CR0_CD | CR0_NW)
#define PDPT_ADDRESS   0xffffffe0ull /* CR3 in PAE mode */
#define PDPT_SIZE      (PDPTE_COUNT * 8)
#define PDPTE_RESERVED 0x1e6ull /* below the address: table 4-8 */

enum { REGISTER_RSP = 4 };

/* RSP lies in the VMCS. */
uint64_t vmx_read_register(const struct vcpu *vcpu, unsigned int number)
{
	const uint64_t *registers = &vcpu->regs.rax;

	return number == REGISTER_RSP ? vmread(VMCS_GUEST_RSP) : registers[number];
}

void vmx_write_register(struct vcpu *vcpu, unsigned int number, uint64_t value)
{
	uint64_t *registers = &vcpu->regs.rax;

	if (number == REGISTER_RSP)
		vmwrite(VMCS_GUEST_RSP, value);
	else
		registers[number] = value;
}

static bool has_long_code(void)
{
	return vmread(segment_field(VMCS_GUEST_ES_ACCESS, SEGMENT_CS)) & ACCESS_LONG;
}

/* The L bit of CS would change its meaning; a 16-bit TSS is none in long mode (10.8.5). */
static bool can_start_paging(void)
{
	uint64_t tr = vmread(segment_field(VMCS_GUEST_ES_ACCESS, SEGMENT_TR));

	return !(vmread(VMCS_GUEST_EFER) & EFER_LME) ||
	       ((vmread(VMCS_GUEST_CR4) & CR4_PAE) && !has_long_code() && ACCESS_IS_32BIT_TSS(tr));
}

static bool can_stop_paging(void)
{
	return !(vmread(VMCS_GUEST_CR4) & CR4_PCIDE) &&
	       !((vmread(VMCS_GUEST_EFER) & EFER_LMA) && has_long_code());
}

/* What MOV to CR0 answers with #GP (SDM volume 2, MOV; volume 3A, 2.5, 4.1.1 and 10.8.5). */
static bool is_valid_cr0(uint64_t cr0)
{
	bool paging = cr0 & CR0_PG, was_paging = vmread(VMCS_GUEST_CR0) & CR0_PG;

	if (cr0 >> 32 || (paging && !(cr0 & CR0_PE)) || ((cr0 & CR0_NW) && !(cr0 & CR0_CD)) ||
	    (!(cr0 & CR0_WP) && (vmread(VMCS_GUEST_CR4) & CR4_CET)))
		return false;
	if (paging == was_paging)
		return true;
	return paging ? can_start_paging() : can_stop_paging();
}

static bool is_valid_pdpte(uint64_t entry)
{
	uint64_t bits = cpuid(CPUID_EXT_ADDRESS_SIZES, 0).eax & 0xff;

	return !(entry & 1) || !(entry & PDPTE_RESERVED || entry >> bits);
}

/*
 * PAE paging reads its four top entries when CR0 turns it on, and with CR3 (4.4.1). False,
 * and nothing is changed, if they can't be read or VT-x would not enter with them.
 */
bool vmx_load_pdptes(uint64_t cr0, uint64_t cr3)
{
	const uint64_t *entry;
	uint64_t copy[PDPTE_COUNT];

	if (!(cr0 & CR0_PG) || !(vmread(VMCS_GUEST_CR4) & CR4_PAE) ||
	    (vmread(VMCS_GUEST_EFER) & EFER_LME))
		return true;
	entry = guest_memory_find(gpa(cr3 & PDPT_ADDRESS), PDPT_SIZE);
	if (!entry)
		return false;
	memcpy(copy, entry, sizeof(copy));
	for (unsigned int i = 0; i < PDPTE_COUNT; i++)
		if (!is_valid_pdpte(copy[i]))
			return false;
	for (unsigned int i = 0; i < PDPTE_COUNT; i++)
		vmwrite(VMCS_GUEST_PDPTE0 + 2 * i, copy[i]);
	return true;
}

/* Only these bits of CR0 make a MOV read the PDPTEs again (4.4.1). */
static bool load_pdptes_of_cr0(uint64_t cr0)
{
	uint64_t changed = vmread(VMCS_GUEST_CR0) ^ cr0;

	return !(changed & (CR0_CD | CR0_NW | CR0_PG)) ||
	       vmx_load_pdptes(cr0, vmread(VMCS_GUEST_CR3));
}

/* The processor's own CD and NW: no entry loads them (27.3.2.1), and no exit changes them. */
void vmx_load_cache_control(uint64_t cr0)
{
	uint64_t now = read_cr0(), wanted = (now & ~CR0_CACHE) | (cr0 & CR0_CACHE);

	if (wanted != now)
		write_cr0(wanted);
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
	if (!is_valid_cr0(value) || !load_pdptes_of_cr0(value)) {
		vmx_inject_exception(vcpu, VECTOR_GP, 0);
		return;
	}
	if ((vmread(VMCS_GUEST_CR0) & CR0_PG) && !(value & CR0_PG))
		vmx_flush(); /* as the MOV does: SDM volume 3A, 4.10.4.1 */
	vmwrite(VMCS_CR0_SHADOW, value);
	vmwrite(VMCS_GUEST_CR0, value | CR0_NE | CR0_ET);
	vmx_load_cache_control(value);
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

	if (vcpu->shadow)
		vmx_paging_register_exit(vcpu);
	else if (CR_EXIT_TYPE(info) == CR_EXIT_LMSW)
		load_lmsw(vcpu, CR_EXIT_LMSW_VALUE(info));
	else if (CR_EXIT_NUMBER(info) == 0)
		load_cr0(vcpu, vmx_read_register(vcpu, CR_EXIT_REGISTER(info)));
	else /* a bit of CR4 that the guest's processor does not have was to be set */
		vmx_inject_exception(vcpu, VECTOR_GP, 0);
}
