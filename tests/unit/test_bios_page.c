// SPDX-License-Identifier: GPL-2.0-only
/* The page that stands before the BIOS, who is sent there, and the guest that starts there. */
#include "support.h"

#include "guest/bios_page.h"
#include "guest/disk.h"
#include "lib/errno.h"

#include <string.h>

#define BIOS_INT15 0xf000f859u
#define PAGE	   0x9ec00u /* 4 KiB: code, and a table of 128 ranges */

static struct boot_info boot;
static struct e820_map map;
static struct guest_entry entry;

static uint32_t *vector(unsigned int number)
{
	return arena_at(number * 4);
}

static void set_base_memory(uint16_t kib)
{
	memcpy(arena_at(0x413), &kib, sizeof(kib));
}

static int setup(void **state)
{
	(void)state;
	arena_create(2 * MIB);
	console_clear();
	*vector(0x13) = 0xf000e3fe;
	*vector(0x15) = BIOS_INT15;
	set_base_memory(639);
	memset(&boot, 0, sizeof(boot));
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

static const struct bios_page_data *data(void)
{
	return arena_at(PAGE + (uint64_t)(bios_page_end - bios_page));
}

static void the_page_is_at_the_end_of_conventional_memory(void **state)
{
	uint16_t base_memory;

	(void)state;
	assert_int_equal(disk_load(&boot, &map, 0x81, &entry), 0);
	assert_console_quiet();
	assert_int_equal(entry.eip, PAGE);
	assert_int_equal(entry.esi, PAGE);
	assert_memory_equal(arena_at(PAGE), bios_page, (size_t)(bios_page_end - bios_page));
	memcpy(&base_memory, arena_at(0x413), sizeof(base_memory));
	assert_int_equal(base_memory, PAGE / KIB);
	assert_int_equal(data()->drive, 0x81);
}

static void int15_goes_to_the_page_and_on_to_the_bios(void **state)
{
	(void)state;
	assert_int_equal(disk_load(&boot, &map, 0x80, &entry), 0);
	assert_int_equal(*vector(0x15), PAGE >> 4 << 16 | bios_int15_offset);
	assert_true(bios_int15_offset < bios_page_end - bios_page);
	assert_int_equal(data()->bios_int15, BIOS_INT15);
	assert_int_equal(*vector(0x13), 0xf000e3fe);
}

static void the_answers_are_the_guests_map(void **state)
{
	(void)state;
	assert_int_equal(disk_load(&boot, &map, 0x80, &entry), 0);
	assert_int_equal(data()->range_count, 4); /* the page continues the reserved range */
	assert_int_equal(data()->range[0].size, PAGE);
	assert_int_equal(data()->range[1].base, PAGE);
	assert_int_equal(data()->range[1].type, E820_RESERVED);
	assert_int_equal(data()->range[3].base, 100 * MIB);
	assert_int_equal(data()->extended_kib, 0xfc00);
	assert_int_equal(data()->below_16m_kib, 15 * 1024);
	assert_int_equal(data()->above_16m_64k, 84 * 16);
	assert_memory_equal(data()->range, map.entry, map.count * sizeof(map.entry[0]));
}

static void small_machines_have_small_answers(void **state)
{
	(void)state;
	map.entry[2].size = 7 * MIB;
	assert_int_equal(disk_load(&boot, &map, 0x80, &entry), 0);
	assert_int_equal(data()->extended_kib, 7 * 1024);
	assert_int_equal(data()->below_16m_kib, 7 * 1024);
	assert_int_equal(data()->above_16m_64k, 0);
}

static void the_gdt_leads_to_real_mode(void **state)
{
	const uint64_t *gdt;

	(void)state;
	assert_int_equal(disk_load(&boot, &map, 0x80, &entry), 0);
	gdt = arena_at(entry.gdt_base);
	assert_int_equal(gdt[entry.code_selector / 8], GDT_FLAT_CODE);
	assert_int_equal(gdt[entry.data_selector / 8], GDT_FLAT_DATA);
	assert_int_equal(gdt[BIOS_PAGE_CODE16 / 8] >> 16 & 0xffffff, PAGE);
	assert_int_equal(gdt[BIOS_PAGE_DATA16 / 8] >> 16 & 0xffffff, 0);
	assert_int_equal(entry.gdt_limit, sizeof(data()->gdt) - 1);
}

static void a_machine_without_a_bios_is_told_so(void **state)
{
	(void)state;
	*vector(0x13) = 0;
	assert_int_equal(disk_load(&boot, &map, 0x80, &entry), -ENODEV);
	assert_console(LOG_ERROR, "guest=disk needs a BIOS to read the disk");
	*vector(0x13) = 0xf000e3fe;
	assert_true(bios_is_there(&boot));
	boot.efi.is_there = true;
	assert_false(bios_is_there(&boot));
	boot.efi.is_there = false;
	set_base_memory(0);
	assert_false(bios_is_there(&boot));
	set_base_memory(641);
	assert_false(bios_is_there(&boot));
}

static void modules_are_not_written_over(void **state)
{
	uint64_t page;

	(void)state;
	boot.module_count = 1;
	boot.module[0].start = hpa(0x90000);
	boot.module[0].size = 0x9fc00 - 0x90000;
	assert_int_equal(bios_page_install(&boot, &map, &page), 0);
	assert_int_equal(page, 0x90000 - 4 * KIB);
}

static void no_low_memory_is_told(void **state)
{
	(void)state;
	map.entry[0].type = E820_RESERVED;
	assert_int_equal(disk_load(&boot, &map, 0x80, &entry), -E2BIG);
	assert_console(LOG_ERROR, "no room for 4096 bytes between");
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
		T(modules_are_not_written_over),
		T(no_low_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
