/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "core/event.h"
#include "core/exit.h"
#include "core/paging.h"
#include "core/start_state.h"
#include "debug/debugger.h"
#include "lib/string.h"
#include "mm/mmu.h"
#include "svm/segment.h"
#include "svm/svm.h"

_Noreturn void svm_run_loop(struct vcpu *vcpu, uint64_t vmcb_physical); /* entry.asm */

#define GUEST_ASID 1 /* one guest; 0 is the host's */

/* INIT of the boot processor resets the machine; the others it takes out of Vellum (smp.c). */
static uint32_t init_intercept(const struct vcpu *vcpu)
{
	return vcpu->id == 0 ? INTERCEPT3_INIT : 0;
}

static void init_intercepts(const struct vcpu *vcpu, struct vmcb_control *control)
{
	control->intercept_exceptions = exit_exceptions();
	control->intercept3 = init_intercept(vcpu) | INTERCEPT3_CPUID | INTERCEPT3_INVD |
			      INTERCEPT3_INVLPGA | INTERCEPT3_PORTS | INTERCEPT3_MSRS |
			      INTERCEPT3_SHUTDOWN;
	control->intercept4 = INTERCEPT4_VMRUN | INTERCEPT4_VMMCALL | INTERCEPT4_VMLOAD |
			      INTERCEPT4_VMSAVE | INTERCEPT4_STGI | INTERCEPT4_CLGI |
			      INTERCEPT4_SKINIT;
}

static void init_control(const struct vcpu *vcpu, struct vmcb_control *control)
{
	init_intercepts(vcpu, control);
	control->iopm_base = svm_port_bitmap().raw;
	control->msrpm_base = svm_msr_bitmap().raw;
	control->asid = GUEST_ASID;
	control->nested_control = NESTED_PAGING_ENABLE;
	control->nested_cr3 = mmu_nested_root().raw;
	if (vcpu->shadow)
		svm_catch_paging(control);
}

/* SYSCALL's and SYSENTER's MSRs are not the state's to change: INIT leaves them, too. */
int svm_vcpu_init(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	memset(&vmcb->control, 0, sizeof(vmcb->control));
	if (!vmcb->save.g_pat)
		vmcb->save.g_pat = PAT_INITIAL; /* what INIT leaves as it is */
	vmsave(vmcb);
	init_control(vcpu, &vmcb->control);
	return 0;
}

static void set_segments(struct vmcb_save *save, const struct start_state *state)
{
	save->es = svm_packed(&state->es);
	save->cs = svm_packed(&state->cs);
	save->ss = svm_packed(&state->ss);
	save->ds = svm_packed(&state->ds);
	save->fs = svm_packed(&state->fs);
	save->gs = svm_packed(&state->gs);
	save->ldtr = svm_packed(&state->ldtr);
	save->tr = svm_packed(&state->tr);
	save->gdtr = svm_packed(&state->gdtr);
	save->idtr = svm_packed(&state->idtr);
}

void svm_set_state(struct vcpu *vcpu, const struct start_state *state)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	struct vmcb_save *save = &vmcb->save;

	set_segments(save, state);
	save->efer = state->efer | EFER_SVME;
	save->cr0 = state->cr0;
	save->cr3 = state->cr3;
	save->cr4 = state->cr4;
	save->dr6 = DR6_INITIAL;
	save->dr7 = DR7_INITIAL;
	save->rflags = state->rflags;
	save->rip = state->rip;
	save->rsp = state->rsp;
	save->rax = vcpu->regs.rax;
	save->cpl = 0;
	save->cr2 = 0;
	vmcb->control.clean = 0;
	vmcb->control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	if (vcpu->shadow)
		paging_start(vcpu, &(struct guest_paging){state->cr0, state->cr3, state->cr4,
							  state->efer});
}

/* INIT is not held back while GIF is 1, and takes the processor from here. */
void svm_await_init(struct vcpu *vcpu)
{
	(void)vcpu;
	stgi();
	cpu_stop();
}

void svm_release_cpuid(struct vcpu *vcpu)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;

	control->intercept3 &= ~(uint32_t)INTERCEPT3_CPUID;
	control->clean &= ~(uint32_t)CLEAN_INTERCEPTS;
}

void svm_run(struct vcpu *vcpu)
{
	/* FS, GS, TR, LDTR and their MSRs are the guest's from here on: Vellum uses none. */
	vmload(vmcb_of(vcpu));
	if (debugger_is_on)
		debugger_vcpu_starts(vcpu);
	svm_run_loop(vcpu, virt_to_phys(vcpu->arch).raw);
}

/* In real mode exceptions have no error codes. */
static void queue_exception(struct vmcb *vmcb, unsigned int vector, int error_code)
{
	uint64_t event = vector | EVENT_TYPE_EXCEPTION | EVENT_VALID;

	if (error_code != NO_ERROR_CODE && (vmcb->save.cr0 & CR0_PE))
		event |= EVENT_HAS_ERROR_CODE | (uint64_t)error_code << EVENT_ERROR_SHIFT;
	vmcb->control.event_injection = event;
}

/* The processor delivers it when the guest can take it (15.21.4). */
static void delay_interrupt(struct vmcb_control *control, uint64_t vector)
{
	control->virtual_interrupt = (control->virtual_interrupt & ~VIRTUAL_INTERRUPT_VECTOR) |
				     VIRTUAL_INTERRUPT_PENDING | VIRTUAL_INTERRUPT_IGNORE_TPR |
				     vector << VIRTUAL_INTERRUPT_VECTOR_SHIFT;
	control->clean &= ~(uint32_t)CLEAN_TPR;
}

/* Until the end of the exception's handler, whose IRET exits. */
static void delay_nmi(struct vmcb_control *control)
{
	control->intercept3 |= INTERCEPT3_IRET;
	control->clean &= ~(uint32_t)CLEAN_INTERCEPTS;
}

void svm_iret_exit(struct vcpu *vcpu)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;

	control->intercept3 &= ~(uint32_t)INTERCEPT3_IRET;
	control->clean &= ~(uint32_t)CLEAN_INTERCEPTS;
	control->event_injection = VECTOR_NMI | EVENT_TYPE_NMI | EVENT_VALID;
}

/*
 * What becomes of an exception that comes upon the delivery of an event. Exceptions come
 * again by themselves, since the guest is still at their instruction; what the machine has
 * sent does not, and waits.
 */
static enum event_outcome combine(struct vmcb_control *control, unsigned int vector)
{
	uint64_t event = control->event_injection;

	switch (event & EVENT_TYPE) {
	case EVENT_TYPE_EXCEPTION:
		return event_combine(event & EVENT_VECTOR, vector);
	case EVENT_TYPE_EXTERNAL:
		delay_interrupt(control, event & EVENT_VECTOR);
		return EVENT_SECOND;
	case EVENT_TYPE_NMI:
		delay_nmi(control);
		return EVENT_SECOND;
	default:
		return EVENT_SECOND;
	}
}

void svm_inject_exception(struct vcpu *vcpu, unsigned int vector, int error_code)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	enum event_outcome outcome = EVENT_SECOND;

	if (vmcb->control.event_injection & EVENT_VALID)
		outcome = combine(&vmcb->control, vector);
	if (outcome == EVENT_SHUTDOWN)
		exit_triple_fault(vcpu);
	if (outcome == EVENT_DOUBLE_FAULT)
		queue_exception(vmcb, VECTOR_DF, 0);
	else
		queue_exception(vmcb, vector, error_code);
	vmcb->control.next_rip = 0; /* if it was decoded, it is not skipped: svm_skip_instruction() */
}

uint64_t svm_read_rip(const struct vcpu *vcpu)
{
	return vmcb_of(vcpu)->save.rip;
}

void svm_write_rip(struct vcpu *vcpu, uint64_t rip)
{
	vmcb_of(vcpu)->save.rip = rip;
}

unsigned int svm_privilege_level(const struct vcpu *vcpu)
{
	return vmcb_of(vcpu)->save.cpl;
}

uint64_t svm_read_cr0(const struct vcpu *vcpu)
{
	return vmcb_of(vcpu)->save.cr0;
}

uint64_t svm_read_cr4(const struct vcpu *vcpu)
{
	return vmcb_of(vcpu)->save.cr4;
}

uint64_t svm_read_efer(const struct vcpu *vcpu)
{
	return vmcb_of(vcpu)->save.efer & ~EFER_SVME;
}

void svm_write_efer(struct vcpu *vcpu, uint64_t value)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.efer = value | EFER_SVME;
	vmcb->control.clean &= ~(uint32_t)CLEAN_CRX;
}
