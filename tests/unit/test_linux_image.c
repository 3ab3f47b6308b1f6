// SPDX-License-Identifier: GPL-2.0-only
/* The bzImage header: what is taken from it, and what is refused in which words. */
#include "support.h"

#include "bzimage.h"
#include "guest/linux_image.h"
#include "lib/errno.h"

#include <string.h>

#define ARENA_SIZE  (4 * MIB)
#define IMAGE_AT    MIB
#define KERNEL_SIZE 40000

static const struct word name = {"bzImage-6.1", 11};

static struct boot_module module;
static struct linux_setup_header *header;
static struct linux_image image;

static int setup(void **state)
{
	(void)state;
	arena_create(ARENA_SIZE);
	console_clear();
	header = bzimage_create(IMAGE_AT, KERNEL_SIZE, &module);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static int read_image(void)
{
	return linux_image_read(&module, name, &image);
}

static void assert_refused(const char *text)
{
	console_clear();
	assert_int_equal(read_image(), -ENOEXEC);
	assert_int_equal(console_count(LOG_ERROR), 1);
	assert_console(LOG_ERROR, "kernel \"bzImage-6.1\"");
	assert_console(LOG_ERROR, text);
}

static void set_protocol(uint16_t version, uint64_t end)
{
	header->version = version;
	header->jump[1] = (uint8_t)(end - LINUX_HEADER_JUMP_END);
}

static void replace_start(const void *bytes, size_t size)
{
	memset(arena_at(IMAGE_AT), 0, 4096);
	memcpy(arena_at(IMAGE_AT), bytes, size);
}

static void a_modern_image(void **state)
{
	(void)state;
	assert_int_equal(read_image(), 0);
	assert_console_quiet();
	assert_int_equal(image.kernel.raw, IMAGE_AT + BZIMAGE_SETUP_SIZE);
	assert_int_equal(image.kernel_size, KERNEL_SIZE);
	assert_true(image.relocatable);
	assert_int_equal(image.alignment, 2 * MIB);
	assert_int_equal(image.preferred, 16 * MIB);
	assert_int_equal(image.run_size, 8 * MIB);
	assert_true(image.run_size_known);
	assert_int_equal(image.initrd_limit, 0x38000000);
	assert_int_equal(image.command_line_max, 2047);
}

static void the_oldest_protocol(void **state)
{
	(void)state;
	set_protocol(LINUX_PROTOCOL(2, 4), LINUX_HEADER_AT(kernel_alignment));
	assert_int_equal(read_image(), 0);
	assert_false(image.relocatable);
	assert_int_equal(image.alignment, 1);
	assert_int_equal(image.preferred, MIB);
	assert_int_equal(image.run_size, align_up(3 * KERNEL_SIZE, PAGE_SIZE));
	assert_false(image.run_size_known);
	assert_int_equal(image.command_line_max, 255);
}

static void newer_fields_count_only_with_their_protocol(void **state)
{
	(void)state;
	header->version = LINUX_PROTOCOL(2, 4); /* with the long header of 2.15 */
	assert_int_equal(read_image(), 0);
	assert_false(image.relocatable);
	assert_int_equal(image.command_line_max, 255);
	header->version = LINUX_PROTOCOL(2, 5);
	assert_int_equal(read_image(), 0);
	assert_true(image.relocatable);
	assert_int_equal(image.command_line_max, 255);
	header->version = LINUX_PROTOCOL(2, 6);
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.command_line_max, 2047);
	assert_false(image.run_size_known);
	header->version = LINUX_PROTOCOL(2, 10);
	assert_int_equal(read_image(), 0);
	assert_true(image.run_size_known);
}

static void what_follows_the_header_is_not_read_as_fields(void **state)
{
	(void)state;
	set_protocol(LINUX_PROTOCOL(2, 15), LINUX_HEADER_AT(cmdline_size));
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.command_line_max, 255);
	assert_int_equal(image.header.pref_address, 0);
	assert_int_equal(image.header.later[0], 0);
}

static void a_longer_header_is_kept(void **state)
{
	(void)state;
	set_protocol(LINUX_PROTOCOL(2, 16), LINUX_HEADER_AT(later) + 4);
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.header.later[3], 0xcc);
	assert_int_equal(image.header.later[4], 0);
	header->jump[1] = 0xff; /* longer than the room in boot_params */
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.header.later[sizeof(image.header.later) - 1], 0xcc);
}

static void zero_setup_sectors_mean_four(void **state)
{
	(void)state;
	header->setup_sects = 0;
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.kernel.raw, IMAGE_AT + 5 * 512);
}

static void zeros_in_optional_fields_mean_defaults(void **state)
{
	(void)state;
	header->init_size = 0;
	header->cmdline_size = 0;
	header->initrd_addr_max = 0;
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.run_size, align_up(3 * KERNEL_SIZE, PAGE_SIZE));
	assert_int_equal(image.command_line_max, 255);
	assert_int_equal(image.initrd_limit, 0x38000000);
	header->init_size = 8 * MIB;
	header->pref_address = 0;
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.preferred, MIB);
}

static void a_run_size_below_the_file_is_raised(void **state)
{
	(void)state;
	header->init_size = 5;
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.run_size, align_up(KERNEL_SIZE, PAGE_SIZE));
}

static void the_last_initrd_address_does_not_wrap(void **state)
{
	(void)state;
	header->initrd_addr_max = UINT32_MAX;
	assert_int_equal(read_image(), 0);
	assert_int_equal(image.initrd_limit, 4 * GIB);
}

static void truncated_by_a_byte(void **state)
{
	(void)state;
	module.size -= LINUX_PARAGRAPH_SIZE - 1; /* an unfilled last paragraph is all right */
	assert_int_equal(read_image(), 0);
	module.size--;
	assert_refused("is truncated: 42544 bytes, its header says at least 42545");
}

static void syssize_does_not_wrap(void **state)
{
	(void)state;
	header->syssize = UINT32_MAX;
	assert_refused("is truncated");
	header->syssize = 0;
	assert_int_equal(read_image(), 0);
	module.size = BZIMAGE_SETUP_SIZE;
	assert_refused("is truncated: 2560 bytes, its header says at least 2561");
}

/* Ends each file at the end of memory: a byte too far is a crash. */
static void every_short_file_is_refused(void **state)
{
	static uint8_t copy[1024];

	(void)state;
	memcpy(copy, arena_at(IMAGE_AT), sizeof(copy));
	for (uint64_t size = 0; size <= sizeof(copy); size++) {
		module.start = hpa(ARENA_SIZE - size);
		module.size = size;
		memcpy(arena_at(ARENA_SIZE - size), copy, size);
		console_clear();
		assert_int_equal(read_image(), -ENOEXEC);
		assert_int_equal(console_count(LOG_ERROR), 1);
		if (size >= LINUX_HEADER_AT(kernel_alignment))
			assert_console(LOG_ERROR, "is truncated");
	}
}

static void an_old_protocol_is_named(void **state)
{
	(void)state;
	set_protocol(LINUX_PROTOCOL(2, 3), LINUX_HEADER_AT(kernel_alignment));
	assert_refused("has boot protocol 2.03, at least 2.04 needed");
}

static void a_zimage_is_named(void **state)
{
	(void)state;
	header->loadflags = 0;
	assert_refused("is a zImage: loadflags 0, bit 0 needed");
}

static void damage_is_named(void **state)
{
	(void)state;
	header->kernel_alignment = 3 * MIB;
	assert_refused("is damaged: alignment 0x300000");
	header->kernel_alignment = 0;
	assert_refused("is damaged: alignment 0,");
	header->kernel_alignment = MIB;
	header->jump[1] = 0x20;
	assert_refused("is damaged: its header ends at 0x222, at least 0x230 needed");
	header->boot_flag = 0x55aa;
	assert_refused("is damaged: boot flag 0x55aa, 0xaa55 needed");
}

static void elf_files_are_named(void **state)
{
	(void)state;
	replace_start("\x7f"
		      "ELF\2\1",
		      6);
	assert_refused("is a 64-bit ELF file (class 2), such as vmlinux, without a Multiboot header; a bzImage is needed");
	replace_start("\x7f"
		      "ELF\1\1",
		      6);
	assert_refused("is a 32-bit ELF file (class 1)");
	module.size = 4;
	assert_refused("ELF file (class 0)");
}

static void efi_only_files_are_named(void **state)
{
	uint8_t file[128] = "MZ\0\0zimg";

	(void)state;
	file[0x3c] = 0x40;
	memcpy(file + 0x40, "PE\0\0\x64\x86", 6);
	replace_start(file, sizeof(file));
	assert_refused("is a zboot image for EFI only (PE machine 0x8664)");
	memset(file + 4, 0, 4);
	replace_start(file, sizeof(file));
	assert_refused("is a program for EFI only (PE machine 0x8664)");
	memset(file + 0x3c, 0xff, 4); /* the PE header's place is out of the file */
	replace_start(file, sizeof(file));
	assert_refused("is a program for EFI only (PE machine 0)");
}

static void an_efi_stub_is_a_bzimage_all_the_same(void **state)
{
	(void)state;
	memcpy(arena_at(IMAGE_AT), "MZ", 2);
	assert_int_equal(read_image(), 0);
}

static void other_files_are_named(void **state)
{
	(void)state;
	replace_start("\x1f\x8b\x08", 3);
	assert_refused("is a gzip file (an initrd?): 0 at 0x202");
	replace_start("070701", 6);
	assert_refused("is a cpio archive (an initrd?)");
	replace_start("\x28\xb5\x2f\xfd", 4);
	assert_refused("is a zstd file");
	replace_start("<html>", 6);
	assert_refused("is not a bzImage");
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(a_modern_image),
		with_setup(the_oldest_protocol),
		with_setup(newer_fields_count_only_with_their_protocol),
		with_setup(what_follows_the_header_is_not_read_as_fields),
		with_setup(a_longer_header_is_kept),
		with_setup(zero_setup_sectors_mean_four),
		with_setup(zeros_in_optional_fields_mean_defaults),
		with_setup(a_run_size_below_the_file_is_raised),
		with_setup(the_last_initrd_address_does_not_wrap),
		with_setup(truncated_by_a_byte),
		with_setup(syssize_does_not_wrap),
		with_setup(every_short_file_is_refused),
		with_setup(an_old_protocol_is_named),
		with_setup(a_zimage_is_named),
		with_setup(damage_is_named),
		with_setup(elf_files_are_named),
		with_setup(efi_only_files_are_named),
		with_setup(an_efi_stub_is_a_bzimage_all_the_same),
		with_setup(other_files_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
