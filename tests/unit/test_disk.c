// SPDX-License-Identifier: GPL-2.0-only
/* guest=disk: the page that stands before the BIOS, and who is sent there. */
#include "support.h"

#include "guest/disk.h"
#include "guest/disk_page.h"
#include "lib/errno.h"

#include <string.h>

#define BIOS_INT15 0xf000f859u
#define PAGE	   0x9ec00u /* 4 KiB: code, and a table of 128 ranges */

static struct e820_map map;
static struct guest_entry entry;

static uint32_t *vector(unsigned int number)
{
	return arena_at(number * 4);
}

static int setup(void **state)
{
	(void)state;
	arena_create(2 * MIB);
	console_clear();
	*vector(0x13) = 0xf000e3fe;
	*vector(0x15) = BIOS_INT15;
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, 0x9fc00, E820_RAM);
	e820_add(&map, 0x9fc00, 0x400, E820_RESERVED);
	e820_add(&map, MIB, 99 * MIB, E820_RAM);
	e820_add(&map, 100 * MIB, 8 * MIB, E820_RESERVED);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static const struct disk_data *data(void)
{
	return arena_at(PAGE + (uint64_t)(disk_entry_end - disk_entry));
}

static void the_page_is_at_the_end_of_conventional_memory(void **state)
{
	uint16_t base_memory;

	(void)state;
	assert_int_equal(disk_load(&map, 0x81, &entry), 0);
	assert_console_quiet();
	assert_int_equal(entry.eip, PAGE);
	assert_int_equal(entry.esi, PAGE);
	assert_memory_equal(arena_at(PAGE), disk_entry, (size_t)(disk_entry_end - disk_entry));
	memcpy(&base_memory, arena_at(0x413), sizeof(base_memory));
	assert_int_equal(base_memory, PAGE / KIB);
	assert_int_equal(data()->drive, 0x81);
}

static void int15_goes_to_the_page_and_on_to_the_bios(void **state)
{
	(void)state;
	assert_int_equal(disk_load(&map, 0x80, &entry), 0);
	assert_int_equal(*vector(0x15), PAGE >> 4 << 16 | disk_int15_offset);
	assert_true(disk_int15_offset < disk_entry_end - disk_entry);
	assert_int_equal(data()->bios_int15, BIOS_INT15);
	assert_int_equal(*vector(0x13), 0xf000e3fe);
}

static void the_answers_are_the_guests_map(void **state)
{
	(void)state;
	assert_int_equal(disk_load(&map, 0x80, &entry), 0);
	assert_int_equal(data()->range_count, 4); /* the page continues the reserved range */
	assert_int_equal(data()->range[0].size, PAGE);
	assert_int_equal(data()->range[1].base, PAGE);
	assert_int_equal(data()->range[1].type, E820_RESERVED);
	assert_int_equal(data()->range[3].base, 100 * MIB);
	assert_int_equal(data()->extended_kib, 0xfc00);
	assert_int_equal(data()->below_16m_kib, 15 * 1024);
	assert_int_equal(data()->above_16m_64k, 84 * 16);
	assert_int_equal(map.count, 4);
	assert_int_equal(map.entry[0].size, 0x9fc00);
}

static void small_machines_have_small_answers(void **state)
{
	(void)state;
	map.entry[2].size = 7 * MIB;
	assert_int_equal(disk_load(&map, 0x80, &entry), 0);
	assert_int_equal(data()->extended_kib, 7 * 1024);
	assert_int_equal(data()->below_16m_kib, 7 * 1024);
	assert_int_equal(data()->above_16m_64k, 0);
}

static void the_gdt_leads_to_real_mode(void **state)
{
	const uint64_t *gdt;

	(void)state;
	assert_int_equal(disk_load(&map, 0x80, &entry), 0);
	gdt = arena_at(entry.gdt_base);
	assert_int_equal(gdt[entry.code_selector / 8], GDT_FLAT_CODE);
	assert_int_equal(gdt[entry.data_selector / 8], GDT_FLAT_DATA);
	assert_int_equal(gdt[DISK_CODE16 / 8] >> 16 & 0xffffff, PAGE);
	assert_int_equal(gdt[DISK_DATA16 / 8] >> 16 & 0xffffff, 0);
	assert_int_equal(entry.gdt_limit, sizeof(data()->gdt) - 1);
}

static void a_machine_without_a_bios_is_told_so(void **state)
{
	(void)state;
	*vector(0x13) = 0;
	assert_int_equal(disk_load(&map, 0x80, &entry), -ENODEV);
	assert_console(LOG_ERROR, "guest=disk needs a BIOS to read the disk (INT 13h)");
}

static void no_low_memory_is_told(void **state)
{
	(void)state;
	map.entry[0].type = E820_RESERVED;
	assert_int_equal(disk_load(&map, 0x80, &entry), -E2BIG);
	assert_console(LOG_ERROR, "guest=disk: no 4096 bytes of RAM free");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(the_page_is_at_the_end_of_conventional_memory),
		T(int15_goes_to_the_page_and_on_to_the_bios),
		T(the_answers_are_the_guests_map),
		T(small_machines_have_small_answers),
		T(the_gdt_leads_to_real_mode),
		T(a_machine_without_a_bios_is_told_so),
		T(no_low_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
