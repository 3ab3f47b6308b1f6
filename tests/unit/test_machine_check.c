// SPDX-License-Identifier: GPL-2.0-only
/*
 * What arrives in Vellum itself: which machine checks and NMIs are noted for the guest, and
 * what is the end.
 */
#include "support.h"

#include "core/cpu.h"
#include "core/exception.h"
#include "core/vendor.h"
#include "lib/errno.h"
#include "core/machine_check.c"

/* The table of fixups is the linker script's. */
asm(".data\n"
    ".globl fault_fixups_start, fault_fixups_end\n"
    "fault_fixups_start: .quad 0x1000, 0x2000\n"
    "fault_fixups_end: .byte 0\n"
    ".text\n");

#include "core/exception.c"

const uint64_t exception_entry_table[EXCEPTION_COUNT];
const struct vendor *vendor;

static uint64_t mcg_status;
static int rdmsr_error;
static unsigned int noted;
static jmp_buf stopped;

int rdmsr_checked(uint32_t msr, uint64_t *value)
{
	assert_int_equal(msr, 0x17a);
	*value = mcg_status;
	return rdmsr_error;
}

_Noreturn void panic_exception(const struct exception_frame *frame)
{
	(void)frame;
	longjmp(stopped, 1);
}

static void note_event(struct exception_frame *frame)
{
	(void)frame;
	noted++;
}

static const struct vendor noting = {.note_event = note_event}, holding_back;

static int reset(void **state)
{
	(void)state;
	console_clear();
	vendor = &noting;
	mcg_status = 5; /* MCIP, RIPV */
	rdmsr_error = 0;
	noted = 0;
	return 0;
}

/* True if Vellum goes on. */
static bool survives(uint64_t vector)
{
	struct exception_frame frame = {.vector = vector, .rip = 0x1234};

	noted = 0;
	if (setjmp(stopped))
		return false;
	exception_handle(&frame);
	return true;
}

static void nmis_and_machine_checks_are_noted_for_the_guest(void **state)
{
	(void)state;
	assert_true(survives(2));
	assert_int_equal(noted, 1);
	assert_true(survives(18));
	assert_int_equal(noted, 1);
	assert_console_quiet();
}

static void nothing_else_is_the_guests(void **state)
{
	(void)state;
	for (uint64_t vector = 0; vector < EXCEPTION_COUNT; vector++) {
		if (vector == 2 || vector == 18)
			continue;
		assert_false(survives(vector));
		assert_int_equal(noted, 0);
	}
}

/* AMD-V holds both back while GIF is 0; before that there is no guest. */
static void without_a_vendor_that_notes_it_is_the_end(void **state)
{
	(void)state;
	vendor = &holding_back;
	assert_false(survives(2));
	assert_false(survives(18));
	vendor = NULL;
	assert_false(survives(2));
	assert_false(survives(18));
}

/* RIPV 0: no way back; EIPV 1: the way back leads to the same error. */
static void an_error_in_vellum_itself_is_the_end(void **state)
{
	static const uint64_t bad[] = {4, 6, 7};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		reset(state);
		mcg_status = bad[i];
		assert_false(survives(18));
		assert_int_equal(noted, 0);
		assert_console(LOG_ERROR, "machine check in what Vellum was doing (MCG_STATUS");
	}
	mcg_status = 0xd; /* a local one: LMCE_S */
	assert_true(survives(18));
}

static void so_is_one_that_nobody_can_tell_about(void **state)
{
	(void)state;
	rdmsr_error = -EINVAL;
	assert_false(survives(18));
	assert_console(LOG_ERROR, "does not say");
}

static void an_access_that_may_fault_goes_on_at_its_fixup(void **state)
{
	struct exception_frame frame = {.vector = VECTOR_GP, .rip = 0x1000};

	(void)state;
	exception_handle(&frame);
	assert_int_equal(frame.rip, 0x2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, reset)
		T(nmis_and_machine_checks_are_noted_for_the_guest),
		T(nothing_else_is_the_guests),
		T(without_a_vendor_that_notes_it_is_the_end),
		T(an_error_in_vellum_itself_is_the_end),
		T(so_is_one_that_nobody_can_tell_about),
		T(an_access_that_may_fault_goes_on_at_its_fixup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
