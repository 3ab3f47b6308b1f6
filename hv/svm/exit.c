/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exit.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "debug/debugger.h"
#include "svm/svm.h"

static void port_exit(struct vcpu *vcpu)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;
	uint64_t info = control->exit_info1;
	struct port_access access = {
		.port = PORT_EXIT_PORT(info),
		.size = PORT_EXIT_SIZE(info),
		.in = info & PORT_EXIT_IN,
		.string = info & PORT_EXIT_STRING,
	};

	/* For this exit on every processor (15.10.2); string I/O is not skipped. */
	control->next_rip = access.string ? 0 : control->exit_info2;
	exit_port(vcpu, &access);
}

static void msr_exit(struct vcpu *vcpu)
{
	if (vmcb_of(vcpu)->control.exit_info1 & MSR_EXIT_WRITE) {
		vcpu_count_exit(vcpu, EXIT_WRMSR);
		exit_wrmsr(vcpu);
	} else {
		vcpu_count_exit(vcpu, EXIT_RDMSR);
		exit_rdmsr(vcpu);
	}
}

static void nested_fault_exit(struct vcpu *vcpu)
{
	gpa_t address = gpa(vmcb_of(vcpu)->control.exit_info2);

	if (svm_catches_apic(address)) {
		vcpu_count_exit(vcpu, EXIT_APIC);
		svm_apic_exit(vcpu, address);
		return;
	}
	vcpu_count_exit(vcpu, EXIT_NESTED_FAULT);
	if (svm_map_more(vcpu, address))
		return;
	pr_error("guest-physical address %lx is not mapped and can't be", address.raw);
	exit_unhandled(vcpu);
}

/*
 * DR6 is as the guest's handler shall find it (15.12.2), DR7 not on every processor: GD would
 * let the handler's own look at DR6 fault.
 */
static void debug_exception_exit(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	if (debugger_is_on && debugger_takes_debug_exception(vcpu, vmcb->save.dr6))
		return;
	vmcb->save.dr7 &= ~DR7_GD;
	vmcb->control.clean &= ~(uint32_t)CLEAN_DRX;
	exit_exception(vcpu, VECTOR_DB);
}

_Noreturn static void invalid_vmcb(struct vcpu *vcpu)
{
	pr_error("VMRUN refused the VMCB: the guest state is not allowed (APM volume 2, 15.5.1)");
	exit_unhandled(vcpu);
}

/* Each case: the neutral reason, and who handles it. */
static void handle_exit(struct vcpu *vcpu, uint32_t exit_code)
{
	switch (exit_code) {
	case SVM_EXIT_CPUID:
		vcpu_count_exit(vcpu, EXIT_CPUID);
		exit_cpuid(vcpu);
		break;
	case SVM_EXIT_MSR:
		msr_exit(vcpu);
		break;
	case SVM_EXIT_PORT:
		vcpu_count_exit(vcpu, EXIT_PORT);
		port_exit(vcpu);
		break;
	case SVM_EXIT_VMMCALL:
		vcpu_count_exit(vcpu, EXIT_HYPERCALL);
		exit_hypercall(vcpu);
		break;
	case SVM_EXIT_VMRUN:
	case SVM_EXIT_VMLOAD:
	case SVM_EXIT_VMSAVE:
	case SVM_EXIT_STGI:
	case SVM_EXIT_CLGI:
	case SVM_EXIT_SKINIT:
	case SVM_EXIT_INVLPGA:
		vcpu_count_exit(vcpu, EXIT_VIRT_INSN);
		exit_undefined_instruction(vcpu);
		break;
	case SVM_EXIT_NPF:
		nested_fault_exit(vcpu);
		break;
	case SVM_EXIT_IRET:
		vcpu_count_exit(vcpu, EXIT_NMI);
		svm_iret_exit(vcpu);
		break;
	case SVM_EXIT_INVD:
	case SVM_EXIT_WBINVD: /* QEMU 7.2 says this for INVD; WBINVD itself does not exit */
		vcpu_count_exit(vcpu, EXIT_CACHE);
		exit_invd(vcpu);
		break;
	case SVM_EXIT_EXCEPTION + VECTOR_DB:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		debug_exception_exit(vcpu);
		break;
	case SVM_EXIT_EXCEPTION + VECTOR_BP:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		svm_breakpoint_exit(vcpu);
		break;
	case SVM_EXIT_SWINT:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		svm_software_interrupt_exit(vcpu);
		break;
	case SVM_EXIT_EXCEPTION + VECTOR_AC:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		exit_exception(vcpu, VECTOR_AC);
		break;
	case SVM_EXIT_EXCEPTION + VECTOR_TS:
	case SVM_EXIT_EXCEPTION + VECTOR_NP:
	case SVM_EXIT_EXCEPTION + VECTOR_SS:
	case SVM_EXIT_EXCEPTION + VECTOR_GP:
		vcpu_count_exit(vcpu, EXIT_EXCEPTION);
		exit_segment_exception(vcpu, exit_code - SVM_EXIT_EXCEPTION,
				       (uint32_t)vmcb_of(vcpu)->control.exit_info1);
		break;
	case SVM_EXIT_INIT:
		vcpu_count_exit(vcpu, EXIT_INIT);
		exit_init(vcpu);
		break;
	case SVM_EXIT_INTR:
		vcpu_count_exit(vcpu, EXIT_ATTENTION);
		svm_interrupt_exit(vcpu);
		break;
	case SVM_EXIT_VINTR:
		vcpu_count_exit(vcpu, EXIT_ATTENTION);
		svm_interrupt_window_exit(vcpu);
		break;
	case SVM_EXIT_HLT:
		vcpu_count_exit(vcpu, EXIT_ATTENTION);
		svm_halt_exit(vcpu);
		break;
	case SVM_EXIT_PAUSE:
		vcpu_count_exit(vcpu, EXIT_ATTENTION);
		svm_pause_exit(vcpu);
		break;
	case SVM_EXIT_DR_READ ... SVM_EXIT_DR_WRITE + 15:
		vcpu_count_exit(vcpu, EXIT_DEBUG_REGISTER);
		svm_debug_register_exit(vcpu, exit_code);
		break;
	case SVM_EXIT_SHUTDOWN:
		vcpu_count_exit(vcpu, EXIT_TRIPLE_FAULT);
		exit_triple_fault(vcpu);
	case SVM_EXIT_INVALID:
		vcpu_count_exit(vcpu, EXIT_UNKNOWN);
		invalid_vmcb(vcpu);
	default:
		vcpu_count_exit(vcpu, EXIT_UNKNOWN);
		exit_unhandled(vcpu);
	}
}

/* INT n, INT3 and INTO: their RIP is still at the instruction, which just runs again. */
static bool is_software_event(uint64_t event)
{
	uint64_t type = event & EVENT_TYPE, vector = event & EVENT_VECTOR;

	return type == EVENT_TYPE_SOFTWARE ||
	       (type == EVENT_TYPE_EXCEPTION && (vector == VECTOR_BP || vector == VECTOR_OF));
}

/*
 * An event whose delivery exited has to be delivered again (APM volume 2, 15.20). The
 * processor clears EVENTINJ at each exit.
 */
static void requeue_event(struct vmcb_control *control)
{
	uint64_t event = control->exit_interrupt_info;

	if ((event & EVENT_VALID) && !is_software_event(event))
		control->event_injection = event;
}

void svm_exit(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vcpu->exit_start = rdtsc();
	vcpu->regs.rax = vmcb->save.rax;
	vmcb->control.clean = CLEAN_ALL;
	vmcb->control.tlb_control = TLB_CONTROL_NOTHING;
	requeue_event(&vmcb->control);
	handle_exit(vcpu, (uint32_t)vmcb->control.exit_code);
	vmcb_of(vcpu)->save.rax = vcpu->regs.rax;
	vcpu->counter->cycles += rdtsc() - vcpu->exit_start;
}
