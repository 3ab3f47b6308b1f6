/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exit.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "svm/svm.h"

static bool port_exit(struct vcpu *vcpu)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;
	uint64_t info = control->exit_info1;
	struct port_access access = {
		.port = PORT_EXIT_PORT(info),
		.size = PORT_EXIT_SIZE(info),
		.in = info & PORT_EXIT_IN,
		.string = info & PORT_EXIT_STRING,
	};

	control->next_rip = control->exit_info2; /* for this exit on every processor (15.10.2) */
	return exit_port(vcpu, &access);
}

static bool msr_exit(struct vcpu *vcpu)
{
	if (vmcb_of(vcpu)->control.exit_info1 & MSR_EXIT_WRITE) {
		vcpu_count_exit(vcpu, EXIT_WRMSR);
		return exit_wrmsr(vcpu);
	}
	vcpu_count_exit(vcpu, EXIT_RDMSR);
	return exit_rdmsr(vcpu);
}

static bool nested_fault_exit(const struct vcpu *vcpu)
{
	gpa_t address = gpa(vmcb_of(vcpu)->control.exit_info2);

	if (svm_map_more(address))
		return true;
	pr_error("guest-physical address %lx is not mapped and can't be", address.raw);
	return false;
}

static bool invalid_vmcb(void)
{
	pr_error("VMRUN refused the VMCB: the guest state is not allowed (APM volume 2, 15.5.1)");
	return false;
}

static bool handle_exit(struct vcpu *vcpu)
{
	switch ((uint32_t)vmcb_of(vcpu)->control.exit_code) {
	case SVM_EXIT_CPUID:
		vcpu_count_exit(vcpu, EXIT_CPUID);
		return exit_cpuid(vcpu);
	case SVM_EXIT_MSR:
		return msr_exit(vcpu);
	case SVM_EXIT_PORT:
		vcpu_count_exit(vcpu, EXIT_PORT);
		return port_exit(vcpu);
	case SVM_EXIT_VMMCALL:
		vcpu_count_exit(vcpu, EXIT_HYPERCALL);
		return exit_hypercall(vcpu);
	case SVM_EXIT_VMRUN:
	case SVM_EXIT_VMLOAD:
	case SVM_EXIT_VMSAVE:
	case SVM_EXIT_STGI:
	case SVM_EXIT_CLGI:
	case SVM_EXIT_SKINIT:
	case SVM_EXIT_INVLPGA:
		vcpu_count_exit(vcpu, EXIT_VIRT_INSN);
		return exit_undefined_instruction(vcpu);
	case SVM_EXIT_NPF:
		vcpu_count_exit(vcpu, EXIT_NESTED_FAULT);
		return nested_fault_exit(vcpu);
	case SVM_EXIT_INVD:
	case SVM_EXIT_WBINVD: /* QEMU 7.2 says this for INVD; WBINVD itself does not exit */
		vcpu_count_exit(vcpu, EXIT_CACHE);
		return exit_invd(vcpu);
	case SVM_EXIT_EXCEPTION + VECTOR_DB:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		return exit_exception(vcpu, VECTOR_DB);
	case SVM_EXIT_EXCEPTION + VECTOR_AC:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		return exit_exception(vcpu, VECTOR_AC);
	case SVM_EXIT_INIT:
		vcpu_count_exit(vcpu, EXIT_INIT);
		return exit_init(vcpu);
	case SVM_EXIT_SHUTDOWN:
		vcpu_count_exit(vcpu, EXIT_TRIPLE_FAULT);
		return exit_triple_fault(vcpu);
	case SVM_EXIT_INVALID:
		vcpu_count_exit(vcpu, EXIT_UNKNOWN);
		return invalid_vmcb();
	default:
		vcpu_count_exit(vcpu, EXIT_UNKNOWN);
		return false;
	}
}

/* An event whose delivery exited has to be delivered again (APM volume 2, 15.20). */
static void requeue_event(struct vmcb_control *control)
{
	uint64_t event = control->exit_interrupt_info;

	control->event_injection = event & EVENT_VALID ? event : 0;
}

void svm_exit(struct vcpu *vcpu)
{
	uint64_t start = rdtsc();
	struct vmcb *vmcb = vmcb_of(vcpu);

	vcpu->regs.rax = vmcb->save.rax;
	vmcb->control.clean = CLEAN_ALL;
	vmcb->control.tlb_control = TLB_CONTROL_NOTHING;
	requeue_event(&vmcb->control);
	if (!handle_exit(vcpu))
		exit_unhandled(vcpu);
	vmcb->save.rax = vcpu->regs.rax;
	vcpu->exits[vcpu->reason].cycles += rdtsc() - start;
}
