// SPDX-License-Identifier: GPL-2.0-only
/* Which loader a guest gets: by what it is, or by the user's word. */
#include "support.h"

#include "bzimage.h"
#include "guest/loader.h"
#include "lib/errno.h"
#include "multiboot_file.h"

#include <string.h>

#define FILE_AT MIB

static struct boot_info boot;
static struct e820_map map;
static struct guest_entry entry;

static int setup(void **state)
{
	(void)state;
	arena_create(8 * MIB);
	console_clear();
	memset(&boot, 0, sizeof(boot));
	boot.module_count = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static void a_guest_is_known_by_its_header(void **state)
{
	(void)state;
	mb_elf32(FILE_AT, 1, &boot.module[0]);
	assert_int_equal(loader_guest_kind(&boot, GUEST_AUTO), GUEST_LINUX);
	mb1_header(&boot.module[0], 0x1800, 0);
	assert_int_equal(loader_guest_kind(&boot, GUEST_AUTO), GUEST_MULTIBOOT);
	mb2_header(&boot.module[0], "", 0);
	assert_int_equal(loader_guest_kind(&boot, GUEST_AUTO), GUEST_MULTIBOOT2);
	bzimage_create(FILE_AT, 64 * KIB, &boot.module[0]);
	mb1_header(&boot.module[0], 0x800, 0);
	assert_int_equal(loader_guest_kind(&boot, GUEST_AUTO), GUEST_LINUX);
}

static void the_users_word_wins(void **state)
{
	(void)state;
	mb_elf32(FILE_AT, 1, &boot.module[0]);
	mb1_header(&boot.module[0], 0x1800, 0);
	assert_int_equal(loader_guest_kind(&boot, GUEST_MULTIBOOT2), GUEST_MULTIBOOT2);
	assert_int_equal(loader_load(&boot, &map, 0x80, GUEST_MULTIBOOT2, &entry), -ENOEXEC);
	assert_console(LOG_ERROR, "has no Multiboot 2 header");
	assert_int_equal(loader_guest_kind(&boot, GUEST_DISK), GUEST_DISK);
}

static void no_module_is_an_error_but_for_a_disk(void **state)
{
	(void)state;
	boot.module_count = 0;
	assert_int_equal(loader_guest_kind(&boot, GUEST_AUTO), GUEST_LINUX);
	assert_int_equal(loader_load(&boot, &map, 0x80, GUEST_LINUX, &entry), -ENOENT);
	assert_int_equal(loader_load(&boot, &map, 0x80, GUEST_MULTIBOOT, &entry), -ENOENT);
	assert_console(LOG_ERROR, "no kernel: 0 modules given, at least 1 needed");
	console_clear();
	assert_int_equal(loader_load(&boot, &map, 0x80, GUEST_DISK, &entry), -ENODEV);
	assert_console(LOG_ERROR, "guest=disk needs a BIOS");
}

static void an_elf_file_without_a_header_is_explained(void **state)
{
	(void)state;
	mb_elf32(FILE_AT, 1, &boot.module[0]);
	assert_int_equal(loader_load(&boot, &map, 0x80, GUEST_LINUX, &entry), -ENOEXEC);
	assert_console(LOG_ERROR, "is a 32-bit ELF file (class 1), such as vmlinux, without a "
				  "Multiboot header");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(a_guest_is_known_by_its_header),
		T(the_users_word_wins),
		T(no_module_is_an_error_but_for_a_disk),
		T(an_elf_file_without_a_header_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
