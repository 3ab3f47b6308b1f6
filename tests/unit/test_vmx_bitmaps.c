// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bitmaps of VT-x, bit by bit: what is guarded exits, and not an access more. Offsets
 * are written out here as in SDM volume 3C, 25.6.4 and 25.6.9.
 */
#include "support.h"

#include <string.h>

#include "core/policy.h"
#include "dev/acpi.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/mtrr.h"
#include "mm/physmap.h"
#include "vmx/bitmaps.c"

enum { PORT_MAP_SIZE = 2 * 4096, MSR_MAP_SIZE = 4096, PM1A = 0x604, PM1B = 0x8604 };

#define POOL 8

int acpi_read_power(struct acpi_power *power)
{
	*power = (struct acpi_power){.pm1a_control = PM1A, .pm1b_control = PM1B};
	return 0;
}

void mtrr_for_each(void (*visit)(uint32_t msr))
{
	visit(0x200);
	visit(0x2ff);
}

static int make_pool(void **state)
{
	(void)state;
	console_clear();
	arena_create((1 + POOL) * PAGE_SIZE);
	memset(arena_at(0), 0xa5, (1 + POOL) * PAGE_SIZE);
	frames_init(hpa(PAGE_SIZE), hpa((1 + POOL) * PAGE_SIZE));
	policy_find_power_ports();
	return 0;
}

static void set(uint8_t *bitmap, unsigned int bit)
{
	bitmap[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* A: ports up to 7FFFh, B: the others, one bit each */
static void exactly_the_power_ports_exit(void **state)
{
	static uint8_t expected[PORT_MAP_SIZE];

	(void)state;
	set(expected, 0x64);
	set(expected, 0x92);
	set(expected, 0xcf9);
	set(expected, PM1A + 1);
	set(expected + 4096, PM1B + 1 - 0x8000);
	assert_int_equal(vmx_bitmaps_init(), 0);
	assert_memory_equal(arena_at(vmx_port_bitmap().raw), expected, sizeof(expected));
}

static void set_read(uint8_t *bitmap, uint32_t msr)
{
	set(bitmap + (msr >> 31 ? 0x400 : 0), msr & 0x1fff);
}

static void set_write(uint8_t *bitmap, uint32_t msr)
{
	set(bitmap + (msr >> 31 ? 0xc00 : 0x800), msr & 0x1fff);
}

/* FEATURE_CONTROL, PEBS_ENABLE, VMX, processor trace, DS_AREA, hardware feedback */
static bool is_hidden(uint32_t msr)
{
	return msr == 0x3a || msr == 0x3f1 || (msr >= 0x480 && msr <= 0x493) ||
	       (msr >= 0x560 && msr <= 0x587) || msr == 0x600 || (msr >= 0x17d0 && msr <= 0x17d4);
}

static void exactly_the_guarded_msrs_exit(void **state)
{
	static uint8_t expected[MSR_MAP_SIZE];

	(void)state;
	set_write(expected, 0x1b);
	set_write(expected, 0x1a0);
	set_write(expected, 0x200);
	set_write(expected, 0x2ff);
	for (uint32_t msr = 0; msr < 0x2000; msr++) {
		if (!is_hidden(msr))
			continue;
		set_read(expected, msr);
		set_write(expected, msr);
	}
	set_read(expected, 0xc0000080);
	set_write(expected, 0xc0000080);
	assert_int_equal(vmx_bitmaps_init(), 0);
	assert_memory_equal(arena_at(vmx_msr_bitmap().raw), expected, sizeof(expected));
}

static void an_msr_beyond_the_bitmap_sets_no_bit(void **state)
{
	static const uint32_t beyond[] = {0x2000, 0x40000000, 0xbfffffff, 0xc0002000, 0xffffffff};
	uint8_t before[MSR_MAP_SIZE];

	(void)state;
	assert_int_equal(vmx_bitmaps_init(), 0);
	memcpy(before, msr_bitmap, sizeof(before));
	for (unsigned int i = 0; i < ARRAY_SIZE(beyond); i++)
		guard_msr(beyond[i], true, true);
	assert_memory_equal(msr_bitmap, before, sizeof(before));
	guard_msr(0x1fff, true, false);
	guard_msr(0xc0001fff, false, true);
	assert_int_equal(msr_bitmap[0x3ff], 0x80);
	assert_int_equal(msr_bitmap[0xfff], 0x80);
}

static void the_maps_are_whole_pages_of_their_own(void **state)
{
	uint64_t ports, msrs;

	(void)state;
	assert_int_equal(vmx_bitmaps_init(), 0);
	ports = vmx_port_bitmap().raw;
	msrs = vmx_msr_bitmap().raw;
	assert_int_equal(frames_free_count(), POOL - 3);
	assert_true(is_aligned(ports | msrs, PAGE_SIZE));
	assert_true(ports + PORT_MAP_SIZE <= msrs || msrs + MSR_MAP_SIZE <= ports);
}

static void without_frames_there_are_no_maps(void **state)
{
	(void)state;
	frames_init(hpa(PAGE_SIZE), hpa(3 * PAGE_SIZE)); /* one too few */
	assert_int_equal(vmx_bitmaps_init(), -ENOMEM);
	frames_init(hpa(PAGE_SIZE), hpa(PAGE_SIZE));
	assert_int_equal(vmx_bitmaps_init(), -ENOMEM);
}

static void released_ports_no_longer_exit(void **state)
{
	static uint8_t expected[PORT_MAP_SIZE];

	(void)state;
	set(expected, 0x92);
	set(expected, PM1A + 1);
	assert_int_equal(vmx_bitmaps_init(), 0);
	vmx_release_port(NULL, 0x64);
	vmx_release_port(NULL, 0xcf9);
	vmx_release_port(NULL, 0xcf8); /* was not guarded */
	vmx_release_port(NULL, PM1B + 1);
	vmx_release_port(NULL, 0);
	vmx_release_port(NULL, 0xffff);
	assert_memory_equal(arena_at(vmx_port_bitmap().raw), expected, sizeof(expected));
}

static void the_msrs_of_vmx_are_hidden_and_no_others(void **state)
{
	(void)state;
	for (uint32_t msr = 0; msr < 0x2000; msr++) {
		assert_int_equal(vmx_hides_msr(msr), is_hidden(msr));
		assert_false(vmx_hides_msr(0xc0000000 + msr));
		assert_false(vmx_keeps_msr(msr));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(exactly_the_power_ports_exit, make_pool),
		cmocka_unit_test_setup(exactly_the_guarded_msrs_exit, make_pool),
		cmocka_unit_test_setup(an_msr_beyond_the_bitmap_sets_no_bit, make_pool),
		cmocka_unit_test_setup(the_maps_are_whole_pages_of_their_own, make_pool),
		cmocka_unit_test_setup(without_frames_there_are_no_maps, make_pool),
		cmocka_unit_test_setup(released_ports_no_longer_exit, make_pool),
		cmocka_unit_test_setup(the_msrs_of_vmx_are_hidden_and_no_others, make_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
