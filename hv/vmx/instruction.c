/* SPDX-License-Identifier: GPL-2.0-only */
/* Past the instruction that exited: VT-x says how long it was. */
#include "core/cpu.h"
#include "vmx/vmx.h"

#define LINEAR_32 0xffffffffull

static uint64_t next_rip(void)
{
	uint64_t next = vmread(VMCS_GUEST_RIP) + vmread(VMCS_EXIT_INSTRUCTION_LENGTH);
	bool long_code = vmread(segment_field(VMCS_GUEST_ES_ACCESS, SEGMENT_CS)) & ACCESS_LONG;

	return long_code ? next : next & LINEAR_32;
}

/* RF ends with the instruction; TF makes it end in a trap, which stays pending (27.6.3). */
static void finish_flags(uint64_t rflags)
{
	vmwrite(VMCS_GUEST_RFLAGS, rflags & ~RFLAGS_RF);
	if (rflags & RFLAGS_TF)
		vmwrite(VMCS_GUEST_PENDING_DEBUG,
			vmread(VMCS_GUEST_PENDING_DEBUG) | PENDING_DEBUG_BS);
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
