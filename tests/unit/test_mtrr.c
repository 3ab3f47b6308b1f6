// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory types by address: the manual's rules (APM volume 2, 7.7), the question whether a
 * block has one type, against a page-by-page count, and the reading of the registers.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "mm/mtrr.h"

static uint64_t fake_rdmsr(uint32_t msr);
static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf);

#define rdmsr(msr)	     fake_rdmsr(msr)
#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "mm/mtrr_read.c"

#define ADDRESS_MASK 0x0000ffffffffffffull

static struct mtrr_state mtrr;

static int reset_mtrr(void **state)
{
	(void)state;
	mtrr = (struct mtrr_state){.enabled = true, .default_type = MEMORY_UC};
	return 0;
}

static void add_range(uint64_t base, uint64_t size, enum memory_type type)
{
	unsigned int i = mtrr.variable_count++;

	mtrr.variable[i].base = base;
	mtrr.variable[i].mask = ADDRESS_MASK & ~(size - 1);
	mtrr.variable[i].type = type;
}

static void assert_type(uint64_t address, enum memory_type type)
{
	assert_int_equal(mtrr_type(&mtrr, address), type);
}

/* ---- the type of an address ---- */

static void without_mtrrs_all_is_uncached_and_uniform(void **state)
{
	(void)state;
	mtrr.enabled = false;
	mtrr.default_type = MEMORY_WB;
	mtrr.fixed_enabled = true;
	add_range(0, 2 * MIB, MEMORY_WB);
	assert_type(0, MEMORY_UC);
	assert_type(1 * GIB, MEMORY_UC);
	assert_true(mtrr_is_uniform(&mtrr, 0, 1 * GIB));
}

/* Range number i has type i here, which is a test's own freedom. */
static void each_fixed_range_is_where_the_manual_has_it(void **state)
{
	uint64_t address = 0;

	(void)state;
	mtrr.fixed_enabled = true;
	for (unsigned int i = 0; i < MTRR_FIXED_COUNT; i++)
		mtrr.fixed[i] = (uint8_t)i;
	for (unsigned int i = 0; i < MTRR_FIXED_COUNT; i++) {
		uint64_t size = i < 8 ? 64 * KIB : i < 24 ? 16 * KIB : 4 * KIB;

		assert_int_equal(mtrr_type(&mtrr, address), i);
		assert_int_equal(mtrr_type(&mtrr, address + size - 1), i);
		address += size;
	}
	assert_int_equal(address, 1 * MIB);
	assert_type(1 * MIB, MEMORY_UC);
}

static void fixed_ranges_count_only_when_enabled_and_win_then(void **state)
{
	(void)state;
	memset(mtrr.fixed, MEMORY_WP, sizeof(mtrr.fixed));
	add_range(0, 2 * MIB, MEMORY_WB);
	assert_type(0xc0000, MEMORY_WB);
	mtrr.fixed_enabled = true;
	assert_type(0xc0000, MEMORY_WP);
	assert_type(1 * MIB - 1, MEMORY_WP);
	assert_type(1 * MIB, MEMORY_WB);
}

static void outside_of_all_ranges_the_default_holds(void **state)
{
	(void)state;
	mtrr.default_type = MEMORY_WT;
	add_range(4 * MIB, 4 * MIB, MEMORY_WB);
	assert_type(4 * MIB - 1, MEMORY_WT);
	assert_type(4 * MIB, MEMORY_WB);
	assert_type(8 * MIB - 1, MEMORY_WB);
	assert_type(8 * MIB, MEMORY_WT);
}

static void base_bits_outside_of_the_mask_do_not_count(void **state)
{
	(void)state;
	add_range(4 * MIB + 3 * PAGE_SIZE, 4 * MIB, MEMORY_WB);
	assert_type(4 * MIB, MEMORY_WB);
	assert_type(8 * MIB - 1, MEMORY_WB);
	assert_type(8 * MIB, MEMORY_UC);
}

static void the_default_does_not_mix_with_a_range(void **state)
{
	(void)state;
	mtrr.default_type = MEMORY_UC;
	add_range(0, 4 * MIB, MEMORY_WB);
	assert_type(0, MEMORY_WB);
}

static void overlap_is_in_both_orders(enum memory_type a, enum memory_type b,
				      enum memory_type result)
{
	reset_mtrr(NULL);
	add_range(0, 8 * MIB, a);
	add_range(4 * MIB, 4 * MIB, b);
	assert_type(4 * MIB, result);
	assert_type(0, a);
	reset_mtrr(NULL);
	add_range(0, 8 * MIB, b);
	add_range(4 * MIB, 4 * MIB, a);
	assert_type(4 * MIB, result);
}

static void overlaps_combine_as_the_manual_says(void **state)
{
	static const enum memory_type all[] = {MEMORY_UC, MEMORY_WC, MEMORY_WT, MEMORY_WP,
					       MEMORY_WB};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		overlap_is_in_both_orders(all[i], all[i], all[i]);
		overlap_is_in_both_orders(all[i], MEMORY_UC, MEMORY_UC);
	}
	overlap_is_in_both_orders(MEMORY_WT, MEMORY_WB, MEMORY_WT);
	overlap_is_in_both_orders(MEMORY_WC, MEMORY_WB, MEMORY_UC); /* left open there */
	overlap_is_in_both_orders(MEMORY_WP, MEMORY_WT, MEMORY_UC);
}

static void three_ranges_combine_too(void **state)
{
	(void)state;
	add_range(0, 8 * MIB, MEMORY_WB);
	add_range(0, 4 * MIB, MEMORY_WT);
	add_range(0, 2 * MIB, MEMORY_UC);
	assert_type(0, MEMORY_UC);
	assert_type(2 * MIB, MEMORY_WT);
	assert_type(4 * MIB, MEMORY_WB);
}

/* ---- one type for all of a block ---- */

static void with_fixed_ranges_only_pages_below_1_mib_are_uniform(void **state)
{
	(void)state;
	mtrr.fixed_enabled = true;
	assert_true(mtrr_is_uniform(&mtrr, 0xff000, PAGE_SIZE));
	assert_false(mtrr_is_uniform(&mtrr, 0xfe000, 2 * PAGE_SIZE));
	assert_false(mtrr_is_uniform(&mtrr, 0, 1 * GIB));
	assert_true(mtrr_is_uniform(&mtrr, 2 * MIB, 2 * MIB));
	mtrr.fixed_enabled = false;
	assert_true(mtrr_is_uniform(&mtrr, 0, 1 * GIB));
}

static void a_range_divides_what_it_covers_in_part(void **state)
{
	(void)state;
	add_range(3 * GIB, 1 * GIB, MEMORY_WB);
	add_range(2 * MIB, PAGE_SIZE, MEMORY_WC);
	assert_true(mtrr_is_uniform(&mtrr, 3 * GIB, 1 * GIB));
	assert_false(mtrr_is_uniform(&mtrr, 2 * GIB, 2 * GIB));
	assert_false(mtrr_is_uniform(&mtrr, 2 * MIB, 2 * MIB));
	assert_true(mtrr_is_uniform(&mtrr, 2 * MIB, PAGE_SIZE));
	assert_true(mtrr_is_uniform(&mtrr, 4 * MIB, 2 * MIB));
	assert_true(mtrr_is_uniform(&mtrr, 1 * GIB, 1 * GIB));
}

enum { REGION_PAGES = 64 };

/* True if the range covers some pages of the block, and others not. */
static bool divides(unsigned int range, uint64_t base, uint64_t size)
{
	unsigned int covered = 0;

	for (uint64_t page = base; page < base + size; page += PAGE_SIZE)
		covered += (page & mtrr.variable[range].mask) ==
			   (mtrr.variable[range].base & mtrr.variable[range].mask);
	return covered != 0 && covered != size / PAGE_SIZE;
}

static void check_block(uint64_t base, uint64_t size)
{
	bool divided = false;

	for (unsigned int i = 0; i < mtrr.variable_count; i++)
		divided = divided || divides(i, base, size);
	assert_int_equal(mtrr_is_uniform(&mtrr, base, size), !divided);
	for (uint64_t page = base; page < base + size && !divided; page += PAGE_SIZE)
		assert_type(page, mtrr_type(&mtrr, base));
}

/* Masks with holes in them, too: nothing forbids them, and they match every so often. */
static void random_range(uint64_t *random)
{
	static const enum memory_type all[] = {MEMORY_UC, MEMORY_WC, MEMORY_WT, MEMORY_WP,
					       MEMORY_WB};
	uint64_t size = PAGE_SIZE << random_below(random, 7);
	uint64_t base = random_below(random, REGION_PAGES + 16) * PAGE_SIZE;
	unsigned int i = mtrr.variable_count;

	add_range(base, size, all[random_below(random, ARRAY_SIZE(all))]);
	if (random_below(random, 3) == 0)
		mtrr.variable[i].mask &= ~(random_below(random, REGION_PAGES) * PAGE_SIZE);
}

static void uniform_is_what_a_count_of_pages_says(void **state)
{
	uint64_t random = 3;

	for (int round = 0; round < 2000; round++) {
		reset_mtrr(state);
		for (uint64_t ranges = random_below(&random, 5); ranges > 0; ranges--)
			random_range(&random);
		for (uint64_t size = PAGE_SIZE; size <= REGION_PAGES * PAGE_SIZE; size *= 2)
			for (uint64_t base = 0; base < REGION_PAGES * PAGE_SIZE; base += size)
				check_block(base, size);
	}
}

/* ---- from the registers ---- */

static uint64_t msr_default, msr_cap;
static bool machine_has_mtrrs;

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	assert_int_equal(leaf, CPUID_FEATURES);
	return (struct cpuid_result){.edx = machine_has_mtrrs ? CPUID_1_EDX_MTRR : 0};
}

/* Variable range n: base n GiB, type n, 64 KiB large; the even ones are valid. */
static uint64_t fake_rdmsr(uint32_t msr)
{
	unsigned int n = (msr - MSR_MTRR_VARIABLE) / 2;

	assert_true(machine_has_mtrrs);
	if (msr == MSR_MTRR_DEF_TYPE)
		return msr_default;
	if (msr == MSR_MTRR_CAP)
		return msr_cap;
	if (msr == MSR_MTRR_FIX64K)
		return 0x0706050403020100;
	if (msr >= MSR_MTRR_FIX16K && msr <= MSR_MTRR_FIX4K + 7)
		return 0x0101010101010101 * (msr & 0xff);
	assert_in_range(msr, MSR_MTRR_VARIABLE, MSR_MTRR_VARIABLE + 2 * (msr_cap & 0xff) - 1);
	if (msr % 2 == 0)
		return n * GIB | n;
	return 0x0000ffffffff0000 | (n % 2 == 0 ? BIT(11) : 0);
}

static void read_registers(bool present, uint64_t cap, uint64_t default_type)
{
	machine_has_mtrrs = present;
	msr_cap = cap;
	msr_default = default_type;
	mtrr_read(&mtrr);
}

static void a_processor_without_mtrrs_is_write_back(void **state)
{
	(void)state;
	read_registers(false, 0, 0);
	assert_type(0, MEMORY_WB);
	assert_true(mtrr_is_uniform(&mtrr, 0, 1 * GIB));
}

static void only_valid_variable_ranges_are_taken(void **state)
{
	(void)state;
	read_registers(true, 0xf00 | 6, 0x800 | MEMORY_WC); /* upper bits are no count */
	assert_true(mtrr.enabled);
	assert_false(mtrr.fixed_enabled);
	assert_int_equal(mtrr.default_type, MEMORY_WC);
	assert_int_equal(mtrr.variable_count, 3);
	assert_int_equal(mtrr.variable[2].base, 4 * GIB);
	assert_int_equal(mtrr.variable[2].mask, 0x0000ffffffff0000);
	assert_int_equal(mtrr.variable[2].type, 4);
}

static void more_ranges_than_there_is_room_for_are_left_out(void **state)
{
	(void)state;
	read_registers(true, 40, 0x800);
	assert_int_equal(mtrr.variable_count, MTRR_VARIABLE_MAX / 2);
}

static void fixed_ranges_are_read_in_the_registers_order(void **state)
{
	(void)state;
	read_registers(true, 0, 0xc00);
	assert_true(mtrr.fixed_enabled);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(mtrr.fixed[i], i);
	for (unsigned int i = 8; i < MTRR_FIXED_COUNT; i++) {
		unsigned int msr =
			i < 24 ? MSR_MTRR_FIX16K + (i - 8) / 8 : MSR_MTRR_FIX4K + (i - 24) / 8;

		assert_int_equal(mtrr.fixed[i], msr & 0xff);
	}
}

static void switched_off_means_disabled(void **state)
{
	(void)state;
	read_registers(true, 2, 0x400 | MEMORY_WB);
	assert_false(mtrr.enabled);
	assert_type(0, MEMORY_UC);
}

/* ---- which registers they are ---- */

static unsigned int visits;

static void note_visit(uint32_t msr)
{
	visits++;
	assert_true(mtrr_is_one(msr));
}

static void each_mtrr_is_visited(void **state)
{
	unsigned int found = 0;

	(void)state;
	read_registers(true, 0xf00 | 3, 0x800);
	visits = 0;
	mtrr_for_each(note_visit);
	assert_int_equal(visits, 1 + 11 + 2 * 3);
	for (uint32_t msr = 0; msr < 0x1000; msr++)
		found += mtrr_is_one(msr);
	assert_int_equal(found, visits);
	assert_true(mtrr_is_one(0x205));
	assert_false(mtrr_is_one(0x206)); /* a fourth range, of three */
	assert_false(mtrr_is_one(MSR_MTRR_CAP));
	assert_false(mtrr_is_one(MSR_PAT));
}

static void without_mtrrs_none_is_visited(void **state)
{
	(void)state;
	read_registers(false, 0, 0);
	visits = 0;
	mtrr_for_each(note_visit);
	assert_int_equal(visits, 0);
	assert_false(mtrr_is_one(MSR_MTRR_VARIABLE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_mtrrs_all_is_uncached_and_uniform, reset_mtrr),
		cmocka_unit_test_setup(each_fixed_range_is_where_the_manual_has_it, reset_mtrr),
		cmocka_unit_test_setup(fixed_ranges_count_only_when_enabled_and_win_then,
				       reset_mtrr),
		cmocka_unit_test_setup(outside_of_all_ranges_the_default_holds, reset_mtrr),
		cmocka_unit_test_setup(base_bits_outside_of_the_mask_do_not_count, reset_mtrr),
		cmocka_unit_test_setup(the_default_does_not_mix_with_a_range, reset_mtrr),
		cmocka_unit_test_setup(overlaps_combine_as_the_manual_says, reset_mtrr),
		cmocka_unit_test_setup(three_ranges_combine_too, reset_mtrr),
		cmocka_unit_test_setup(with_fixed_ranges_only_pages_below_1_mib_are_uniform,
				       reset_mtrr),
		cmocka_unit_test_setup(a_range_divides_what_it_covers_in_part, reset_mtrr),
		cmocka_unit_test_setup(uniform_is_what_a_count_of_pages_says, reset_mtrr),
		cmocka_unit_test_setup(a_processor_without_mtrrs_is_write_back, reset_mtrr),
		cmocka_unit_test_setup(only_valid_variable_ranges_are_taken, reset_mtrr),
		cmocka_unit_test_setup(more_ranges_than_there_is_room_for_are_left_out, reset_mtrr),
		cmocka_unit_test_setup(fixed_ranges_are_read_in_the_registers_order, reset_mtrr),
		cmocka_unit_test_setup(switched_off_means_disabled, reset_mtrr),
		cmocka_unit_test_setup(each_mtrr_is_visited, reset_mtrr),
		cmocka_unit_test_setup(without_mtrrs_none_is_visited, reset_mtrr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
