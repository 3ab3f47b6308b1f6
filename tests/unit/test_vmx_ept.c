// SPDX-License-Identifier: GPL-2.0-only
/* The entries of EPT, their pointer, and when cached translations are dropped. */
#include "support.h"

#include "core/cpu.h"
#include "lib/errno.h"

static uint64_t capabilities;

#include "vmx/ept.c"

static struct mmu_format format;
static bool flushes, mapped;
static int error;
static unsigned int follows;

uint64_t vmx_ept_capabilities(void)
{
	return capabilities;
}

int mmu_init(const struct mmu_format *f)
{
	format = *f;
	return error;
}

hpa_t mmu_nested_root(void)
{
	return hpa(PAGE_SIZE);
}

bool mmu_map_more(gpa_t address, bool *flush)
{
	assert_int_equal(address.raw, 0x123456789000);
	*flush = flushes;
	return mapped;
}

void mmu_follow_memory_types(void)
{
	follows++;
}

/* Without INVEPT among the capabilities no test executes it. */
static int make_ept(void **state)
{
	(void)state;
	capabilities = BIT(6) | BIT(14) | BIT(16);
	flushes = false;
	mapped = true;
	error = 0;
	follows = 0;
	assert_int_equal(vmx_memory_init(), 0);
	return 0;
}

/* SDM volume 3C, tables 29-4 and 29-7: rights in 2:0, the type in 5:3, no "ignore PAT" (6) */
static void an_entry_holds_rights_and_type(void **state)
{
	static const enum memory_type types[] = {MEMORY_UC, MEMORY_WT, MEMORY_WB};
	static const uint64_t expected[] = {0x07, 0x27, 0x37};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++)
		assert_int_equal(format.flags(types[i]), expected[i]);
	assert_int_equal(format.table_flags, 0x7);
	assert_int_equal(format.flags(1), 0x0f);
	assert_int_equal(format.flags(5), 0x2f);
}

/* Table 25-9: write-back, four levels, no accessed and dirty flags */
static void the_pointer_says_how_to_walk(void **state)
{
	(void)state;
	assert_int_equal(vmx_ept_pointer(), PAGE_SIZE | 0x1e);
}

static void pages_are_as_large_as_the_processor_can(void **state)
{
	(void)state;
	assert_int_equal(format.largest_page, 2 * MIB);
	capabilities = BIT(16) | BIT(17);
	assert_int_equal(largest_page(), 1 * GIB);
	capabilities = BIT(17);
	assert_int_equal(largest_page(), 1 * GIB);
	capabilities = ~(BIT(16) | BIT(17));
	assert_int_equal(largest_page(), PAGE_SIZE);
}

static void changed_types_are_followed(void **state)
{
	(void)state;
	vmx_memory_types_changed();
	assert_int_equal(follows, 1);
}

static void an_address_is_mapped_or_not(void **state)
{
	(void)state;
	assert_true(vmx_map_more(NULL, gpa(0x123456789000)));
	flushes = true;
	assert_true(vmx_map_more(NULL, gpa(0x123456789000)));
	mapped = false;
	assert_false(vmx_map_more(NULL, gpa(0x123456789000)));
}

static void tables_that_can_not_be_made_are_an_error(void **state)
{
	(void)state;
	error = -ENOMEM;
	assert_int_equal(vmx_memory_init(), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_ept)
		T(an_entry_holds_rights_and_type),
		T(the_pointer_says_how_to_walk),
		T(pages_are_as_large_as_the_processor_can),
		T(changed_types_are_followed),
		T(an_address_is_mapped_or_not),
		T(tables_that_can_not_be_made_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
