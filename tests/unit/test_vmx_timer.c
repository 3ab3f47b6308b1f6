// SPDX-License-Identifier: GPL-2.0-only
/*
 * The preemption timer: off unless somebody waits, never early, and a deadline that is
 * farther away than it can count.
 */
#include "support.h"

#include <string.h>

#include "vm_entry.h"
#include "vmx/vmx.h"

#define OTHER_PIN  0x16u
#define OTHER_EXIT 0x3c0204u

static uint64_t tsc, rate;
static uint32_t can_pin, can_exit;

static uint64_t fake_rdmsr(uint32_t msr)
{
	assert_int_equal(msr, 0x485);
	return 0x123456e0 | rate;
}

#define rdtsc()	   tsc
#define rdmsr(msr) fake_rdmsr(msr)
#include "vmx/timer.c"

static struct vcpu vcpu;
static unsigned int calls;

uint32_t vmx_controls(uint32_t msr, uint64_t wanted)
{
	assert_true(msr == 0x481 || msr == 0x483);
	return (uint32_t)wanted & (msr == 0x481 ? can_pin : can_exit);
}

static void due(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	calls++;
}

static int reset(void **state)
{
	(void)state;
	make_enterable_guest();
	vmcs[0x4000] = OTHER_PIN;
	vmcs[0x400c] = OTHER_EXIT;
	memset(&vcpu, 0, sizeof(vcpu));
	tsc = 1000;
	rate = 5;
	can_pin = can_exit = UINT32_MAX;
	calls = 0;
	return 0;
}

static void assert_on(bool on)
{
	assert_int_equal(vmcs[0x4000], OTHER_PIN | (on ? 1u << 6 : 0));
	assert_int_equal(vmcs[0x400c], OTHER_EXIT | (on ? 1u << 22 : 0));
}

static void start(uint64_t deadline)
{
	assert_true(vmx_set_timer(&vcpu, deadline, due));
	assert_on(true);
	assert_int_equal(calls, 0);
}

/* SDM volume 3C, 26.5.1: a count for each change of bit 5 is one for each 32 ticks. */
static void it_counts_at_the_processors_rate(void **state)
{
	(void)state;
	start(1000 + 32 * 100);
	assert_int_equal(vmcs[0x482e], 101);
	start(4192 - 1);
	assert_int_equal(vmcs[0x482e], 100); /* now is 31.25 times 32, this 130.97 */
	rate = 0;
	start(1001);
	assert_int_equal(vmcs[0x482e], 2);
}

static void a_deadline_that_is_past_is_due_at_once(void **state)
{
	(void)state;
	start(1000);
	assert_int_equal(vmcs[0x482e], 0);
	start(5);
	assert_int_equal(vmcs[0x482e], 0);
	vmx_timer_exit(&vcpu);
	assert_int_equal(calls, 1);
}

static void it_is_due_once_and_off_then(void **state)
{
	(void)state;
	start(9000);
	tsc = 9000;
	vmx_timer_exit(&vcpu);
	assert_int_equal(calls, 1);
	assert_on(false);
}

/* The 32 bits of the timer end before; or the TSC was set back. */
static void it_is_not_due_early(void **state)
{
	(void)state;
	start(1000 + 32 * (BIT(33)));
	assert_int_equal(vmcs[0x482e], UINT32_MAX);
	tsc += 32 * (BIT(33) - 10);
	vmx_timer_exit(&vcpu);
	assert_int_equal(calls, 0);
	assert_on(true);
	assert_int_equal(vmcs[0x482e], 11);
}

static void it_can_be_taken_back(void **state)
{
	(void)state;
	start(9000);
	assert_true(vmx_set_timer(&vcpu, NO_DEADLINE, NULL));
	assert_on(false);
}

static void restart(struct vcpu *v)
{
	calls++;
	assert_true(vmx_set_timer(v, v->deadline + 3200, restart));
}

static void who_is_called_may_wait_again(void **state)
{
	(void)state;
	assert_true(vmx_set_timer(&vcpu, 2000, restart));
	tsc = 2000;
	vmx_timer_exit(&vcpu);
	assert_int_equal(calls, 1);
	assert_on(true);
	assert_int_equal(vmcs[0x482e], 101);
}

static void a_processor_without_one_says_so(void **state)
{
	(void)state;
	can_pin = ~(1u << 6);
	assert_false(vmx_set_timer(&vcpu, 2000, due));
	can_pin = UINT32_MAX;
	can_exit = ~(1u << 22);
	assert_false(vmx_set_timer(&vcpu, 2000, due));
	assert_on(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, reset)
		T(it_counts_at_the_processors_rate),
		T(a_deadline_that_is_past_is_due_at_once),
		T(it_is_due_once_and_off_then),
		T(it_is_not_due_early),
		T(it_can_be_taken_back),
		T(who_is_called_may_wait_again),
		T(a_processor_without_one_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
