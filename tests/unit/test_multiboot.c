// SPDX-License-Identifier: GPL-2.0-only
/* Multiboot 1 information in an arena, right and wrong in every way a loader could be. */
#include "support.h"

#include "boot/multiboot.h"
#include "boot/multiboot_format.h"
#include "lib/errno.h"

#include <string.h>

#define ARENA_SIZE     (2 * MIB)
#define INFO_AT	       0x9000
#define MMAP_AT	       0xa000
#define MODULES_AT     0xc000
#define STRINGS_AT     0xd000
#define LONG_STRING_AT 0xe000

static struct multiboot_info *info;
static struct boot_info boot;

static uint32_t put_string(uint64_t address, const char *text)
{
	strcpy(arena_at(address), text);
	return (uint32_t)address;
}

/* size: what the entry's size field says, 20 or more. */
static void mmap_add(uint32_t size, uint64_t base, uint64_t length, uint32_t type)
{
	struct multiboot_mmap_entry entry = {size, base, length, type};
	uint8_t *at = arena_at(MMAP_AT + info->mmap_length);

	memset(at, 0xff, size + sizeof(entry.size));
	memcpy(at, &entry, sizeof(entry));
	info->mmap_length += size + (uint32_t)sizeof(entry.size);
}

static void module_add(uint32_t start, uint32_t end, uint32_t string)
{
	struct multiboot_module *modules = arena_at(MODULES_AT);

	modules[info->mods_count++] = (struct multiboot_module){start, end, string, 0};
}

static int setup(void **state)
{
	(void)state;
	arena_create(ARENA_SIZE);
	console_clear();
	info = arena_at(INFO_AT);
	info->flags = MULTIBOOT_INFO_MMAP | MULTIBOOT_INFO_MODULES | MULTIBOOT_INFO_CMDLINE |
		      MULTIBOOT_INFO_LOADER_NAME;
	info->mmap_addr = MMAP_AT;
	info->mods_addr = MODULES_AT;
	info->cmdline = put_string(STRINGS_AT, "vellum mode=hv");
	info->boot_loader_name = put_string(STRINGS_AT + 0x100, "iPXE 1.21.1");
	mmap_add(20, 0x100000, 0x100000, E820_RAM);
	mmap_add(24, 0, 0x9fc00, E820_RAM);
	mmap_add(20, 0x9fc00, 0x400, E820_RESERVED);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static int multiboot(void)
{
	memset(&boot, 0xee, sizeof(boot));
	return multiboot_read(hpa(INFO_AT), &boot);
}

static void everything_is_copied(void **state)
{
	(void)state;
	module_add(0x110000, 0x112345, put_string(STRINGS_AT + 0x200, "bzImage quiet"));
	module_add(0x113000, 0x113000, 0);
	assert_int_equal(multiboot(), 0);
	assert_console_quiet();
	memset(arena_at(0), 0xff, ARENA_SIZE);
	assert_string_equal(boot.command_line, "vellum mode=hv");
	assert_string_equal(boot.loader, "iPXE 1.21.1");
	assert_int_equal(boot.module_count, 2);
	assert_int_equal(boot.module[0].start.raw, 0x110000);
	assert_int_equal(boot.module[0].size, 0x2345);
	assert_string_equal(boot.module[0].string, "bzImage quiet");
	assert_int_equal(boot.module[1].size, 0);
	assert_string_equal(boot.module[1].string, "");
	assert_int_equal(boot.framebuffer.width, 0);
}

static void the_map_is_normalized_whatever_the_entry_size(void **state)
{
	(void)state;
	mmap_add(60, 0x180000, 0x1000, E820_ACPI);
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.memory.count, 5);
	assert_int_equal(boot.memory.entry[0].base, 0);
	assert_int_equal(boot.memory.entry[0].size, 0x9fc00);
	assert_int_equal(boot.memory.entry[2].base, 0x100000);
	assert_int_equal(boot.memory.entry[3].type, E820_ACPI);
	assert_int_equal(e820_ram_size(&boot.memory), 0x9fc00 + 0x100000 - 0x1000);
}

static void information_must_be_in_memory(void **state)
{
	(void)state;
	assert_int_equal(multiboot_read(hpa(ARENA_SIZE - 8), &boot), -EINVAL);
	assert_int_equal(multiboot_read(hpa(UINT64_MAX - 3), &boot), -EINVAL);
	assert_console(LOG_ERROR, "out of memory");
}

static void without_a_map_the_two_sizes_serve(void **state)
{
	(void)state;
	info->flags = MULTIBOOT_INFO_MEMORY;
	info->mem_lower = 639;
	info->mem_upper = 0x7ffc00; /* up to 8 GiB: more than 32 bits of bytes */
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.memory.count, 2);
	assert_int_equal(boot.memory.entry[0].size, 639 * KIB);
	assert_int_equal(e820_ram_end(&boot.memory), 8 * GIB);
	assert_string_equal(boot.command_line, "");
	assert_int_equal(boot.module_count, 0);
}

static void no_map_at_all_is_an_error(void **state)
{
	(void)state;
	info->flags = MULTIBOOT_INFO_CMDLINE;
	assert_int_equal(multiboot(), -ENOENT);
	assert_console(LOG_ERROR, "no memory map (flags 0x4)");
}

static void a_map_without_ram_is_an_error(void **state)
{
	(void)state;
	info->mmap_length = 0;
	mmap_add(20, 0, 0x1000, E820_RESERVED);
	assert_int_equal(multiboot(), -ENOENT);
	assert_console(LOG_ERROR, "no RAM in its 1 ranges");
}

static void a_short_entry_is_an_error(void **state)
{
	(void)state;
	*(uint32_t *)arena_at(MMAP_AT) = 16;
	assert_int_equal(multiboot(), -EINVAL);
	assert_console(LOG_ERROR, "entry at 0xa000 has 16 bytes, at least 20 needed");
}

static void a_size_of_zero_does_not_loop(void **state)
{
	(void)state;
	*(uint32_t *)arena_at(MMAP_AT) = 0;
	assert_int_equal(multiboot(), -EINVAL);
}

static void a_huge_entry_size_ends_the_map(void **state)
{
	(void)state;
	*(uint32_t *)arena_at(MMAP_AT) = UINT32_MAX;
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.memory.count, 1);
}

static void a_map_that_ends_inside_an_entry_is_an_error(void **state)
{
	(void)state;
	info->mmap_length -= 1;
	assert_int_equal(multiboot(), -EINVAL);
	assert_console(LOG_ERROR, "ends outside the map");
}

static void a_map_out_of_memory_is_an_error(void **state)
{
	(void)state;
	info->mmap_addr = UINT32_MAX - 10;
	assert_int_equal(multiboot(), -EINVAL);
	info->mmap_addr = ARENA_SIZE - 10;
	assert_int_equal(multiboot(), -EINVAL);
}

static void a_map_of_many_small_neighbours_is_joined(void **state)
{
	(void)state;
	info->mmap_length = 0;
	for (uint64_t i = 0; i < 3 * E820_MAX_ENTRIES / 2; i++)
		mmap_add(20, i * PAGE_SIZE, PAGE_SIZE, E820_RAM);
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.memory.count, 1);
	assert_int_equal(boot.memory.entry[0].size, 3 * E820_MAX_ENTRIES / 2 * PAGE_SIZE);
}

static void a_map_with_too_many_holes_is_an_error(void **state)
{
	(void)state;
	info->mmap_length = 0;
	for (uint64_t i = 0; i < E820_MAX_ENTRIES + 1; i++)
		mmap_add(20, 2 * i * PAGE_SIZE, PAGE_SIZE, E820_RAM);
	assert_int_equal(multiboot(), -E2BIG);
	assert_console(LOG_ERROR, "more than 128 ranges");
}

static void too_many_modules_are_counted(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < BOOT_MAX_MODULES + 3; i++)
		module_add(0x100000, 0x100001, 0);
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.module_count, BOOT_MAX_MODULES);
	assert_console(LOG_WARN, "more than 8 modules given, only the first 8 are used");
}

static void a_module_that_ends_before_its_start_is_an_error(void **state)
{
	(void)state;
	module_add(0x100000, 0x100010, 0);
	module_add(0x100010, 0x10000f, 0);
	assert_int_equal(multiboot(), -EINVAL);
	assert_console(LOG_ERROR, "module 1 ends at 0x10000f, before its start at 0x100010");
}

static void modules_must_be_in_memory(void **state)
{
	(void)state;
	module_add(0x100000, ARENA_SIZE, 0);
	assert_int_equal(multiboot(), 0);
	module_add(0x100000, ARENA_SIZE + 1, 0);
	assert_int_equal(multiboot(), -EINVAL);
	assert_console(LOG_ERROR, "module 1 ends at 0x200001, beyond the memory mapped, 0x200000");
	info->mods_addr = UINT32_MAX - 4;
	assert_int_equal(multiboot(), -EINVAL);
	assert_console(LOG_ERROR, "entry of module 0 is out of memory, at 0xfffffffb");
}

static void long_strings_are_cut(void **state)
{
	char *text = arena_at(LONG_STRING_AT);

	(void)state;
	info->cmdline = LONG_STRING_AT;
	memset(text, 'x', BOOT_STRING_SIZE);
	text[BOOT_STRING_SIZE - 1] = '\0';
	assert_int_equal(multiboot(), 0);
	assert_int_equal(strlen(boot.command_line), BOOT_STRING_SIZE - 1);
	assert_console_quiet();
	text[BOOT_STRING_SIZE - 1] = 'x';
	assert_int_equal(multiboot(), 0);
	assert_int_equal(strlen(boot.command_line), BOOT_STRING_SIZE - 1);
	assert_console(LOG_WARN, "the command line is longer than 2047 bytes");
}

static void strings_end_where_memory_does(void **state)
{
	(void)state;
	memset(arena_at(ARENA_SIZE - 5), 'x', 5);
	info->cmdline = ARENA_SIZE - 5;
	info->boot_loader_name = ARENA_SIZE;
	assert_int_equal(multiboot(), 0);
	assert_string_equal(boot.command_line, "xxxxx");
	assert_string_equal(boot.loader, "");
}

static void only_a_direct_colour_framebuffer_counts(void **state)
{
	(void)state;
	info->flags |= MULTIBOOT_INFO_FRAMEBUFFER;
	info->framebuffer_addr = 0x1fd000000;
	info->framebuffer_pitch = 3200;
	info->framebuffer_width = 800;
	info->framebuffer_height = 600;
	info->framebuffer_bpp = 32;
	info->red_position = 16;
	info->blue_size = 8;
	info->framebuffer_type = 2; /* EGA text */
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.framebuffer.width, 0);
	info->framebuffer_type = 1;
	assert_int_equal(multiboot(), 0);
	assert_int_equal(boot.framebuffer.address, 0x1fd000000);
	assert_int_equal(boot.framebuffer.pitch, 3200);
	assert_int_equal(boot.framebuffer.width, 800);
	assert_int_equal(boot.framebuffer.height, 600);
	assert_int_equal(boot.framebuffer.bits_per_pixel, 32);
	assert_int_equal(boot.framebuffer.red_position, 16);
	assert_int_equal(boot.framebuffer.blue_size, 8);
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(everything_is_copied),
		with_setup(the_map_is_normalized_whatever_the_entry_size),
		with_setup(information_must_be_in_memory),
		with_setup(without_a_map_the_two_sizes_serve),
		with_setup(no_map_at_all_is_an_error),
		with_setup(a_map_without_ram_is_an_error),
		with_setup(a_short_entry_is_an_error),
		with_setup(a_size_of_zero_does_not_loop),
		with_setup(a_huge_entry_size_ends_the_map),
		with_setup(a_map_that_ends_inside_an_entry_is_an_error),
		with_setup(a_map_out_of_memory_is_an_error),
		with_setup(a_map_of_many_small_neighbours_is_joined),
		with_setup(a_map_with_too_many_holes_is_an_error),
		with_setup(too_many_modules_are_counted),
		with_setup(a_module_that_ends_before_its_start_is_an_error),
		with_setup(modules_must_be_in_memory),
		with_setup(long_strings_are_cut),
		with_setup(strings_end_where_memory_does),
		with_setup(only_a_direct_colour_framebuffer_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
