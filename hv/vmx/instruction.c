/* SPDX-License-Identifier: GPL-2.0-only */
/* Past the instruction that exited: VT-x says how long it was. */
#include "core/cpu.h"
#include "vmx/vmx.h"

#define LINEAR_32 0xffffffffull

/* Outside of long mode the L bit of a code segment may be set, and means nothing. */
bool vmx_in_64bit_code(void)
{
	return (vmread(segment_field(VMCS_GUEST_ES_ACCESS, SEGMENT_CS)) & ACCESS_LONG) &&
	       (vmread(VMCS_ENTRY_CONTROLS) & ENTRY_IA32E);
}

/* SDM volume 2A, CPUID 80000001h: Intel's SYSCALL is of 64-bit mode only, and so is its bit. */
bool vmx_has_syscall(const struct vcpu *vcpu)
{
	(void)vcpu;
	return vmx_in_64bit_code();
}

gva_t vmx_instruction_address(void)
{
	uint64_t rip = vmread(VMCS_GUEST_RIP);

	if (vmx_in_64bit_code())
		return gva(rip);
	return gva((vmread(segment_field(VMCS_GUEST_ES_BASE, SEGMENT_CS)) + rip) & LINEAR_32);
}

/* Only a step across 4 GiB has to know whether RIP is wider than EIP. */
static uint64_t next_rip(void)
{
	uint64_t rip = vmread(VMCS_GUEST_RIP);
	uint64_t next = rip + vmread(VMCS_EXIT_INSTRUCTION_LENGTH);

	if (rip >> 32 == next >> 32)
		return next;
	return vmx_in_64bit_code() ? next : next & LINEAR_32;
}

/* With BTF set, only branches are steps (SDM volume 3B, 18.4.3); 27.3.1.5 knows that, too. */
void vmx_keep_single_step(void)
{
	if ((vmread(VMCS_GUEST_RFLAGS) & RFLAGS_TF) &&
	    !(vmread(VMCS_GUEST_DEBUGCTL) & DEBUGCTL_BTF))
		vmwrite(VMCS_GUEST_PENDING_DEBUG,
			vmread(VMCS_GUEST_PENDING_DEBUG) | PENDING_DEBUG_BS);
}

void vmx_keep_single_step_in_shadow(void)
{
	if (vmread(VMCS_GUEST_INTERRUPTIBILITY) & (BLOCKING_STI | BLOCKING_MOV_SS))
		vmx_keep_single_step();
}

/* RF ends with the instruction; TF makes it end in a trap, which stays pending (27.6.3). */
static void finish_flags(uint64_t rflags)
{
	vmwrite(VMCS_GUEST_RFLAGS, rflags & ~RFLAGS_RF);
	vmx_keep_single_step();
}

void vmx_skip_instruction(struct vcpu *vcpu)
{
	uint64_t rflags = vmread(VMCS_GUEST_RFLAGS);
	uint64_t blocking = vmread(VMCS_GUEST_INTERRUPTIBILITY);

	vmwrite(VMCS_GUEST_RIP, next_rip());
	if (blocking & (BLOCKING_STI | BLOCKING_MOV_SS))
		vmwrite(VMCS_GUEST_INTERRUPTIBILITY, blocking & ~(BLOCKING_STI | BLOCKING_MOV_SS));
	if (rflags & (RFLAGS_TF | RFLAGS_RF))
		finish_flags(rflags);
}
