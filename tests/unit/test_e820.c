// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory map: cases by hand, then random maps on a toy address space of 64 units
 * against a model that keeps the type of each unit in an array.
 */
#include "support.h"

#include "guest/e820.h"
#include "lib/errno.h"

#include <string.h>

#define UNITS 64
#define UNIT  0x1000ull
#define SEED  0x76656c6c756dull

static struct e820_map map;

static int setup(void **state)
{
	(void)state;
	memset(&map, 0, sizeof(map));
	return 0;
}

static void assert_entry(unsigned int index, uint64_t base, uint64_t size, uint32_t type)
{
	assert_true(index < map.count);
	assert_int_equal(map.entry[index].base, base);
	assert_int_equal(map.entry[index].size, size);
	assert_int_equal(map.entry[index].type, type);
}

static void adding_cuts_and_ignores(void **state)
{
	(void)state;
	assert_int_equal(e820_add(&map, 5, 0, E820_RAM), 0);
	assert_int_equal(map.count, 0);
	assert_int_equal(e820_add(&map, UINT64_MAX - 15, 100, E820_RAM), 0);
	assert_entry(0, UINT64_MAX - 15, 15, E820_RAM);
	assert_int_equal(e820_add(&map, 0, 16, 0), 0);
	assert_entry(1, 0, 16, E820_RESERVED);
}

static void a_full_map_refuses_more(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < E820_MAX_ENTRIES; i++)
		assert_int_equal(e820_add(&map, 2 * i * UNIT, UNIT, E820_RAM), 0);
	assert_int_equal(e820_add(&map, 0, UNIT, E820_RAM), -ENOMEM);
	assert_int_equal(e820_normalize(&map), 0);
	assert_int_equal(map.count, E820_MAX_ENTRIES);
	assert_int_equal(e820_set_type(&map, 0, 1, E820_RESERVED), -ENOMEM);
	assert_entry(0, 0, UNIT, E820_RAM);
	assert_int_equal(e820_set_type(&map, 0, UNIT, E820_RESERVED), 0);
	assert_entry(0, 0, UNIT, E820_RESERVED);
}

static void overlaps_that_split_too_much_change_nothing(void **state)
{
	struct e820_map before;

	(void)state;
	for (uint64_t i = 0; i < E820_MAX_ENTRIES - 1; i++)
		e820_add(&map, 2 * i * UNIT, UNIT, E820_RESERVED);
	e820_add(&map, 0, 2 * E820_MAX_ENTRIES * UNIT, E820_RAM);
	before = map;
	assert_int_equal(e820_normalize(&map), -ENOMEM);
	assert_memory_equal(&map, &before, sizeof(map));
}

static void normalizing_sorts_and_resolves(void **state)
{
	(void)state;
	e820_add(&map, 0x100000, 0x300000, E820_RAM);
	e820_add(&map, 0xf0000, 0x10000, E820_RESERVED);
	e820_add(&map, 0, 0xa0000, E820_RAM);
	e820_add(&map, 0x200000, 0x1000, E820_NVS);
	e820_add(&map, 0x400000, 0x1000, E820_RAM);
	e820_add(&map, 0x200000, 0x2000, E820_ACPI);
	assert_int_equal(e820_normalize(&map), 0);
	assert_int_equal(map.count, 6);
	assert_entry(0, 0, 0xa0000, E820_RAM);
	assert_entry(1, 0xf0000, 0x10000, E820_RESERVED);
	assert_entry(2, 0x100000, 0x100000, E820_RAM);
	assert_entry(3, 0x200000, 0x1000, E820_NVS);
	assert_entry(4, 0x201000, 0x1000, E820_ACPI);
	assert_entry(5, 0x202000, 0x1ff000, E820_RAM);
}

static void normalizing_reaches_the_top_of_the_address_space(void **state)
{
	(void)state;
	e820_add(&map, 0, UINT64_MAX, E820_RAM);
	e820_add(&map, UINT64_MAX - 16, UINT64_MAX, E820_RESERVED);
	assert_int_equal(e820_normalize(&map), 0);
	assert_int_equal(map.count, 2);
	assert_entry(0, 0, UINT64_MAX - 16, E820_RAM);
	assert_entry(1, UINT64_MAX - 16, 16, E820_RESERVED);
}

static void setting_a_type_that_wraps_stops_at_the_top(void **state)
{
	(void)state;
	e820_add(&map, 0x1000, 0x2000, E820_RAM);
	assert_int_equal(e820_set_type(&map, 0x2000, UINT64_MAX, E820_RESERVED), 0);
	assert_entry(0, 0x1000, 0x1000, E820_RAM);
	assert_entry(1, 0x2000, 0x1000, E820_RESERVED);
}

static void finding_survives_numbers_near_the_top(void **state)
{
	(void)state;
	e820_add(&map, 0x1000, 0x3000, E820_RAM);
	e820_add(&map, UINT64_MAX - 0x1fff, 0x1fff, E820_RAM);
	assert_int_equal(e820_find_top(&map, UINT64_MAX, 0x1000, 0, UINT64_MAX), 0);
	assert_true(e820_find_bottom(&map, UINT64_MAX, 0x1000, 0, UINT64_MAX) == UINT64_MAX);
	assert_true(e820_find_bottom(&map, 0x1000, BIT(63), UINT64_MAX - 0x100, UINT64_MAX) ==
		    UINT64_MAX);
	assert_false(e820_covers(&map, 0x2000, UINT64_MAX, E820_RAM));
	assert_int_equal(e820_find_top(&map, 0x1000, 0x1000, 0x5000, 0x4000), 0);
}

static void sums(void **state)
{
	(void)state;
	assert_int_equal(e820_ram_end(&map), 0);
	e820_add(&map, 0, 0x9fc00, E820_RAM);
	e820_add(&map, 0x100000, 0x100000, E820_RAM);
	e820_add(&map, 0xfffc0000, 0x40000, E820_RESERVED);
	assert_int_equal(e820_ram_end(&map), 0x200000);
	assert_int_equal(e820_ram_size(&map), 0x19fc00);
	assert_int_equal(e820_largest_ram(&map, 0, UINT64_MAX), 0x100000);
	assert_int_equal(e820_largest_ram(&map, 0, 0x110000), 0x9fc00);
	assert_int_equal(e820_largest_ram(&map, 0x1f0000, UINT64_MAX), 0x10000);
	assert_int_equal(e820_largest_ram(&map, 0x300000, UINT64_MAX), 0);
}

/* The model: a type for each unit, 0 where there is nothing. */
static uint32_t model[UNITS];

static void model_add(uint64_t first, uint64_t count, uint32_t type)
{
	for (uint64_t i = first; i < first + count; i++) {
		if (type > model[i])
			model[i] = type;
	}
}

static void random_map(uint64_t *random)
{
	uint64_t ranges = random_below(random, 20);

	memset(&map, 0, sizeof(map));
	memset(model, 0, sizeof(model));
	for (uint64_t i = 0; i < ranges; i++) {
		uint64_t first = random_below(random, UNITS);
		uint64_t count = random_below(random, UNITS - first + 1);
		uint32_t type = (uint32_t)random_below(random, 3) + 1;

		if (count > 8 && i % 3 != 0)
			count = 8;
		model_add(first, count, type);
		assert_int_equal(e820_add(&map, first * UNIT, count * UNIT, type), 0);
	}
	assert_int_equal(e820_normalize(&map), 0);
}

/* Sorted, disjoint, joined, and of the model's types everywhere. */
static void assert_is_model(void)
{
	uint32_t seen[UNITS] = {0};

	for (uint32_t i = 0; i < map.count; i++) {
		const struct e820_entry *entry = &map.entry[i];

		assert_true(entry->size > 0);
		if (i > 0) {
			const struct e820_entry *last = entry - 1;

			assert_true(last->base + last->size <= entry->base);
			assert_false(last->base + last->size == entry->base &&
				     last->type == entry->type);
		}
		for (uint64_t at = entry->base / UNIT; at < (entry->base + entry->size) / UNIT;
		     at++)
			seen[at] = entry->type;
	}
	assert_memory_equal(seen, model, sizeof(model));
}

static bool model_covers(uint64_t first, uint64_t count, uint32_t type)
{
	for (uint64_t i = first; i < first + count; i++) {
		if (i >= UNITS || model[i] != type)
			return false;
	}
	return true;
}

static void random_maps_match_the_model(void **state)
{
	uint64_t random = SEED;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		random_map(&random);
		assert_is_model();
	}
}

static void random_retyping_matches_the_model(void **state)
{
	uint64_t random = SEED + 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint64_t first = random_below(&random, UNITS);
		uint64_t count = random_below(&random, UNITS - first + 1);
		uint32_t type = (uint32_t)random_below(&random, 3) + 1;

		random_map(&random);
		for (uint64_t i = first; i < first + count; i++)
			model[i] = model[i] ? type : 0;
		assert_int_equal(e820_set_type(&map, first * UNIT, count * UNIT, type), 0);
		assert_is_model();
	}
}

static uint64_t model_top(uint64_t count, uint64_t align, uint64_t floor, uint64_t limit)
{
	for (uint64_t at = UNITS; at-- > 1;) {
		if (at >= floor && at % align == 0 && at + count <= limit &&
		    model_covers(at, count, E820_RAM))
			return at;
	}
	return 0;
}

static uint64_t model_bottom(uint64_t count, uint64_t align, uint64_t floor, uint64_t limit)
{
	for (uint64_t at = floor; at < UNITS; at++) {
		if (at % align == 0 && at + count <= limit && model_covers(at, count, E820_RAM))
			return at * UNIT;
	}
	return UINT64_MAX;
}

static void random_searches_match_the_model(void **state)
{
	uint64_t random = SEED + 2;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint64_t count = random_below(&random, 12) + 1;
		uint64_t align = 1ull << random_below(&random, 4);
		uint64_t floor = random_below(&random, UNITS);
		uint64_t limit = random_below(&random, UNITS + 8);

		random_map(&random);
		assert_int_equal(
			e820_find_top(&map, count * UNIT, align * UNIT, floor * UNIT, limit * UNIT),
			model_top(count, align, floor, limit) * UNIT);
		assert_int_equal(e820_find_bottom(&map, count * UNIT, align * UNIT, floor * UNIT,
						  limit * UNIT),
				 model_bottom(count, align, floor, limit));
		assert_int_equal(e820_covers(&map, floor * UNIT, count * UNIT, E820_RAM),
				 model_covers(floor, count, E820_RAM));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(adding_cuts_and_ignores, setup),
		cmocka_unit_test_setup(a_full_map_refuses_more, setup),
		cmocka_unit_test_setup(overlaps_that_split_too_much_change_nothing, setup),
		cmocka_unit_test_setup(normalizing_sorts_and_resolves, setup),
		cmocka_unit_test_setup(normalizing_reaches_the_top_of_the_address_space, setup),
		cmocka_unit_test_setup(setting_a_type_that_wraps_stops_at_the_top, setup),
		cmocka_unit_test_setup(finding_survives_numbers_near_the_top, setup),
		cmocka_unit_test_setup(sums, setup),
		cmocka_unit_test(random_maps_match_the_model),
		cmocka_unit_test(random_retyping_matches_the_model),
		cmocka_unit_test(random_searches_match_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
