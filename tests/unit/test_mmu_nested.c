// SPDX-License-Identifier: GPL-2.0-only
/* The MMU with nested paging: one set of tables, filled in the vendor's format. */
#include "support.h"

#include "core/lock.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/nested.c"

#define FAR 0x123456789000ull

static bool changed, forgets;
static int map_error;
static unsigned int maps;

static uint64_t flags_of(enum memory_type type)
{
	return PAGE_PRESENT | (uint64_t)type << 3;
}

static const struct mmu_format format = {flags_of, PAGE_PRESENT | PAGE_WRITE, 2 * MIB};

int guest_space_map(struct page_table *table, nested_flags_t flags)
{
	assert_ptr_equal(table, &nested);
	assert_ptr_equal(flags, flags_of);
	maps++;
	return map_error;
}

int guest_space_map_more(struct page_table *table, gpa_t address, nested_flags_t flags,
			 bool *forgotten)
{
	assert_true(lock_is_taken());
	assert_ptr_equal(table, &nested);
	assert_ptr_equal(flags, flags_of);
	assert_int_equal(address.raw, FAR);
	*forgotten = forgets;
	return map_error;
}

bool guest_space_types_changed(void)
{
	assert_true(lock_is_taken());
	return changed;
}

static int make_mmu(void **state)
{
	(void)state;
	console_clear();
	arena_create(8 * PAGE_SIZE);
	frames_init(hpa(PAGE_SIZE), hpa(8 * PAGE_SIZE));
	changed = forgets = false;
	map_error = 0;
	maps = 0;
	assert_int_equal(mmu_init(&format), 0);
	return 0;
}

static void the_format_is_the_vendors(void **state)
{
	(void)state;
	assert_int_equal(maps, 1);
	assert_int_equal(nested.table_flags, PAGE_PRESENT | PAGE_WRITE);
	assert_int_equal(nested.largest_page, 2 * MIB);
	assert_int_equal(mmu_nested_root().raw, nested.root.raw);
}

static void one_page_has_flags_of_its_own(void **state)
{
	uint64_t size;

	(void)state;
	assert_int_equal(mmu_map_page(gpa(5 * PAGE_SIZE), PAGE_PRESENT), 0);
	assert_int_equal(page_table_lookup(&nested, 5 * PAGE_SIZE, &size),
			 5 * PAGE_SIZE | PAGE_PRESENT);
	assert_int_equal(size, PAGE_SIZE);
	assert_int_equal(page_table_lookup(&nested, 6 * PAGE_SIZE, &size), 0);
}

static void an_address_is_mapped_or_not(void **state)
{
	bool flush = true;

	(void)state;
	assert_true(mmu_map_more(gpa(FAR), &flush));
	assert_false(flush);
	forgets = true;
	assert_true(mmu_map_more(gpa(FAR), &flush));
	assert_true(flush);
	map_error = -EINVAL;
	assert_false(mmu_map_more(gpa(FAR), &flush));
	assert_false(lock_is_taken());
}

static void changed_types_are_mapped_again(void **state)
{
	(void)state;
	mmu_follow_memory_types();
	assert_int_equal(maps, 1);
	changed = true;
	mmu_follow_memory_types();
	assert_int_equal(maps, 2);
	assert_console_quiet();
	map_error = -ENOMEM;
	mmu_follow_memory_types();
	assert_console(LOG_WARN, "could not be followed");
	assert_false(lock_is_taken());
}

static void tables_that_can_not_be_filled_are_an_error(void **state)
{
	(void)state;
	map_error = -ENOMEM;
	assert_int_equal(mmu_init(&format), -ENOMEM);
	frames_init(hpa(PAGE_SIZE), hpa(PAGE_SIZE));
	assert_int_equal(mmu_init(&format), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_mmu)
		T(the_format_is_the_vendors),
		T(one_page_has_flags_of_its_own),
		T(an_address_is_mapped_or_not),
		T(changed_types_are_mapped_again),
		T(tables_that_can_not_be_filled_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
