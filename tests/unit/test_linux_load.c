// SPDX-License-Identifier: GPL-2.0-only
/* The Linux loader as a whole: modules in an arena in, a guest ready to enter out. */
#include "support.h"

#include "boot/efi_tables.h"
#include "bzimage.h"
#include "dev/acpi_tables.h"
#include "guest/linux.h"
#include "guest/linux_params.h"
#include "lib/errno.h"
#include "lib/string.h"

#define ARENA_SIZE   (256 * MIB)
#define KERNEL_AT    (4 * MIB)
#define KERNEL_SIZE  (300 * KIB + 5)
#define INITRD_AT    (17 * MIB) /* inside of the kernel's run range */
#define INITRD_SIZE  (100 * KIB + 3)
#define RSDP_AT	     0xf5a20
#define HIDDEN_START (240 * MIB)

static struct boot_info boot;
static struct e820_map map;
static struct linux_setup_header *header;
static struct guest_entry entry;

static uint8_t initrd_byte(uint64_t i)
{
	return (uint8_t)~bzimage_byte(i);
}

static void write_rsdp(void)
{
	struct acpi_rsdp *rsdp = arena_at(RSDP_AT);
	uint8_t sum = 0;

	memcpy(rsdp->signature, ACPI_RSDP_SIGNATURE, ACPI_RSDP_SIGNATURE_SIZE);
	for (int i = 0; i < ACPI_RSDP_V1_SIZE; i++)
		sum += ((uint8_t *)rsdp)[i];
	rsdp->checksum = -sum;
}

static int setup(void **state)
{
	uint8_t *initrd;

	(void)state;
	arena_create(ARENA_SIZE);
	write_rsdp();
	console_clear();
	memset(&boot, 0, sizeof(boot));
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, 0x9fc00, E820_RAM);
	e820_add(&map, 0x9fc00, 0x400, E820_RESERVED);
	e820_add(&map, MIB, HIDDEN_START - MIB, E820_RAM);
	e820_add(&map, HIDDEN_START, ARENA_SIZE - HIDDEN_START, E820_RESERVED);
	header = bzimage_create(KERNEL_AT, KERNEL_SIZE, &boot.module[0]);
	string_copy(boot.module[0].string, "/boot/bzImage console=ttyS0 quiet", BOOT_STRING_SIZE);
	initrd = arena_at(INITRD_AT);
	for (uint64_t i = 0; i < INITRD_SIZE; i++)
		initrd[i] = initrd_byte(i);
	boot.module[1].start = hpa(INITRD_AT);
	boot.module[1].size = INITRD_SIZE;
	string_copy(boot.module[1].string, "initrd.gz", BOOT_STRING_SIZE);
	boot.module_count = 2;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static int load(void)
{
	memset(&entry, 0xee, sizeof(entry));
	return linux_load(&boot, &map, &entry);
}

static struct linux_low *low_block(void)
{
	return arena_at(entry.esi);
}

static struct linux_boot_params *params(void)
{
	return &low_block()->params;
}

static void assert_kernel_at(uint64_t address)
{
	const uint8_t *kernel = arena_at(address);

	for (uint64_t i = 0; i < KERNEL_SIZE; i++)
		assert_int_equal(kernel[i], bzimage_byte(i));
}

static void assert_initrd_at(uint64_t address)
{
	const uint8_t *initrd = arena_at(address);

	for (uint64_t i = 0; i < INITRD_SIZE; i++)
		assert_int_equal(initrd[i], initrd_byte(i));
}

static void kernel_and_initrd_arrive_whole(void **state)
{
	(void)state;
	assert_int_equal(load(), 0);
	assert_console_quiet();
	assert_int_equal(entry.eip, 16 * MIB);
	assert_kernel_at(entry.eip);
	assert_int_equal(params()->header.ramdisk_size, INITRD_SIZE);
	assert_int_equal(params()->header.ramdisk_image,
			 align_down(HIDDEN_START - INITRD_SIZE, PAGE_SIZE));
	assert_initrd_at(params()->header.ramdisk_image);
}

/* The kernel's target begins inside of its source, or the other way round. */
static void a_kernel_may_overlap_its_target(void **state)
{
	static const uint64_t places[] = {16 * MIB - 4 * PAGE_SIZE, 16 * MIB + 4 * PAGE_SIZE};

	(void)state;
	boot.module_count = 1;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		header = bzimage_create(places[i], KERNEL_SIZE, &boot.module[0]);
		assert_int_equal(load(), 0);
		assert_int_equal(entry.eip, 16 * MIB);
		assert_kernel_at(entry.eip);
	}
}

static void an_initrd_out_of_the_way_is_left_there(void **state)
{
	(void)state;
	memmove(arena_at(64 * MIB), arena_at(INITRD_AT), INITRD_SIZE);
	boot.module[1].start = hpa(64 * MIB);
	assert_int_equal(load(), 0);
	assert_int_equal(params()->header.ramdisk_image, 64 * MIB);
	assert_initrd_at(64 * MIB);
}

static void the_header_is_that_of_the_file_plus_the_loaders_fields(void **state)
{
	struct linux_setup_header want = *header;

	(void)state;
	assert_int_equal(load(), 0);
	want.type_of_loader = 0xff;
	want.vid_mode = 0xffff;
	want.code32_start = entry.eip;
	want.ramdisk_image = params()->header.ramdisk_image;
	want.ramdisk_size = INITRD_SIZE;
	want.cmd_line_ptr = entry.esi + offsetof(struct linux_low, command_line);
	memset(want.later, 0, sizeof(want.later));
	assert_memory_equal(&params()->header, &want, sizeof(want));
}

static void the_command_line_starts_behind_the_file_name(void **state)
{
	(void)state;
	assert_int_equal(load(), 0);
	assert_string_equal(arena_at(params()->header.cmd_line_ptr), "console=ttyS0 quiet");
}

static void grub_leaves_out_the_file_name(void **state)
{
	(void)state;
	string_copy(boot.module[0].string, "console=ttyS0 quiet", BOOT_STRING_SIZE);
	assert_int_equal(load(), 0);
	assert_string_equal(low_block()->command_line, "console=ttyS0 quiet");
}

static void a_long_command_line_loses_whole_words(void **state)
{
	(void)state;
	header->cmdline_size = 18; /* "console=ttyS0 quie" */
	assert_int_equal(load(), 0);
	assert_string_equal(low_block()->command_line, "console=ttyS0");
	assert_console(LOG_WARN, "command lines of 18 bytes, this one has 19");
	header = bzimage_create(KERNEL_AT, KERNEL_SIZE, &boot.module[0]);
	header->cmdline_size = 19;
	console_clear();
	assert_int_equal(load(), 0);
	assert_string_equal(low_block()->command_line, "console=ttyS0 quiet");
	assert_console_quiet();
}

static void one_endless_word_leaves_nothing(void **state)
{
	(void)state;
	header->cmdline_size = 5;
	string_copy(boot.module[0].string, "k rdinit=/x", BOOT_STRING_SIZE);
	assert_int_equal(load(), 0);
	assert_string_equal(low_block()->command_line, "");
}

static void the_low_block_is_free_ram_below_the_ebda(void **state)
{
	(void)state;
	assert_int_equal(load(), 0);
	assert_true(e820_covers(&map, entry.esi, sizeof(struct linux_low), E820_RAM));
	assert_int_equal(entry.esi, align_down(0x9fc00 - sizeof(struct linux_low), PAGE_SIZE));
}

static void the_gdt_has_flat_boot_segments(void **state)
{
	const uint64_t *gdt;

	(void)state;
	assert_int_equal(load(), 0);
	gdt = arena_at(entry.gdt_base);
	assert_int_equal(entry.gdt_limit, 4 * 8 - 1);
	assert_int_equal(entry.code_selector, 0x10);
	assert_int_equal(entry.data_selector, 0x18);
	assert_true(gdt[0] == 0);
	assert_true(gdt[2] == 0x00cf9b000000ffffull);
	assert_true(gdt[3] == 0x00cf93000000ffffull);
}

static void the_guest_gets_its_own_memory_map(void **state)
{
	(void)state;
	assert_int_equal(load(), 0);
	assert_int_equal(params()->e820_entries, map.count);
	assert_memory_equal(params()->e820_table, map.entry, map.count * sizeof(map.entry[0]));
	assert_int_equal(params()->alt_mem_k, (HIDDEN_START - MIB) / KIB);
	assert_int_equal(params()->screen_info.ext_mem_k, 0xfc00);
	assert_true(params()->acpi_rsdp_addr == RSDP_AT);
}

static void without_framebuffer_the_screen_is_vga_text(void **state)
{
	(void)state;
	assert_int_equal(load(), 0);
	assert_int_equal(params()->screen_info.orig_video_is_vga, 1);
	assert_int_equal(params()->screen_info.orig_video_mode, 3);
	assert_int_equal(params()->screen_info.orig_video_cols, 80);
	assert_int_equal(params()->screen_info.orig_video_lines, 25);
	assert_int_equal(params()->screen_info.lfb_base, 0);
}

static void a_framebuffer_above_4_gib_is_described(void **state)
{
	struct linux_screen_info *screen;

	(void)state;
	boot.framebuffer = (struct boot_framebuffer){
		.address = 0x840000000,
		.pitch = 4096,
		.width = 1024,
		.height = 769,
		.bits_per_pixel = 32,
		.red_position = 16,
		.red_size = 8,
		.green_position = 8,
		.green_size = 8,
		.blue_size = 8,
	};
	assert_int_equal(load(), 0);
	screen = &params()->screen_info;
	assert_int_equal(screen->orig_video_is_vga, 0x23);
	assert_int_equal(screen->lfb_base, 0x40000000);
	assert_int_equal(screen->ext_lfb_base, 8);
	assert_int_equal(screen->capabilities, 2);
	assert_int_equal(screen->lfb_size, 49); /* 769 * 4096 bytes in 64 KiB, rounded up */
	assert_int_equal(screen->lfb_linelength, 4096);
	assert_int_equal(screen->red_pos, 16);
	assert_int_equal(screen->rsvd_pos, 24);
	assert_int_equal(screen->rsvd_size, 8);
}

#define SYSTEM_TABLE 0x10f9ee018 /* above 4 GiB: Linux reads it, not Vellum */
#define EFI_STRIDE   48

static uint8_t efi_map[4 * EFI_STRIDE];

static void set_efi(void)
{
	static const struct efi_memory_descriptor all[] = {
		{EFI_CONVENTIONAL_MEMORY, 0, 0, 0, 0xa0, 15},
		{EFI_LOADER_DATA, 0, MIB, 0, (HIDDEN_START - MIB) / PAGE_SIZE + 1, 15},
		{EFI_BOOT_SERVICES_DATA, 0, HIDDEN_START + PAGE_SIZE, 0, 1, 15},
		{EFI_RUNTIME_CODE, 0, ARENA_SIZE - PAGE_SIZE, 0, 1, BIT(63) | 15},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		memcpy(efi_map + i * EFI_STRIDE, &all[i], sizeof(all[i]));
	map.entry[0].size = 0xa0000;
	map.entry[1].size = 0;
	boot.efi = (struct boot_efi){true, SYSTEM_TABLE, efi_map, sizeof(efi_map), EFI_STRIDE, 1};
}

static void assert_efi(unsigned int index, uint32_t type, uint64_t start, uint64_t end)
{
	struct efi_memory_descriptor found;

	memcpy(&found, arena_at(params()->efi_info.memory_map + index * EFI_STRIDE), sizeof(found));
	assert_int_equal(found.type, type);
	assert_int_equal(found.physical_start, start);
	assert_int_equal(found.pages, (end - start) / PAGE_SIZE);
	assert_int_equal(found.attributes & 15, 15);
}

static void uefi_is_handed_on_without_vellums_memory(void **state)
{
	struct linux_efi_info info;

	(void)state;
	set_efi();
	assert_int_equal(load(), 0);
	info = params()->efi_info;
	assert_int_equal(info.loader_signature, LINUX_EFI64_SIGNATURE);
	assert_int_equal(info.system_table, (uint32_t)SYSTEM_TABLE);
	assert_int_equal(info.system_table_high, SYSTEM_TABLE >> 32);
	assert_int_equal(info.memory_descriptor_size, EFI_STRIDE);
	assert_int_equal(info.memory_descriptor_version, 1);
	assert_int_equal(info.memory_map_size, 5 * EFI_STRIDE);
	assert_int_equal(info.memory_map_high, 0);
	assert_efi(0, EFI_CONVENTIONAL_MEMORY, 0, 0xa0000);
	assert_efi(1, EFI_LOADER_DATA, MIB, HIDDEN_START);
	assert_efi(2, EFI_RESERVED_MEMORY, HIDDEN_START, HIDDEN_START + PAGE_SIZE);
	assert_efi(3, EFI_RESERVED_MEMORY, HIDDEN_START + PAGE_SIZE, HIDDEN_START + 2 * PAGE_SIZE);
	assert_efi(4, EFI_RUNTIME_CODE, ARENA_SIZE - PAGE_SIZE, ARENA_SIZE);
	assert_true(e820_covers(&map, info.memory_map, info.memory_map_size, E820_RAM));
	assert_int_equal(params()->screen_info.orig_video_is_vga, 0);
}

static void uefis_framebuffer_counts_bytes(void **state)
{
	(void)state;
	set_efi();
	boot.framebuffer = (struct boot_framebuffer){
		.pitch = 5120, .width = 1280, .height = 800, .bits_per_pixel = 32};
	assert_int_equal(load(), 0);
	assert_int_equal(params()->screen_info.orig_video_is_vga, 0x70);
	assert_int_equal(params()->screen_info.lfb_size, 5120 * 800);
}

static void all_else_of_boot_params_is_zero(void **state)
{
	struct linux_boot_params *zero_page;
	uint8_t *bytes;

	(void)state;
	memset(arena_at(PAGE_SIZE), 0xa5, 0x9fc00 - PAGE_SIZE);
	assert_int_equal(load(), 0);
	zero_page = params();
	memset(&zero_page->screen_info, 0, sizeof(zero_page->screen_info));
	memset(&zero_page->header, 0, sizeof(zero_page->header));
	memset(zero_page->e820_table, 0, sizeof(zero_page->e820_table));
	zero_page->acpi_rsdp_addr = zero_page->alt_mem_k = zero_page->e820_entries = 0;
	bytes = (uint8_t *)zero_page;
	for (size_t i = 0; i < sizeof(*zero_page); i++)
		assert_int_equal(bytes[i], 0);
}

static void a_kernel_needs_no_initrd(void **state)
{
	(void)state;
	boot.module_count = 1;
	assert_int_equal(load(), 0);
	assert_int_equal(params()->header.ramdisk_image, 0);
	assert_int_equal(params()->header.ramdisk_size, 0);
	boot.module_count = 2;
	boot.module[1].size = 0;
	header = bzimage_create(KERNEL_AT, KERNEL_SIZE, &boot.module[0]);
	assert_int_equal(load(), 0);
	assert_int_equal(params()->header.ramdisk_image, 0);
	assert_console(LOG_WARN, "initrd \"initrd.gz\" is empty");
}

static void further_modules_are_named(void **state)
{
	(void)state;
	boot.module_count = 4;
	string_copy(boot.module[2].string, "tftp://server/extra a=b", BOOT_STRING_SIZE);
	assert_int_equal(load(), 0);
	assert_console(LOG_WARN, "module 2, \"tftp://server/extra\", is not used");
	assert_console(LOG_WARN, "module 3, \"(unnamed)\", is not used");
}

static void an_error_moves_nothing(void **state)
{
	(void)state;
	boot.module[1].size = 230 * MIB;
	assert_int_equal(load(), -E2BIG);
	assert_console(LOG_ERROR, "initrd \"initrd.gz\" of 235520 KiB does not fit");
	assert_kernel_at(KERNEL_AT + BZIMAGE_SETUP_SIZE);
	assert_initrd_at(INITRD_AT);
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(kernel_and_initrd_arrive_whole),
		with_setup(a_kernel_may_overlap_its_target),
		with_setup(an_initrd_out_of_the_way_is_left_there),
		with_setup(the_header_is_that_of_the_file_plus_the_loaders_fields),
		with_setup(the_command_line_starts_behind_the_file_name),
		with_setup(grub_leaves_out_the_file_name),
		with_setup(a_long_command_line_loses_whole_words),
		with_setup(one_endless_word_leaves_nothing),
		with_setup(the_low_block_is_free_ram_below_the_ebda),
		with_setup(the_gdt_has_flat_boot_segments),
		with_setup(the_guest_gets_its_own_memory_map),
		with_setup(without_framebuffer_the_screen_is_vga_text),
		with_setup(a_framebuffer_above_4_gib_is_described),
		with_setup(uefi_is_handed_on_without_vellums_memory),
		with_setup(uefis_framebuffer_counts_bytes),
		with_setup(all_else_of_boot_params_is_zero),
		with_setup(a_kernel_needs_no_initrd),
		with_setup(further_modules_are_named),
		with_setup(an_error_moves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
