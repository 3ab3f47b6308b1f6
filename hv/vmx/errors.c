/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmx/errors.h"
#include "vmx/vmcs.h"

/* SDM volume 3C, table 31-1; the numbers that are not here are not used. */
static const char *const instruction_errors[] = {
	[1] = "VMCALL executed in VMX root operation",
	[2] = "VMCLEAR with invalid physical address",
	[3] = "VMCLEAR with VMXON pointer",
	[4] = "VMLAUNCH with non-clear VMCS",
	[5] = "VMRESUME with non-launched VMCS",
	[6] = "VMRESUME after VMXOFF",
	[7] = "VM entry with invalid control fields",
	[8] = "VM entry with invalid host-state fields",
	[9] = "VMPTRLD with invalid physical address",
	[10] = "VMPTRLD with VMXON pointer",
	[11] = "VMPTRLD with incorrect VMCS revision identifier",
	[12] = "VMREAD or VMWRITE of an unsupported VMCS component",
	[13] = "VMWRITE to read-only VMCS component",
	[15] = "VMXON executed in VMX root operation",
	[16] = "VM entry with invalid executive-VMCS pointer",
	[17] = "VM entry with non-launched executive VMCS",
	[18] = "VM entry with executive-VMCS pointer not VMXON pointer",
	[19] = "VMCALL with non-clear VMCS",
	[20] = "VMCALL with invalid VM-exit control fields",
	[22] = "VMCALL with incorrect MSEG revision identifier",
	[23] = "VMXOFF under dual-monitor treatment of SMIs and SMM",
	[24] = "VMCALL with invalid SMM-monitor features",
	[25] = "VM entry with invalid VM-execution control fields in executive VMCS",
	[26] = "VM entry with events blocked by MOV SS",
	[28] = "invalid operand to INVEPT or INVVPID",
};

/* Exit qualification of VMX_EXIT_GUEST_STATE: 27.8 */
static const char *const guest_state_errors[] = {
	[0] = "the guest state is not allowed (SDM volume 3C, 27.3.1)",
	[2] = "a PDPTE that the guest's CR3 names has a reserved bit set (27.3.1.6)",
	[3] = "an NMI can't be injected right behind STI (27.3.1.5)",
	[4] = "the VMCS link pointer is not allowed (27.3.1.5)",
};

static const char *text_of(const char *const *texts, uint64_t count, uint64_t number)
{
	return number < count && texts[number] ? texts[number]
					       : "a number that the SDM does not have";
}

const char *vmx_instruction_error_text(uint64_t number)
{
	return text_of(instruction_errors, ARRAY_SIZE(instruction_errors), number);
}

const char *vmx_failed_entry_text(uint32_t reason, uint64_t qualification)
{
	switch (reason) {
	case VMX_EXIT_GUEST_STATE:
		return text_of(guest_state_errors, ARRAY_SIZE(guest_state_errors), qualification);
	case VMX_EXIT_MSR_LOADING:
		return "an MSR of the entry's list can't be loaded, its number there is the "
		       "qualification (27.4)";
	case VMX_EXIT_MACHINE_CHECK:
		return "a machine check came (27.9)";
	default:
		return "for a reason that the SDM does not have";
	}
}
