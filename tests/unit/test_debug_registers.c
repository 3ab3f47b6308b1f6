// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose DR0 to DR3 and DR7 are: taken with the first hardware breakpoint, given back with the
 * last, and what the guest reads and writes in between.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "core/vendor.h"
#include "debug/breakpoints.h"

static uint64_t dr[4];

#define read_breakpoints(address)  memcpy(address, dr, sizeof(dr))
#define write_breakpoints(address) memcpy(dr, address, sizeof(dr))
#include "debug/debug_registers.c"

static struct vcpu vcpu;
static uint64_t dr6, dr7;
static bool guarded;

static void read_state(struct vcpu *v, struct guest_state *state)
{
	(void)v;
	state->dr7 = dr7;
}

static void guard(struct vcpu *v, bool on)
{
	(void)v;
	guarded = on;
}

static void set_dr6(struct vcpu *v, uint64_t value)
{
	(void)v;
	dr6 = value;
}

static void set_dr7(struct vcpu *v, uint64_t value)
{
	(void)v;
	dr7 = value;
}

static const struct vendor fake_vendor = {
	.read_state = read_state,
	.guard_debug_registers = guard,
	.write_dr6 = set_dr6,
	.write_dr7 = set_dr7,
};

const struct vendor *vendor = &fake_vendor;

static int reset(void **state)
{
	static const uint64_t guests_own[4] = {0x1000, 0x2000, 0x3000, 0x4000};

	(void)state;
	breakpoints_clear();
	debug_registers_forget(&vcpu);
	memcpy(dr, guests_own, sizeof(dr));
	dr7 = 0x402;
	guarded = false;
	return 0;
}

static void take_them(void)
{
	assert_int_equal(watchpoint_add(0x9000, BREAK_WRITE, 4), 0);
	debug_registers_load(&vcpu);
}

static void without_breakpoints_they_are_the_guests(void **state)
{
	struct guest_state shown = {.dr7 = 0x402};

	(void)state;
	debug_registers_load(&vcpu);
	assert_false(guarded);
	assert_false(debug_registers_are_taken(&vcpu));
	assert_int_equal(dr[0], 0x1000);
	debug_registers_show(&vcpu, &shown);
	assert_int_equal(shown.dr7, 0x402);
}

static void the_first_takes_them_and_the_last_gives_them_back(void **state)
{
	struct guest_state shown = {0};

	(void)state;
	take_them();
	assert_true(guarded);
	assert_int_equal(dr[0], 0x9000);
	assert_int_equal(dr7, watchpoints_dr7());
	debug_registers_show(&vcpu, &shown);
	assert_int_equal(shown.dr7, 0x402);
	debug_registers_load(&vcpu); /* a second stop does not take its own for the guest's */
	breakpoints_clear();
	debug_registers_load(&vcpu);
	assert_false(guarded);
	assert_int_equal(dr[0], 0x1000);
	assert_int_equal(dr[3], 0x4000);
	assert_int_equal(dr7, 0x402);
}

static void meanwhile_the_guest_finds_what_it_has_written(void **state)
{
	struct guest_state guest = {.dr6 = 0xffff0ff1};

	(void)state;
	take_them();
	debug_registers_write(&vcpu, 2, 0x7777);
	debug_registers_write(&vcpu, 7, 0xffffffff00000001);
	debug_registers_write(&vcpu, 6, 0x1234);
	assert_int_equal(debug_registers_read(&vcpu, 2, &guest), 0x7777);
	assert_int_equal(debug_registers_read(&vcpu, 7, &guest), 0x401);
	assert_int_equal(debug_registers_read(&vcpu, 5, &guest), 0x401);
	assert_int_equal(debug_registers_read(&vcpu, 6, &guest), 0xffff0ff1);
	assert_int_equal(debug_registers_read(&vcpu, 4, &guest), 0xffff0ff1);
	assert_int_equal(dr6, 0x1234);
	assert_int_equal(dr[0], 0x9000);
	breakpoints_clear();
	debug_registers_load(&vcpu);
	assert_int_equal(dr[2], 0x7777);
	assert_int_equal(dr7, 0x401);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		TEST(without_breakpoints_they_are_the_guests),
		TEST(the_first_takes_them_and_the_last_gives_them_back),
		TEST(meanwhile_the_guest_finds_what_it_has_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
