/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMD-V has no timer that makes a guest exit. While there is a debugger, its line is looked
 * at whenever the guest is interrupted, halts or spins. An interrupt that exits is still
 * pending (APM volume 2, 15.13.1): the next entry delivers it, with its intercept off; a
 * virtual interrupt that nobody is going to see tells when the guest can take another one,
 * and the intercept goes on again. Physical interrupts come first (15.21.4).
 */
#include "core/cpu.h"
#include "debug/debugger.h"
#include "svm/svm.h"

static void intercept(struct vmcb_control *control, uint32_t on, uint32_t off)
{
	control->intercept3 = (control->intercept3 & ~off) | on;
	control->clean &= ~(uint32_t)CLEAN_INTERCEPTS;
}

void svm_attend(struct vcpu *vcpu)
{
	intercept(&vmcb_of(vcpu)->control, INTERCEPT3_INTR | INTERCEPT3_HLT | INTERCEPT3_PAUSE, 0);
}

/* Vector 0 marks the one that is not meant; one that svm_inject_exception() delays has another. */
static bool is_marker(const struct vmcb_control *control)
{
	return !(control->virtual_interrupt & VIRTUAL_INTERRUPT_VECTOR);
}

static void open_window(struct vmcb_control *control)
{
	intercept(control, INTERCEPT3_VINTR, INTERCEPT3_INTR);
	control->virtual_interrupt |= VIRTUAL_INTERRUPT_PENDING | VIRTUAL_INTERRUPT_IGNORE_TPR;
	control->clean &= ~(uint32_t)CLEAN_TPR;
}

/* A guest in HLT goes on behind it. */
void svm_interrupt_exit(struct vcpu *vcpu)
{
	if (vcpu->halted) {
		vcpu->halted = false;
		vmcb_of(vcpu)->control.exit_code = SVM_EXIT_HLT;
		svm_skip_instruction(vcpu);
	}
	open_window(&vmcb_of(vcpu)->control);
	debugger_attend(vcpu);
}

/* A virtual interrupt that is meant is delivered by the next entry. */
void svm_interrupt_window_exit(struct vcpu *vcpu)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;

	intercept(control, INTERCEPT3_INTR, INTERCEPT3_VINTR);
	if (is_marker(control)) {
		control->virtual_interrupt &= ~VIRTUAL_INTERRUPT_PENDING;
		control->clean &= ~(uint32_t)CLEAN_TPR;
	}
	debugger_attend(vcpu);
}

/*
 * The guest executes HLT again and again, and the line is looked at in between, until an
 * interrupt exits. The shadow of an STI before HLT would keep that out for ever.
 */
void svm_halt_exit(struct vcpu *vcpu)
{
	vcpu->halted = true;
	vmcb_of(vcpu)->control.interrupt_state &= ~INTERRUPT_SHADOW;
	debugger_attend(vcpu);
}

void svm_pause_exit(struct vcpu *vcpu)
{
	svm_skip_instruction(vcpu);
	debugger_attend(vcpu);
}
