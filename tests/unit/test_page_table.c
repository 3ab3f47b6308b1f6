// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables: what is mapped where, with pages of which size, and that not a frame is
 * lost or freed twice while mappings replace each other.
 */
#include "support.h"

#include <string.h>

#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/page_table.h"
#include "mm/physmap.h"

enum { POOL_COUNT = 3000, ENTRIES = 512 };

#define ENTRY_ADDRESS 0x000ffffffffff000ull
#define TABLE_FLAGS   (PAGE_PRESENT | PAGE_WRITE | PAGE_USER)
#define FLAGS	      (PAGE_PRESENT | PAGE_WRITE | PAGE_NX)

static struct page_table table;

static void start_with(unsigned int frames, uint64_t largest_page)
{
	console_clear();
	frames_init(hpa(PAGE_SIZE), hpa((1 + frames) * PAGE_SIZE));
	assert_int_equal(page_table_init(&table, TABLE_FLAGS, largest_page), 0);
}

static int make_table(void **state)
{
	(void)state;
	start_with(POOL_COUNT, 1 * GIB);
	return 0;
}

static int make_arena(void **state)
{
	(void)state;
	arena_create((1 + POOL_COUNT) * PAGE_SIZE);
	return 0;
}

static void map(uint64_t from, uint64_t size, uint64_t to)
{
	assert_int_equal(page_table_map(&table, from, size, hpa(to), FLAGS), 0);
}

/* address leads to this physical address, by a page of this size. */
static void assert_maps(uint64_t address, uint64_t to, uint64_t size)
{
	uint64_t found;
	uint64_t entry = page_table_lookup(&table, address, &found);
	uint64_t large = size > PAGE_SIZE ? PAGE_LARGE : 0;

	assert_int_equal(found, size);
	assert_int_equal(entry & ~ENTRY_ADDRESS, FLAGS | large);
	assert_int_equal((entry & ENTRY_ADDRESS) + (address & (size - 1)), to);
}

static void assert_hole(uint64_t address)
{
	uint64_t size;

	assert_int_equal(page_table_lookup(&table, address, &size), 0);
}

static const uint64_t *table_at(uint64_t entry)
{
	return arena_at(entry & ENTRY_ADDRESS);
}

/* Frames that the tables take; checks the entries that lead to them. */
static unsigned int count_tables(uint64_t address, unsigned int level)
{
	unsigned int count = 1;

	for (unsigned int i = 0; i < ENTRIES && level > 1; i++) {
		uint64_t entry = table_at(address)[i];

		if (!entry || (entry & PAGE_LARGE))
			continue;
		assert_int_equal(entry & ~ENTRY_ADDRESS, TABLE_FLAGS);
		count += count_tables(entry, level - 1);
	}
	return count;
}

static void assert_frames_balance(void)
{
	assert_int_equal(count_tables(table.root.raw, 4), POOL_COUNT - frames_free_count());
}

static void an_empty_table_maps_nothing(void **state)
{
	uint64_t size;

	(void)state;
	assert_int_equal(page_table_lookup(&table, 0x123456789000, &size), 0);
	assert_int_equal(size, 512 * GIB);
	assert_int_equal(frames_free_count(), POOL_COUNT - 1);
}

static void aligned_ranges_get_the_largest_pages(void **state)
{
	(void)state;
	map(1 * GIB, 2 * GIB + 2 * MIB + PAGE_SIZE, 4 * GIB);
	assert_maps(1 * GIB, 4 * GIB, 1 * GIB);
	assert_maps(3 * GIB - 1, 6 * GIB - 1, 1 * GIB);
	assert_maps(3 * GIB, 6 * GIB, 2 * MIB);
	assert_maps(3 * GIB + 2 * MIB + 5, 6 * GIB + 2 * MIB + 5, PAGE_SIZE);
	assert_hole(1 * GIB - 1);
	assert_hole(3 * GIB + 2 * MIB + PAGE_SIZE);
	assert_frames_balance();
}

static void both_ends_of_a_mapping_must_be_aligned(void **state)
{
	(void)state;
	map(1 * GIB, 1 * GIB, 2 * MIB);
	assert_maps(1 * GIB, 2 * MIB, 2 * MIB);
	map(8 * GIB + PAGE_SIZE, 2 * MIB, 16 * GIB + PAGE_SIZE);
	assert_maps(8 * GIB + PAGE_SIZE, 16 * GIB + PAGE_SIZE, PAGE_SIZE);
	map(12 * GIB, 2 * MIB, PAGE_SIZE);
	assert_maps(12 * GIB, PAGE_SIZE, PAGE_SIZE);
}

static void no_page_is_larger_than_the_largest(void **state)
{
	(void)state;
	start_with(POOL_COUNT, 2 * MIB);
	map(0, 1 * GIB, 0);
	assert_maps(0, 0, 2 * MIB);
	start_with(POOL_COUNT, PAGE_SIZE);
	map(0, 4 * MIB, 0);
	assert_maps(0, 0, PAGE_SIZE);
	assert_maps(4 * MIB - 1, 4 * MIB - 1, PAGE_SIZE);
	assert_frames_balance();
}

static void the_halves_of_the_address_space_do_not_meet(void **state)
{
	(void)state;
	map(PHYSMAP_BASE, 1 * GIB, 0);
	map(0xfffffffffffff000, PAGE_SIZE, 0x5000);
	assert_maps(PHYSMAP_BASE + 0x1234, 0x1234, 1 * GIB);
	assert_maps(UINT64_MAX, 0x5fff, PAGE_SIZE);
	assert_hole(0);
	assert_hole(0x00007ffffffff000);
}

static void a_small_page_splits_the_large_one_around_it(void **state)
{
	uint64_t hole = 1 * GIB + 6 * MIB + 3 * PAGE_SIZE;

	(void)state;
	map(1 * GIB, 1 * GIB, 8 * GIB);
	map(hole, PAGE_SIZE, 0x7000);
	assert_maps(hole, 0x7000, PAGE_SIZE);
	assert_maps(hole - 1, 8 * GIB + (hole - 1 - GIB), PAGE_SIZE);
	assert_maps(hole + PAGE_SIZE, 8 * GIB + (hole + PAGE_SIZE - GIB), PAGE_SIZE);
	assert_maps(1 * GIB + 4 * MIB, 8 * GIB + 4 * MIB, 2 * MIB);
	assert_maps(1 * GIB + 8 * MIB, 8 * GIB + 8 * MIB, 2 * MIB);
	assert_maps(2 * GIB - 1, 9 * GIB - 1, 2 * MIB);
	assert_frames_balance();
}

static void a_large_page_gives_the_tables_below_it_back(void **state)
{
	(void)state;
	map(1 * GIB, 1 * GIB, 0);
	map(1 * GIB + PAGE_SIZE, PAGE_SIZE, 0x7000);
	map(1 * GIB + 4 * MIB, PAGE_SIZE, 0x8000);
	assert_int_equal(frames_free_count(), POOL_COUNT - 5);
	map(1 * GIB, 2 * MIB, 0);
	assert_int_equal(frames_free_count(), POOL_COUNT - 4);
	map(1 * GIB, 1 * GIB, 3 * GIB);
	assert_int_equal(frames_free_count(), POOL_COUNT - 2);
	assert_maps(1 * GIB + 4 * MIB, 3 * GIB + 4 * MIB, 1 * GIB);
	assert_frames_balance();
}

static void running_out_of_frames_changes_no_mapping(void **state)
{
	(void)state;
	start_with(3, 1 * GIB); /* root, one table of 1 GiB pages, and one to split with */
	map(1 * GIB, 1 * GIB, 8 * GIB);
	assert_int_equal(page_table_map(&table, 1 * GIB + PAGE_SIZE, PAGE_SIZE, hpa(0x7000), FLAGS),
			 -ENOMEM);
	assert_console(LOG_ERROR, "out of memory");
	assert_int_equal(frames_free_count(), 0);
	for (uint64_t offset = 0; offset < 1 * GIB; offset += 2 * MIB)
		assert_maps(1 * GIB + offset, 8 * GIB + offset, 2 * MIB);
	map(1 * GIB + 2 * MIB, 2 * MIB, 0); /* needs no frame */
	assert_maps(1 * GIB + 2 * MIB, 0, 2 * MIB);
}

static void without_a_frame_there_is_no_root(void **state)
{
	struct page_table none;

	(void)state;
	frames_init(hpa(PAGE_SIZE), hpa(PAGE_SIZE));
	assert_int_equal(page_table_init(&none, TABLE_FLAGS, PAGE_SIZE), -ENOMEM);
}

/* A model of one number a page: which frame it leads to, flags below; 0 for none. */
#define MODEL_SIZE (4 * GIB)

static uint64_t model[MODEL_SIZE / PAGE_SIZE];

static void map_both(uint64_t from, uint64_t size, uint64_t to, uint64_t flags)
{
	assert_int_equal(page_table_map(&table, from, size, hpa(to), flags), 0);
	for (uint64_t offset = 0; offset < size; offset += PAGE_SIZE)
		model[(from + offset) / PAGE_SIZE] = (to + offset) | flags;
}

static void assert_agrees(uint64_t address)
{
	uint64_t size;
	uint64_t entry = page_table_lookup(&table, address, &size);
	uint64_t offset = address & (size - 1) & ~(PAGE_SIZE - 1);

	assert_true(size <= table.largest_page || !entry);
	if (entry)
		entry = (entry & ~(size > PAGE_SIZE ? PAGE_LARGE : 0)) + offset;
	assert_int_equal(entry, model[address / PAGE_SIZE]);
}

static void random_range(uint64_t *random, uint64_t *from, uint64_t *size)
{
	static const uint64_t units[] = {PAGE_SIZE, 2 * MIB, 1 * GIB};
	static const uint64_t most[] = {600, 600, 3};
	uint64_t kind = random_below(random, 3);

	*from = random_below(random, MODEL_SIZE / units[kind]) * units[kind];
	*size = (1 + random_below(random, most[kind])) * units[kind];
	*size = min_u64(*size, MODEL_SIZE - *from);
}

static void random_mappings_agree_with_a_flat_table(void **state)
{
	static const uint64_t largest[] = {PAGE_SIZE, 2 * MIB, 1 * GIB};
	uint64_t random = 11;

	(void)state;
	memset(model, 0, sizeof(model));
	for (int step = 0; step < 150; step++) {
		uint64_t flags = PAGE_PRESENT | (random_next(&random) & (PAGE_WRITE | PAGE_NX));
		uint64_t from, size, to;

		random_range(&random, &from, &size);
		to = random_below(&random, 2) ? from : random_below(&random, BIT(36)) * PAGE_SIZE;
		table.largest_page = size > 64 * MIB ? 1 * GIB : largest[random_below(&random, 3)];
		map_both(from, size, to, flags);
		table.largest_page = 1 * GIB;
		for (uint64_t edge = max_u64(from, 1) - 1; edge <= from + size; edge += size)
			if (edge < MODEL_SIZE)
				assert_agrees(edge);
		for (int i = 0; i < 300; i++)
			assert_agrees(random_below(&random, MODEL_SIZE));
		assert_frames_balance();
	}
}

static void what_lies_above_goes_with_its_tables(void **state)
{
	(void)state;
	map(0, 4 * GIB, 0);
	map(4 * GIB, 4 * MIB, 4 * GIB);
	map(4 * GIB + 4 * MIB, PAGE_SIZE, 0);
	map(600 * GIB, 1 * GIB, 600 * GIB);
	page_table_unmap_from(&table, 4 * GIB + 2 * MIB);
	assert_maps(4 * GIB - 1, 4 * GIB - 1, 1 * GIB);
	assert_maps(4 * GIB, 4 * GIB, 2 * MIB);
	assert_hole(4 * GIB + 2 * MIB);
	assert_hole(4 * GIB + 4 * MIB);
	assert_hole(600 * GIB);
	assert_frames_balance();
	page_table_unmap_from(&table, 0);
	assert_int_equal(frames_free_count(), POOL_COUNT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_empty_table_maps_nothing, make_table),
		cmocka_unit_test_setup(aligned_ranges_get_the_largest_pages, make_table),
		cmocka_unit_test_setup(both_ends_of_a_mapping_must_be_aligned, make_table),
		cmocka_unit_test_setup(no_page_is_larger_than_the_largest, make_table),
		cmocka_unit_test_setup(the_halves_of_the_address_space_do_not_meet, make_table),
		cmocka_unit_test_setup(a_small_page_splits_the_large_one_around_it, make_table),
		cmocka_unit_test_setup(a_large_page_gives_the_tables_below_it_back, make_table),
		cmocka_unit_test_setup(running_out_of_frames_changes_no_mapping, make_table),
		cmocka_unit_test_setup(without_a_frame_there_is_no_root, make_table),
		cmocka_unit_test_setup(random_mappings_agree_with_a_flat_table, make_table),
		cmocka_unit_test_setup(what_lies_above_goes_with_its_tables, make_table),
	};

	return cmocka_run_group_tests(tests, make_arena, NULL);
}
