// SPDX-License-Identifier: GPL-2.0-only
/* What loaders of Linux kernels leave, through boot.c's door. */
#include "support.h"

#include "boot/boot.h"
#include "boot/efi_tables.h"
#include "dev/acpi.h"
#include "guest/linux_boot.h"
#include "lib/errno.h"

#include <string.h>

#define ARENA_SIZE (2 * MIB)
#define PARAMS_AT  0x9000
#define LINE_AT	   0xb000
#define INITRD_AT  0x110000
#define MAP_AT	   0x20000

static struct linux_boot_params *params;
static struct boot_info boot;

static int setup(void **state)
{
	static const struct e820_entry map[] = {
		{0, 0x9fc00, E820_RAM},
		{0x9fc00, 0x400, E820_RESERVED},
		{0x100000, 0x100000, E820_RAM},
	};

	(void)state;
	arena_create(ARENA_SIZE);
	console_clear();
	params = arena_at(PARAMS_AT);
	params->header.header = LINUX_HEADER_MAGIC;
	params->header.type_of_loader = 0x72;
	params->header.cmd_line_ptr = LINE_AT;
	params->header.ramdisk_image = INITRD_AT;
	params->header.ramdisk_size = 0x2345;
	params->e820_entries = ARRAY_SIZE(map);
	memcpy(params->e820_table, map, sizeof(map));
	strcpy(arena_at(LINE_AT), "vellum.bin mode=native");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	acpi_set_rsdp(hpa(0));
	arena_free();
	return 0;
}

static int read(void)
{
	memset(&boot, 0xee, sizeof(boot));
	return boot_read(LINUX_HEADER_MAGIC, hpa(PARAMS_AT), &boot);
}

static void everything_is_copied(void **state)
{
	(void)state;
	assert_int_equal(read(), 0);
	assert_console_quiet();
	memset(arena_at(0), 0xff, ARENA_SIZE);
	assert_string_equal(boot.loader, "GRUB");
	assert_string_equal(boot.command_line, "mode=native");
	assert_int_equal(boot.memory.count, 3);
	assert_int_equal(e820_ram_size(&boot.memory), 0x9fc00 + 0x100000);
	assert_int_equal(boot.module_count, 1);
	assert_int_equal(boot.module[0].start.raw, INITRD_AT);
	assert_int_equal(boot.module[0].size, 0x2345);
	assert_int_equal(boot.framebuffer.width, 0);
	assert_int_equal(boot.rsdp.raw, 0);
}

static void unknown_loaders_have_a_number(void **state)
{
	(void)state;
	params->header.type_of_loader = 0xff;
	assert_int_equal(read(), 0);
	assert_string_equal(boot.loader, "a Linux boot loader, type 0xff");
}

static void the_loaders_own_words_go(void **state)
{
	(void)state;
	strcpy(arena_at(LINE_AT),
	       "BOOT_IMAGE=/vellum.bin  mode=hv initrd=pack.cpio\tvmi=off initrd=x");
	assert_int_equal(read(), 0);
	assert_string_equal(boot.command_line, "mode=hv vmi=off");
}

static void words_behind_two_dashes_are_the_guests(void **state)
{
	(void)state;
	strcpy(arena_at(LINE_AT), "mode=hv -- console=ttyS0 initrd=kept mode=x -- y");
	assert_int_equal(read(), 0);
	assert_string_equal(boot.command_line, "mode=hv");
	assert_string_equal(boot.module[0].string, "kernel console=ttyS0 initrd=kept mode=x -- y");
}

static void no_command_line_is_none(void **state)
{
	(void)state;
	params->header.cmd_line_ptr = 0;
	assert_int_equal(read(), 0);
	assert_string_equal(boot.command_line, "");
	params->ext_cmd_line_ptr = 5; /* above all memory */
	assert_int_equal(read(), 0);
	assert_string_equal(boot.command_line, "");
}

/* guest=disk needs none: the loader of the guest decides. */
static void no_initrd_is_no_module(void **state)
{
	(void)state;
	params->header.ramdisk_size = 0;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.module_count, 0);
	assert_console_quiet();
}

static void the_initrd_must_be_in_memory(void **state)
{
	(void)state;
	params->ext_ramdisk_image = 1;
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "module 0 ends at 0x100112345, beyond the memory mapped");
	params->ext_ramdisk_image = UINT32_MAX;
	params->ext_ramdisk_size = UINT32_MAX;
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "before its start");
}

static void no_header_is_an_error(void **state)
{
	(void)state;
	params->header.header = 0;
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "lack the header's \"HdrS\"");
	assert_int_equal(boot_read(LINUX_HEADER_MAGIC, hpa(ARENA_SIZE - 8), &boot), -EINVAL);
}

static void no_ram_is_an_error(void **state)
{
	(void)state;
	params->e820_entries = 0;
	assert_int_equal(read(), -ENOENT);
	assert_console(LOG_ERROR, "no RAM in its 0 ranges");
}

static void more_ranges_than_there_can_be_are_not_read(void **state)
{
	(void)state;
	params->e820_entries = 255;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.memory.count, 3);
}

static void a_framebuffer_above_4_gib_is_found(void **state)
{
	struct linux_screen_info *screen = &params->screen_info;

	(void)state;
	screen->orig_video_is_vga = LINUX_VIDEO_EFI;
	screen->capabilities = LINUX_VIDEO_64BIT_BASE;
	screen->lfb_base = 0x40000000;
	screen->ext_lfb_base = 8;
	screen->lfb_linelength = 4096;
	screen->lfb_width = 1024;
	screen->lfb_height = 768;
	screen->lfb_depth = 32;
	screen->red_pos = 16;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.framebuffer.address, 0x840000000);
	assert_int_equal(boot.framebuffer.width, 1024);
	assert_int_equal(boot.framebuffer.pitch, 4096);
	assert_int_equal(boot.framebuffer.red_position, 16);
	screen->orig_video_is_vga = LINUX_VIDEO_VGA;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.framebuffer.width, 0);
}

static void the_root_pointer_is_taken_over(void **state)
{
	(void)state;
	params->acpi_rsdp_addr = 0x7fe014;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.rsdp.raw, 0x7fe014);
}

static void set_efi(void)
{
	struct efi_memory_descriptor *descriptor = arena_at(MAP_AT);

	descriptor->type = EFI_CONVENTIONAL_MEMORY;
	params->efi_info = (struct linux_efi_info){
		.loader_signature = LINUX_EFI64_SIGNATURE,
		.system_table = 0x7f000,
		.memory_map = MAP_AT,
		.memory_map_size = 2 * sizeof(*descriptor),
		.memory_descriptor_size = sizeof(*descriptor),
		.memory_descriptor_version = 1,
	};
}

static void uefi_is_taken_over(void **state)
{
	const struct efi_memory_descriptor *first;

	(void)state;
	set_efi();
	assert_int_equal(read(), 0);
	assert_console_quiet();
	memset(arena_at(0), 0xff, ARENA_SIZE);
	assert_true(boot.efi.is_there);
	assert_int_equal(boot.efi.system_table, 0x7f000);
	assert_int_equal(boot.efi.map_size, 2 * sizeof(*first));
	assert_int_equal(boot.efi.map_stride, sizeof(*first));
	assert_int_equal(boot.efi.map_version, 1);
	first = boot.efi.map;
	assert_int_equal(first->type, EFI_CONVENTIONAL_MEMORY);
}

static void a_bios_machine_has_no_uefi(void **state)
{
	(void)state;
	assert_int_equal(read(), 0);
	assert_false(boot.efi.is_there);
	assert_int_equal(boot.efi.map_size, 0);
}

static void uefi_that_kexec_hands_on_is_not(void **state)
{
	(void)state;
	set_efi();
	params->header.type_of_loader = 0xd0;
	assert_int_equal(read(), 0);
	assert_true(boot.efi.is_there);
	assert_int_equal(boot.efi.map_size, 0);
	assert_console(LOG_WARN, "kexec leaves UEFI to the kernel before");
}

static void a_map_out_of_memory_is_not_read(void **state)
{
	(void)state;
	set_efi();
	params->efi_info.memory_map = ARENA_SIZE - 8;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.efi.map_size, 0);
	assert_console(LOG_WARN, "UEFI's memory map at 0x1ffff8 is out of reach");
	params->efi_info.memory_map_high = 1;
	assert_int_equal(read(), 0);
	assert_int_equal(boot.efi.map_size, 0);
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(everything_is_copied),
		with_setup(unknown_loaders_have_a_number),
		with_setup(the_loaders_own_words_go),
		with_setup(words_behind_two_dashes_are_the_guests),
		with_setup(no_command_line_is_none),
		with_setup(no_initrd_is_no_module),
		with_setup(the_initrd_must_be_in_memory),
		with_setup(no_header_is_an_error),
		with_setup(no_ram_is_an_error),
		with_setup(more_ranges_than_there_can_be_are_not_read),
		with_setup(a_framebuffer_above_4_gib_is_found),
		with_setup(the_root_pointer_is_taken_over),
		with_setup(uefi_is_taken_over),
		with_setup(a_bios_machine_has_no_uefi),
		with_setup(uefi_that_kexec_hands_on_is_not),
		with_setup(a_map_out_of_memory_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
