/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exit.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "debug/debugger.h"
#include "debug/trace.h"
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

	trace_note(vcpu, address.raw);
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

static void alignment_check_exit(struct vcpu *vcpu)
{
	exit_exception(vcpu, VECTOR_AC);
}

static void segment_exception_exit(struct vcpu *vcpu)
{
	const struct vmcb_control *control = &vmcb_of(vcpu)->control;

	exit_segment_exception(vcpu, (unsigned int)control->exit_code - SVM_EXIT_EXCEPTION,
			       (uint32_t)control->exit_info1);
}

/* It would load CR3 from a TSS, past Vellum; only caught with paging=shadow. */
_Noreturn static void task_switch_exit(struct vcpu *vcpu)
{
	pr_error("the guest makes a hardware task switch, which Vellum can't do for it yet with "
		 "paging=shadow on AMD-V: boot with paging=nested");
	exit_unhandled(vcpu);
}

/* By the exit code (APM volume 2, appendix C). */
static const struct exit_handler handlers[] = {
	[SVM_EXIT_CR_READ... SVM_EXIT_CR_READ + 15] = {EXIT_CONTROL_REGISTER, svm_cr_read_exit},
	[SVM_EXIT_CR_WRITE... SVM_EXIT_CR_WRITE + 15] = {EXIT_CONTROL_REGISTER, svm_cr_write_exit},
	[SVM_EXIT_DR_READ... SVM_EXIT_DR_WRITE + 15] = {EXIT_DEBUG_REGISTER,
							svm_debug_register_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_DB] = {EXIT_EXCEPTION, debug_exception_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_BP] = {EXIT_EXCEPTION, svm_breakpoint_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_TS] = {EXIT_EXCEPTION, segment_exception_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_NP] = {EXIT_EXCEPTION, segment_exception_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_SS] = {EXIT_EXCEPTION, segment_exception_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_GP] = {EXIT_EXCEPTION, segment_exception_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_PF] = {COUNTS_ITSELF, svm_page_fault_exit},
	[SVM_EXIT_EXCEPTION + VECTOR_AC] = {EXIT_EXCEPTION, alignment_check_exit},
	[SVM_EXIT_INTR] = {EXIT_ATTENTION, svm_interrupt_exit},
	[SVM_EXIT_INIT] = {EXIT_INIT, exit_init},
	[SVM_EXIT_VINTR] = {EXIT_ATTENTION, svm_interrupt_window_exit},
	[SVM_EXIT_CPUID] = {EXIT_CPUID, exit_cpuid},
	[SVM_EXIT_IRET] = {EXIT_NMI, svm_iret_exit},
	[SVM_EXIT_SWINT] = {EXIT_EXCEPTION, svm_software_interrupt_exit},
	[SVM_EXIT_INVD] = {EXIT_CACHE, exit_invd},
	[SVM_EXIT_PAUSE] = {EXIT_ATTENTION, svm_pause_exit},
	[SVM_EXIT_HLT] = {EXIT_ATTENTION, svm_halt_exit},
	[SVM_EXIT_INVLPG] = {EXIT_INVLPG, svm_invlpg_exit},
	[SVM_EXIT_INVLPGA] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_PORT] = {EXIT_PORT, port_exit},
	[SVM_EXIT_MSR] = {COUNTS_ITSELF, msr_exit},
	[SVM_EXIT_TASK_SWITCH] = {EXIT_TASK_SWITCH, task_switch_exit},
	[SVM_EXIT_SHUTDOWN] = {EXIT_TRIPLE_FAULT, exit_triple_fault},
	[SVM_EXIT_VMRUN] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_VMMCALL] = {EXIT_HYPERCALL, exit_hypercall},
	[SVM_EXIT_VMLOAD] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_VMSAVE] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_STGI] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_CLGI] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_SKINIT] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[SVM_EXIT_WBINVD] = {EXIT_CACHE, exit_invd}, /* QEMU 7.2 says this for INVD only */
};

/* Those whose codes are far from the others'. */
static const struct exit_handler nested_fault = {COUNTS_ITSELF, nested_fault_exit};
static const struct exit_handler invalid = {EXIT_UNKNOWN, invalid_vmcb};
static const struct exit_handler unknown = {EXIT_UNKNOWN, exit_unhandled};

static const struct exit_handler *handler_of(uint32_t exit_code)
{
	if (exit_code < ARRAY_SIZE(handlers) && handlers[exit_code].handle)
		return &handlers[exit_code];
	if (exit_code == SVM_EXIT_NPF)
		return &nested_fault;
	return exit_code == SVM_EXIT_INVALID ? &invalid : &unknown;
}

/* INT n, INT3 and INTO: their RIP is still at the instruction, which just runs again. */
static bool is_software_event(uint64_t event)
{
	uint64_t type = event & EVENT_TYPE, vector = event & EVENT_VECTOR;

	return type == EVENT_TYPE_SOFTWARE ||
	       (type == EVENT_TYPE_EXCEPTION && (vector == VECTOR_BP || vector == VECTOR_OF));
}

/* QEMU (7.2, 10.0) calls interrupts and NMIs exceptions, and refuses them as such. */
static uint64_t with_true_type(uint64_t event)
{
	uint64_t vector = event & EVENT_VECTOR;

	if ((event & EVENT_TYPE) != EVENT_TYPE_EXCEPTION)
		return event;
	if (vector == VECTOR_NMI)
		return vector | EVENT_TYPE_NMI | EVENT_VALID;
	return vector < FIRST_INTERRUPT ? event : vector | EVENT_TYPE_EXTERNAL | EVENT_VALID;
}

/*
 * An event whose delivery exited has to be delivered again (APM volume 2, 15.20). The
 * processor clears EVENTINJ at each exit.
 */
static void requeue_event(struct vmcb_control *control)
{
	uint64_t event = control->exit_interrupt_info;

	if ((event & EVENT_VALID) && !is_software_event(event))
		control->event_injection = with_true_type(event);
}

void svm_exit(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vcpu->exit_start = rdtsc();
	vcpu->regs.rax = vmcb->save.rax;
	vmcb->control.clean = CLEAN_ALL;
	vmcb->control.tlb_control = TLB_CONTROL_NOTHING;
	requeue_event(&vmcb->control);
	trace_begin(vcpu, vmcb->save.rip);
	exit_dispatch(vcpu, handler_of((uint32_t)vmcb->control.exit_code));
	vmcb_of(vcpu)->save.rax = vcpu->regs.rax;
	vcpu->counter->cycles += rdtsc() - vcpu->exit_start;
	trace_end(vcpu);
}
