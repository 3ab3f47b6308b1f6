// SPDX-License-Identifier: GPL-2.0-only
/* Each number that VT-x refuses with has its own words, and no number goes without. */
#include "support.h"

#include <string.h>

#include "vmx/errors.h"

#define UNKNOWN "does not have"

/* SDM volume 3C, table 31-1: 14, 21 and 27 are not used. */
static bool is_used(uint64_t number)
{
	return number >= 1 && number <= 28 && number != 14 && number != 21 && number != 27;
}

static void exactly_the_manuals_numbers_are_known(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 300; number++) {
		const char *text = vmx_instruction_error_text(number);

		assert_non_null(text);
		assert_int_equal(strstr(text, UNKNOWN) == NULL, is_used(number));
	}
	assert_non_null(strstr(vmx_instruction_error_text(UINT64_MAX), UNKNOWN));
	assert_non_null(strstr(vmx_instruction_error_text(BIT(32) + 7), UNKNOWN));
}

static void no_two_errors_read_the_same(void **state)
{
	(void)state;
	for (uint64_t a = 1; a <= 28; a++)
		for (uint64_t b = 1; b < a; b++)
			if (is_used(a) && is_used(b))
				assert_string_not_equal(vmx_instruction_error_text(a),
							vmx_instruction_error_text(b));
}

static void the_errors_of_an_entry_are_at_their_numbers(void **state)
{
	(void)state;
	assert_string_equal(vmx_instruction_error_text(4), "VMLAUNCH with non-clear VMCS");
	assert_string_equal(vmx_instruction_error_text(7), "VM entry with invalid control fields");
	assert_string_equal(vmx_instruction_error_text(8),
			    "VM entry with invalid host-state fields");
	assert_string_equal(vmx_instruction_error_text(13), "VMWRITE to read-only VMCS component");
	assert_string_equal(vmx_instruction_error_text(28), "invalid operand to INVEPT or INVVPID");
}

static void a_failed_entry_is_explained(void **state)
{
	(void)state;
	assert_non_null(strstr(vmx_failed_entry_text(33, 0), "guest state"));
	assert_non_null(strstr(vmx_failed_entry_text(33, 2), "PDPTE"));
	assert_non_null(strstr(vmx_failed_entry_text(33, 3), "NMI"));
	assert_non_null(strstr(vmx_failed_entry_text(33, 4), "link pointer"));
	assert_non_null(strstr(vmx_failed_entry_text(34, 1), "MSR"));
	assert_non_null(strstr(vmx_failed_entry_text(41, 0), "machine check"));
	assert_non_null(strstr(vmx_failed_entry_text(33, 1), UNKNOWN));
	assert_non_null(strstr(vmx_failed_entry_text(33, UINT64_MAX), UNKNOWN));
	assert_non_null(strstr(vmx_failed_entry_text(0, 0), UNKNOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_the_manuals_numbers_are_known),
		cmocka_unit_test(no_two_errors_read_the_same),
		cmocka_unit_test(the_errors_of_an_entry_are_at_their_numbers),
		cmocka_unit_test(a_failed_entry_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
