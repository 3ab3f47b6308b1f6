// SPDX-License-Identifier: GPL-2.0-only
/* The entries of EPT, their pointer, and when cached translations are dropped. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "lib/errno.h"
#include "mm/frames.h"

static uint64_t capabilities;

static uint64_t fake_rdmsr(uint32_t msr)
{
	assert_int_equal(msr, 0x48c);
	return capabilities;
}

#define rdmsr(msr) fake_rdmsr(msr)
#include "vmx/ept.c"

static bool changed, forgets;
static int map_error;
static unsigned int maps;
static nested_flags_t flags;

int guest_space_map(struct page_table *table, nested_flags_t f)
{
	assert_ptr_equal(table, &ept);
	flags = f;
	maps++;
	return map_error;
}

int guest_space_map_more(struct page_table *table, gpa_t address, nested_flags_t f, bool *forgotten)
{
	assert_ptr_equal(table, &ept);
	assert_ptr_equal(f, flags);
	assert_int_equal(address.raw, 0x123456789000);
	*forgotten = forgets;
	return map_error;
}

bool guest_space_types_changed(void)
{
	return changed;
}

/* Without INVEPT among the capabilities no test executes it. */
static int make_ept(void **state)
{
	(void)state;
	console_clear();
	arena_create(4 * PAGE_SIZE);
	frames_init(hpa(PAGE_SIZE), hpa(4 * PAGE_SIZE));
	capabilities = BIT(6) | BIT(14) | BIT(16);
	changed = forgets = false;
	map_error = 0;
	maps = 0;
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
		assert_int_equal(flags(types[i]), expected[i]);
	assert_int_equal(flags(1), 0x0f);
	assert_int_equal(flags(5), 0x2f);
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
	assert_int_equal(ept.largest_page, 2 * MIB);
	capabilities = BIT(16) | BIT(17);
	assert_int_equal(largest_page(), 1 * GIB);
	capabilities = BIT(17);
	assert_int_equal(largest_page(), 1 * GIB);
	capabilities = ~(BIT(16) | BIT(17));
	assert_int_equal(largest_page(), PAGE_SIZE);
}

static void changed_types_are_mapped_again(void **state)
{
	(void)state;
	vmx_memory_types_changed();
	assert_int_equal(maps, 1);
	changed = true;
	vmx_memory_types_changed();
	assert_int_equal(maps, 2);
	assert_console_quiet();
	map_error = -ENOMEM;
	vmx_memory_types_changed();
	assert_console(LOG_WARN, "could not be followed");
}

static void an_address_is_mapped_or_not(void **state)
{
	(void)state;
	assert_true(vmx_map_more(NULL, gpa(0x123456789000)));
	forgets = true;
	assert_true(vmx_map_more(NULL, gpa(0x123456789000)));
	map_error = -ENOMEM;
	assert_false(vmx_map_more(NULL, gpa(0x123456789000)));
}

static void a_table_that_can_not_be_filled_is_an_error(void **state)
{
	(void)state;
	map_error = -ENOMEM;
	assert_int_equal(vmx_memory_init(), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_ept)
		T(an_entry_holds_rights_and_type),
		T(the_pointer_says_how_to_walk),
		T(pages_are_as_large_as_the_processor_can),
		T(changed_types_are_mapped_again),
		T(an_address_is_mapped_or_not),
		T(a_table_that_can_not_be_filled_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
