// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk that is shown is the one that counts: it leads where guest_memory_translate() leads,
 * in each paging mode, over random tables.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "debug/walk.h"
#include "guest/e820.h"
#include "mm/guest_memory.h"

#define RAM_SIZE (64 * PAGE_SIZE)
#define TABLE	 0x1000

static struct guest_paging paging;
static struct walk walk;

static int make_memory(void **state)
{
	static struct e820_map map = {.count = 1, .entry = {{0, RAM_SIZE, E820_RAM}}};

	(void)state;
	arena_create(RAM_SIZE);
	guest_memory_init(&map);
	paging = (struct guest_paging){.cr0 = CR0_PE | CR0_PG, .cr3 = TABLE};
	return 0;
}

static void set32(uint64_t table, unsigned int index, uint32_t entry)
{
	memcpy(arena_at(table + index * 4), &entry, sizeof(entry));
}

static void each_step_is_shown(void **state)
{
	(void)state;
	set32(0x1000, 0x300, 0x2063);
	set32(0x2000, 0x012, 0x3001);
	walk_guest(&paging, 0xc0012345, &walk);
	assert_int_equal(walk.count, 2);
	assert_null(walk.wrong);
	assert_string_equal(walk.step[0].name, "PD");
	assert_int_equal(walk.step[0].table, 0x1000);
	assert_int_equal(walk.step[0].index, 0x300);
	assert_int_equal(walk.step[0].entry, 0x2063);
	assert_false(walk.step[0].leaf);
	assert_string_equal(walk.step[1].name, "PT");
	assert_int_equal(walk.step[1].entry, 0x3001);
	assert_true(walk.step[1].leaf);
	assert_int_equal(walk.address.raw, 0x3345);
	assert_int_equal(walk.page, PAGE_SIZE);
}

static void what_is_wrong_is_said_at_its_level(void **state)
{
	(void)state;
	set32(0x1000, 0x300, 0x2062);
	walk_guest(&paging, 0xc0012345, &walk);
	assert_int_equal(walk.count, 1);
	assert_string_equal(walk.wrong, "this entry is not present");
	set32(0x1000, 0x300, 0xfff00001);
	walk_guest(&paging, 0xc0012345, &walk);
	assert_int_equal(walk.count, 2);
	assert_string_equal(walk.wrong, "this table is no memory of the guest's");
	paging.cr4 = CR4_PAE;
	paging.efer = EFER_LMA;
	walk_guest(&paging, 0x800000000000, &walk);
	assert_int_equal(walk.count, 0);
	assert_string_equal(walk.wrong, "this address is not canonical");
}

static void without_paging_an_address_is_its_own(void **state)
{
	(void)state;
	paging.cr0 = CR0_PE;
	walk_guest(&paging, 0x1234, &walk);
	assert_int_equal(walk.count, 0);
	assert_null(walk.wrong);
	assert_int_equal(walk.address.raw, 0x1234);
}

static void pae_has_no_rights_at_its_top(void **state)
{
	uint64_t top = 0x2001, directory = 0x40000000000000e7;

	(void)state;
	paging.cr4 = CR4_PAE;
	paging.cr3 = TABLE + 0x20;
	memcpy(arena_at(TABLE + 0x20 + 3 * 8), &top, 8);
	memcpy(arena_at(0x2000 + 1 * 8), &directory, 8);
	walk_guest(&paging, 0xc0212345, &walk);
	assert_int_equal(walk.count, 2);
	assert_false(walk.step[0].has_rights);
	assert_true(walk.step[1].has_rights);
	assert_int_equal(walk.page, 2 * MIB);
	assert_int_equal(walk.address.raw, 0x12345);
}

static void choose_mode(unsigned int mode)
{
	static const uint64_t cr4[] = {0, CR4_PSE, CR4_PAE, CR4_PAE, CR4_PAE | CR4_LA57};

	paging.cr4 = cr4[mode];
	paging.efer = mode >= 3 ? EFER_LMA : 0;
	paging.cr3 = TABLE | (mode == 2 ? 0x40 : 0);
}

static void random_tables_lead_to_the_same_place(void **state)
{
	uint64_t random = 7;
	unsigned int mapped = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t address = random_next(&random);
		gpa_t expected;
		int error;

		for (int k = 0; k < 16; k++) {
			uint64_t entry =
				random_below(&random, RAM_SIZE / PAGE_SIZE + 2) * PAGE_SIZE;

			entry |= random_next(&random) & 0xfff;
			entry |= random_below(&random, 8) ? 1 : 0;
			memcpy(arena_at(random_below(&random, RAM_SIZE / 8) * 8), &entry, 8);
		}
		choose_mode((unsigned int)random_below(&random, 5));
		address = (uint64_t)((int64_t)(address << 16) >> 16); /* canonical, all levels */
		error = guest_memory_translate(&paging, gva(address), &expected);
		walk_guest(&paging, address, &walk);
		assert_int_equal(!walk.wrong, !error);
		assert_true(walk.count <= WALK_LEVELS_MAX);
		if (error)
			continue;
		assert_int_equal(walk.address.raw, expected.raw);
		mapped++;
	}
	assert_true(mapped > 1000);
}

#define TEST(name) cmocka_unit_test_setup(name, make_memory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_step_is_shown),
		TEST(what_is_wrong_is_said_at_its_level),
		TEST(without_paging_an_address_is_its_own),
		TEST(pae_has_no_rights_at_its_top),
		TEST(random_tables_lead_to_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
