/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exits that a guest may make often, in their usual form: CPUID and hypercalls. Here
 * RBP and R12 to R15 of vcpu->regs are not the guest's: they are still in the processor.
 * What takes more, or might want to show them, goes on to svm_exit().
 *
 * No event is under way when an instruction exits, so none has to be delivered again.
 */
#include "core/exit_cpuid.h"
#include "svm/instruction.h"
#include "svm/svm.h"
#include "vmi/hypercall.h"
#include "vmi/vmi.h"

#define CPUID_LENGTH 2 /* bytes; whoever takes this has seen that there is no prefix */

void svm_exit_with_all_registers(struct vcpu *vcpu); /* entry.asm */

/* Before whatever may make something dirty, or ask for a flush. */
static inline void mark_clean(struct vmcb *vmcb)
{
	vmcb->control.clean = CLEAN_ALL;
	vmcb->control.tlb_control = TLB_CONTROL_NOTHING;
}

static inline void go_to(struct vmcb *vmcb, uint64_t rip)
{
	vmcb->save.rip = rip;
	vmcb->control.interrupt_state &= ~INTERRUPT_SHADOW;
}

/* No exit of this kind takes 2^32 ticks. */
static inline void count_cycles(struct vcpu *vcpu, enum exit_reason reason)
{
	vcpu->exits[reason].cycles += rdtsc_low() - (uint32_t)vcpu->exit_start;
}

static inline void answer_cpuid(struct vcpu *vcpu, uint64_t next_rip)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	struct cpuid_result r = cpuid((uint32_t)vmcb->save.rax, (uint32_t)vcpu->regs.rcx);

	vmcb->save.rax = r.eax;
	vcpu->regs.rbx = r.ebx;
	vcpu->regs.rcx = r.ecx;
	vcpu->regs.rdx = r.edx;
	mark_clean(vmcb);
	go_to(vmcb, next_rip);
	vcpu->exits[EXIT_CPUID].count++;
	count_cycles(vcpu, EXIT_CPUID);
}

__attribute__((noinline)) static void cpuid_exit_pae(struct vcpu *vcpu)
{
	const struct vmcb_save *save = &vmcb_of(vcpu)->save;

	if (svm_is_plain_pae(save))
		answer_cpuid(vcpu, svm_rip_behind(save, CPUID_LENGTH));
	else
		svm_exit_with_all_registers(vcpu);
}

/* At CPL 0 each hypercall has an answer, if only that there is none. */
static inline void answer_hypercall(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	struct hypercall_frame frame = {
		.eax = (uint32_t)vmcb->save.rax,
		.edx = (uint32_t)vcpu->regs.rdx,
		.ecx = (uint32_t)vcpu->regs.rcx,
		.cpl = 0,
	};

	vcpu->exits[EXIT_HYPERCALL].count++;
	mark_clean(vmcb);
	hypercall_handle(vcpu, &frame);
	vmcb->save.rax = frame.eax;
	go_to(vmcb, svm_rip_behind(&vmcb->save, VMI_HYPERCALL_INSTRUCTION_SIZE));
	count_cycles(vcpu, EXIT_HYPERCALL);
}

/* Neither #DB behind it nor RF to end with it. */
static inline bool ends_quietly(const struct vmcb_save *save)
{
	return !(save->rflags & (RFLAGS_TF | RFLAGS_RF));
}

__attribute__((noinline)) static void hypercall_exit(struct vcpu *vcpu)
{
	const struct vmcb *vmcb = vmcb_of(vcpu);

	if (vmcb->control.exit_code == SVM_EXIT_VMMCALL && !vmcb->save.cpl &&
	    ends_quietly(&vmcb->save))
		answer_hypercall(vcpu);
	else
		svm_exit_with_all_registers(vcpu);
}

/* Each call is the last thing that happens, so that no path saves registers for another. */
void svm_quick_exit(struct vcpu *vcpu)
{
	const struct vmcb_control *control = &vmcb_of(vcpu)->control;
	const struct vmcb_save *save = &vmcb_of(vcpu)->save;
	uint64_t next_rip = control->next_rip;

	rdtsc_to(&vcpu->exit_start);
	if (control->exit_code != SVM_EXIT_CPUID)
		hypercall_exit(vcpu);
	else if (!ends_quietly(save) || !exit_cpuid_is_plain((uint32_t)save->rax))
		svm_exit_with_all_registers(vcpu);
	else if (!next_rip && (save->cr4 & CR4_PAE))
		cpuid_exit_pae(vcpu);
	else if (!next_rip && !svm_is_plain_32bit(save))
		svm_exit_with_all_registers(vcpu);
	else
		answer_cpuid(vcpu, next_rip ? next_rip : (uint32_t)(save->rip + CPUID_LENGTH));
}
