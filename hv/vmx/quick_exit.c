/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exits that a guest may make often, in their usual form: CPUID and hypercalls. Here
 * RBP and R12 to R15 of vcpu->regs are not the guest's: they are still in the processor.
 * What takes more, or might want to show them, goes on to vmx_exit().
 *
 * No event is under way when an instruction exits, so none has to be delivered again.
 */
#include "core/exit_cpuid.h"
#include "vmi/hypercall.h"
#include "vmx/vmx.h"

void vmx_exit_with_all_registers(struct vcpu *vcpu); /* entry.asm */

/*
 * RIP behind the instruction; 0 if its end is more than that: a trap, the end of RF or of a
 * shadow, or a step across 4 GiB, where it matters whether RIP is wider than EIP.
 */
static inline uint64_t plain_next_rip(void)
{
	uint64_t rip = vmread(VMCS_GUEST_RIP);
	uint64_t next = rip + vmread(VMCS_EXIT_INSTRUCTION_LENGTH);

	if ((vmread(VMCS_GUEST_RFLAGS) & (RFLAGS_TF | RFLAGS_RF)) ||
	    vmread(VMCS_GUEST_INTERRUPTIBILITY) || rip >> 32 != next >> 32)
		return 0;
	return next;
}

/* No exit of this kind takes 2^32 ticks. */
static inline void count_cycles(struct vcpu *vcpu, enum exit_reason reason)
{
	vcpu->exits[reason].cycles += rdtsc_low() - (uint32_t)vcpu->exit_start;
}

static inline void answer_cpuid(struct vcpu *vcpu, uint64_t next_rip)
{
	struct cpuid_result r = cpuid((uint32_t)vcpu->regs.rax, (uint32_t)vcpu->regs.rcx);

	vcpu->regs.rax = r.eax;
	vcpu->regs.rbx = r.ebx;
	vcpu->regs.rcx = r.ecx;
	vcpu->regs.rdx = r.edx;
	vmwrite(VMCS_GUEST_RIP, next_rip);
	vcpu->exits[EXIT_CPUID].count++;
	count_cycles(vcpu, EXIT_CPUID);
}

/* At CPL 0 each hypercall has an answer, if only that there is none. */
static inline void answer_hypercall(struct vcpu *vcpu, uint64_t next_rip)
{
	struct hypercall_frame frame = {
		.eax = (uint32_t)vcpu->regs.rax,
		.edx = (uint32_t)vcpu->regs.rdx,
		.ecx = (uint32_t)vcpu->regs.rcx,
		.cpl = 0,
	};

	vcpu->exits[EXIT_HYPERCALL].count++;
	hypercall_handle(vcpu, &frame);
	vcpu->regs.rax = frame.eax;
	vmwrite(VMCS_GUEST_RIP, next_rip);
	count_cycles(vcpu, EXIT_HYPERCALL);
}

__attribute__((noinline)) static void hypercall_exit(struct vcpu *vcpu, uint64_t reason)
{
	uint64_t next_rip;

	if (reason == VMX_EXIT_VMCALL && !vmx_privilege_level(vcpu) &&
	    (next_rip = plain_next_rip()))
		answer_hypercall(vcpu, next_rip);
	else
		vmx_exit_with_all_registers(vcpu);
}

/* Each call is the last thing that happens, so that no path saves registers for another. */
void vmx_quick_exit(struct vcpu *vcpu)
{
	uint64_t reason = vmread(VMCS_EXIT_REASON), next_rip;

	rdtsc_to(&vcpu->exit_start);
	if (reason != VMX_EXIT_CPUID)
		hypercall_exit(vcpu, reason);
	else if (exit_cpuid_is_plain((uint32_t)vcpu->regs.rax) && (next_rip = plain_next_rip()))
		answer_cpuid(vcpu, next_rip);
	else
		vmx_exit_with_all_registers(vcpu);
}
