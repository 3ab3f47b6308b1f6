// SPDX-License-Identifier: GPL-2.0-only
/* Which vendor a machine has, and which paging its guest gets. */
#include "support.h"

#include <string.h>

#include "core/vendor.h"
#include "lib/errno.h"

static bool svm_there, vmx_there, svm_nested;
static int probe_error;
static char why[80];

static bool svm_is_there(void)
{
	return svm_there;
}

static bool vmx_is_there(void)
{
	return vmx_there;
}

static int probe(char *text, size_t size)
{
	(void)size;
	strcpy(text, "probed");
	return probe_error;
}

static const char *missing_for_nested(void)
{
	return svm_nested ? NULL : "nested paging";
}

static const struct vendor *with_shadow(void);

#include "core/vendor.c"

const struct vendor svm_vendor = {.name = "AMD-V",
				  .is_present = svm_is_there,
				  .probe = probe,
				  .missing_for_nested = missing_for_nested,
				  .with_shadow_paging = with_shadow};
const struct vendor vmx_vendor = {.name = "VT-x", .is_present = vmx_is_there, .probe = probe};
static const struct vendor shadow_vendor;

static const struct vendor *with_shadow(void)
{
	return &shadow_vendor;
}

static int make_machine(void **state)
{
	(void)state;
	console_clear();
	svm_there = svm_nested = true;
	vmx_there = false;
	probe_error = 0;
	vendor = NULL;
	return 0;
}

static const struct vendor *select(bool wanted, bool given)
{
	bool shadow = wanted;

	assert_int_equal(vendor_select(&shadow, why, sizeof(why)), 0);
	assert_int_equal(shadow, given);
	return vendor;
}

static void the_guest_gets_the_paging_that_is_wanted(void **state)
{
	(void)state;
	assert_ptr_equal(select(false, false), &svm_vendor);
	assert_ptr_equal(select(true, true), &shadow_vendor);
	assert_console_quiet();
}

static void without_nested_paging_it_gets_the_other(void **state)
{
	(void)state;
	svm_nested = false;
	assert_ptr_equal(select(false, true), &shadow_vendor);
	assert_console(LOG_WARN, "AMD-V has no nested paging");
}

static void a_machine_without_vendor_says_why(void **state)
{
	bool shadow = false;

	(void)state;
	probe_error = -ENODEV;
	assert_int_equal(vendor_select(&shadow, why, sizeof(why)), -ENODEV);
	assert_string_equal(why, "probed");
	svm_there = false;
	assert_int_equal(vendor_select(&shadow, why, sizeof(why)), -ENODEV);
	assert_non_null(strstr(why, "neither AMD-V"));
	assert_null(vendor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_machine)
		T(the_guest_gets_the_paging_that_is_wanted),
		T(without_nested_paging_it_gets_the_other),
		T(a_machine_without_vendor_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
