// SPDX-License-Identifier: GPL-2.0-only
/* Who hangs and who is only idle, by what the watchdog finds at its looks. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "core/options.h"
#include "core/processor.h"
#include "core/vendor.h"
#include "debug/debugger.h"

#define HZ 1000000000ull

static uint64_t tsc;
static struct guest_state guest;
struct options options;

#define rdtsc() tsc
#include "debug/guest_death.c"

static void read_state(struct vcpu *vcpu, struct guest_state *state)
{
	(void)vcpu;
	*state = guest;
}

static const struct vendor fake_vendor = {.read_state = read_state};
const struct vendor *vendor = &fake_vendor;

uint64_t clock_tsc_hz(void)
{
	return HZ;
}

struct stopped *debugger_vcpu(unsigned int number)
{
	(void)number;
	return NULL;
}

void report_guest(struct vcpu *vcpu, const char *what_next)
{
	(void)vcpu;
	(void)what_next;
}

void record_end(const char *why)
{
	(void)why;
}

void smp_stop_others(void)
{
}

_Noreturn void power_reset(void)
{
	abort();
}

static struct vcpu vcpu;

static int reset(void **state)
{
	(void)state;
	memset(seen, 0, sizeof(seen));
	memset(&guest, 0, sizeof(guest));
	tsc = 5 * HZ;
	assert_true(guest_death_init(false, 10));
	guest.cr3 = 0x1000;
	guest.rflags = RFLAGS_IF;
	return 0;
}

/* True if it is said to hang within so many seconds; a look each tenth of one. */
static bool hangs_within(unsigned int seconds)
{
	for (uint64_t end = tsc + seconds * HZ; tsc < end; tsc += HZ / 10)
		if (guest_hangs(&vcpu))
			return true;
	return false;
}

static void a_loop_in_the_kernel_hangs_once(void **state)
{
	(void)state;
	assert_false(hangs_within(9));
	assert_true(hangs_within(2));
	assert_false(hangs_within(100));
}

static void an_idle_processor_does_not(void **state)
{
	(void)state;
	guest.halted = true;
	assert_false(hangs_within(100));
	guest.rflags = 0; /* nothing can wake it */
	assert_true(hangs_within(11));
}

static void a_program_may_loop(void **state)
{
	(void)state;
	guest.cs.selector = 0x73;
	assert_false(hangs_within(100));
}

static void a_switch_of_address_spaces_is_life(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_false(hangs_within(9));
		guest.cr3 += 0x1000;
	}
}

static void off_it_never_looks(void **state)
{
	(void)state;
	assert_false(guest_death_init(false, 0));
	vendor = NULL;
	assert_false(hangs_within(100));
	vendor = &fake_vendor;
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_loop_in_the_kernel_hangs_once),
		TEST(an_idle_processor_does_not),
		TEST(a_program_may_loop),
		TEST(a_switch_of_address_spaces_is_life),
		TEST(off_it_never_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
