// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts that Vellum takes and hands on, and a guest that halts meanwhile. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "debug/debugger.h"
#include "svm/svm.h"

#include "svm/attention.c"

static struct vmcb vmcb;
static struct vcpu vcpu = {.arch = &vmcb};
static unsigned int looks, skips;

void debugger_attend(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	looks++;
}

void svm_skip_instruction(struct vcpu *v)
{
	vmcb_of(v)->save.rip++;
	skips++;
}

static int reset(void **state)
{
	(void)state;
	memset(&vmcb, 0, sizeof(vmcb));
	vmcb.control.clean = CLEAN_ALL;
	vcpu.halted = false;
	looks = skips = 0;
	svm_attend(&vcpu);
	return 0;
}

static bool intercepts(uint32_t which)
{
	return vmcb.control.intercept3 & which;
}

static void interrupts_halts_and_spins_exit(void **state)
{
	(void)state;
	assert_true(intercepts(INTERCEPT3_INTR) && intercepts(INTERCEPT3_HLT));
	assert_true(intercepts(INTERCEPT3_PAUSE));
	assert_false(vmcb.control.clean & CLEAN_INTERCEPTS);
}

/* It is delivered with its intercept off; the marker tells when the next may come. */
static void an_interrupt_is_handed_on(void **state)
{
	(void)state;
	svm_interrupt_exit(&vcpu);
	assert_false(intercepts(INTERCEPT3_INTR));
	assert_true(intercepts(INTERCEPT3_VINTR));
	assert_true(vmcb.control.virtual_interrupt & VIRTUAL_INTERRUPT_PENDING);
	assert_false(vmcb.control.clean & CLEAN_TPR);
	svm_interrupt_window_exit(&vcpu);
	assert_true(intercepts(INTERCEPT3_INTR));
	assert_false(intercepts(INTERCEPT3_VINTR));
	assert_false(vmcb.control.virtual_interrupt & VIRTUAL_INTERRUPT_PENDING);
	assert_int_equal(looks, 2);
	assert_int_equal(skips, 0);
}

/* One that an exception has delayed is a real one. */
static void a_virtual_interrupt_that_is_meant_stays(void **state)
{
	(void)state;
	svm_interrupt_exit(&vcpu);
	vmcb.control.virtual_interrupt |= (uint64_t)0x33 << VIRTUAL_INTERRUPT_VECTOR_SHIFT;
	svm_interrupt_window_exit(&vcpu);
	assert_true(vmcb.control.virtual_interrupt & VIRTUAL_INTERRUPT_PENDING);
}

static void a_guest_halts_until_it_is_interrupted(void **state)
{
	(void)state;
	vmcb.save.rip = 0x1000;
	vmcb.control.interrupt_state = INTERRUPT_SHADOW;
	svm_halt_exit(&vcpu);
	svm_halt_exit(&vcpu);
	assert_int_equal(vmcb.save.rip, 0x1000);
	assert_false(vmcb.control.interrupt_state & INTERRUPT_SHADOW);
	assert_int_equal(looks, 2);
	svm_interrupt_exit(&vcpu);
	assert_int_equal(vmcb.save.rip, 0x1001);
	assert_int_equal(vmcb.control.exit_code, SVM_EXIT_HLT);
	assert_false(vcpu.halted);
	svm_interrupt_exit(&vcpu);
	assert_int_equal(skips, 1);
}

static void a_guest_that_spins_is_looked_at(void **state)
{
	(void)state;
	svm_pause_exit(&vcpu);
	assert_int_equal(skips, 1);
	assert_int_equal(looks, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		TEST(interrupts_halts_and_spins_exit),
		TEST(an_interrupt_is_handed_on),
		TEST(a_virtual_interrupt_that_is_meant_stays),
		TEST(a_guest_halts_until_it_is_interrupted),
		TEST(a_guest_that_spins_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
