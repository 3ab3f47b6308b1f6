// SPDX-License-Identifier: GPL-2.0-only
/* The Multiboot loader as a whole: modules in an arena in, a guest ready to enter out. */
#include "support.h"

#include "boot/multiboot_format.h"
#include "dev/acpi_tables.h"
#include "boot/multiboot2_format.h"
#include "guest/multiboot_info.h"
#include "guest/multiboot_load.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "multiboot_file.h"

#define ARENA_SIZE   (64 * MIB)
#define KERNEL_AT    (8 * MIB)
#define MODULE_AT    (12 * MIB)
#define MODULE_SIZE  (20 * KIB + 5)
#define HIDDEN_START (60 * MIB)
#define RSDP_AT	     0xf5a20

static struct boot_info boot;
static struct e820_map map;
static struct guest_entry entry;

static uint8_t module_byte(uint64_t i)
{
	return (uint8_t)(i * 5 + (i >> 7));
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

static void add_module(uint64_t at, uint64_t size, const char *string)
{
	struct boot_module *module = &boot.module[boot.module_count++];
	uint8_t *bytes = arena_at(at);

	for (uint64_t i = 0; i < size; i++)
		bytes[i] = module_byte(i);
	module->start = hpa(at);
	module->size = size;
	string_copy(module->string, string, BOOT_STRING_SIZE);
}

/* One segment of 8 KiB in the file and 16 KiB in memory. */
static struct elf32_segment *kernel_linked_at(uint64_t address)
{
	struct elf32_segment *segment = mb_elf32(KERNEL_AT, 1, &boot.module[0]);

	segment->offset = MB_SEGMENT_AT;
	segment->physical_address = (uint32_t)address;
	segment->virtual_address = (uint32_t)address | 0xc0000000;
	segment->file_size = 8 * KIB;
	segment->memory_size = 16 * KIB;
	mb_header32(&boot.module[0])->entry = segment->virtual_address + 0x20;
	mb1_header(&boot.module[0], MB_HEADER_AT, 3);
	return segment;
}

static int setup(void **state)
{
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
	boot.module_count = 1;
	kernel_linked_at(2 * MIB);
	string_copy(boot.module[0].string, "/boot/mach  root=hd0 \"a b\"", BOOT_STRING_SIZE);
	string_copy(boot.loader, "GRUB 2.06", BOOT_LOADER_NAME_SIZE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static int load(unsigned int version)
{
	memset(&entry, 0xee, sizeof(entry));
	return multiboot_load(&boot, &map, version, &entry);
}

static void assert_segment_at(uint64_t address)
{
	const uint8_t *bytes = arena_at(address);

	for (uint64_t i = 0; i < 8 * KIB; i++)
		assert_int_equal(bytes[i], mb_byte(MB_SEGMENT_AT + i));
	for (uint64_t i = 8 * KIB; i < 16 * KIB; i++)
		assert_int_equal(bytes[i], 0);
}

static void assert_module_at(uint64_t address, uint64_t size)
{
	const uint8_t *bytes = arena_at(address);

	for (uint64_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], module_byte(i));
}

/* ---- version 1 ---- */

static const struct multiboot_info *info1(void)
{
	return arena_at(entry.ebx);
}

static const struct multiboot_module *module1(unsigned int i)
{
	const struct multiboot_module *module = arena_at(info1()->mods_addr);

	assert_true(i < info1()->mods_count);
	return &module[i];
}

static void the_kernel_arrives_whole(void **state)
{
	(void)state;
	memset(arena_at(2 * MIB), 0xcc, 64 * KIB);
	assert_int_equal(load(1), 0);
	assert_console_quiet();
	assert_segment_at(2 * MIB);
	assert_int_equal(((uint8_t *)arena_at(2 * MIB))[16 * KIB], 0xcc);
	assert_int_equal(entry.eip, 2 * MIB + 0x20);
	assert_int_equal(entry.eax, MULTIBOOT_BOOTLOADER_MAGIC);
	assert_int_equal(entry.code_selector, MULTIBOOT_CODE);
	assert_memory_equal(arena_at(entry.gdt_base + MULTIBOOT_CODE), &(uint64_t){GDT_FLAT_CODE},
			    8);
	assert_memory_equal(arena_at(entry.gdt_base + MULTIBOOT_DATA), &(uint64_t){GDT_FLAT_DATA},
			    8);
	assert_true(entry.ebx >= entry.gdt_base + entry.gdt_limit + 1u);
}

static void words_come_through_unchanged(void **state)
{
	(void)state;
	add_module(MODULE_AT, MODULE_SIZE, "/boot/ext2fs.static --x='${y}' ");
	assert_int_equal(load(1), 0);
	assert_string_equal(arena_at(info1()->cmdline), "/boot/mach  root=hd0 \"a b\"");
	assert_string_equal(arena_at(info1()->boot_loader_name), "GRUB 2.06");
	assert_string_equal(arena_at(module1(0)->string), "/boot/ext2fs.static --x='${y}' ");
}

static void strings_are_there_when_they_are_empty(void **state)
{
	(void)state;
	boot.module[0].string[0] = boot.loader[0] = '\0';
	assert_int_equal(load(1), 0);
	assert_true(info1()->flags & MULTIBOOT_INFO_CMDLINE);
	assert_true(info1()->flags & MULTIBOOT_INFO_MODULES);
	assert_int_equal(info1()->mods_count, 0);
	assert_string_equal(arena_at(info1()->cmdline), "");
	assert_string_equal(arena_at(info1()->boot_loader_name), "Vellum");
}

static void the_map_is_the_guests(void **state)
{
	const struct multiboot_mmap_entry *range;

	(void)state;
	assert_int_equal(load(1), 0);
	assert_int_equal(info1()->mem_lower, 0x9fc00 / KIB);
	assert_int_equal(info1()->mem_upper, (HIDDEN_START - MIB) / KIB);
	assert_int_equal(info1()->mmap_length, 4 * sizeof(*range));
	range = arena_at(info1()->mmap_addr);
	for (uint32_t i = 0; i < map.count; i++) {
		assert_int_equal(range[i].size, 20);
		assert_int_equal(range[i].base, map.entry[i].base);
		assert_int_equal(range[i].length, map.entry[i].size);
		assert_int_equal(range[i].type, map.entry[i].type);
	}
}

static void a_module_stays_if_it_can(void **state)
{
	(void)state;
	add_module(MODULE_AT, MODULE_SIZE, "a");
	add_module(MODULE_AT + MIB + 4, MODULE_SIZE, "b"); /* not on a page */
	add_module(0x20000, MODULE_SIZE, "c");
	add_module(MODULE_AT + 2 * MIB, 0, "d");
	assert_int_equal(load(1), 0);
	assert_int_equal(info1()->mods_count, 4);
	assert_int_equal(module1(0)->mod_start, MODULE_AT);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(module1(i)->mod_end - module1(i)->mod_start, MODULE_SIZE);
		assert_int_equal(module1(i)->mod_start % PAGE_SIZE, 0);
		assert_true(module1(i)->mod_start >= MIB);
		assert_module_at(module1(i)->mod_start, MODULE_SIZE);
	}
	assert_int_equal(module1(3)->mod_end - module1(3)->mod_start, 0);
}

static void files_in_the_kernels_way_step_aside(void **state)
{
	(void)state;
	kernel_linked_at(KERNEL_AT - 8 * KIB); /* over its own file */
	add_module(KERNEL_AT - 20 * KIB, 14 * KIB, "below");
	add_module(KERNEL_AT + MB_SIZE, MODULE_SIZE, "behind");
	add_module(MIB, KERNEL_AT - 20 * KIB - MIB, "all that is low");
	assert_int_equal(load(1), 0);
	assert_segment_at(KERNEL_AT - 8 * KIB);
	assert_module_at(module1(0)->mod_start, 14 * KIB);
	assert_module_at(module1(1)->mod_start, MODULE_SIZE);
	assert_module_at(module1(2)->mod_start, KERNEL_AT - 20 * KIB - MIB);
	assert_int_equal(module1(1)->mod_start, KERNEL_AT + MB_SIZE);
	assert_int_equal(module1(2)->mod_start, MIB);
}

static void low_segments_are_loaded(void **state)
{
	(void)state;
	kernel_linked_at(0x1000);
	assert_int_equal(load(1), 0);
	assert_segment_at(0x1000);
	kernel_linked_at(0x9fc00 - 16 * KIB); /* where the information would go */
	assert_int_equal(load(1), 0);
	assert_segment_at(0x9fc00 - 16 * KIB);
}

static void places_that_are_not_free_are_refused(void **state)
{
	static const uint64_t places[] = {0,
					  0x4ff,
					  0x9fc00,
					  0x9fc00 - 16 * KIB + 1,
					  0xa0000,
					  MIB - 1,
					  HIDDEN_START - 16 * KIB + 1,
					  HIDDEN_START,
					  ARENA_SIZE,
					  3 * GIB};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		kernel_linked_at(places[i]);
		console_clear();
		assert_int_equal(load(1), -E2BIG);
		assert_console(LOG_ERROR, "kernel \"/boot/mach\" needs 16 KiB of free RAM at");
	}
}

static void a_module_that_does_not_fit_is_named(void **state)
{
	(void)state;
	add_module(MODULE_AT + 4, 26 * MIB, "/boot/huge");
	assert_int_equal(load(1), -E2BIG);
	assert_console(LOG_ERROR, "\"/boot/huge\" of 26624 KiB does not fit");
}

static void the_screen_is_the_boot_loaders(void **state)
{
	(void)state;
	assert_int_equal(load(1), 0);
	assert_int_equal(info1()->framebuffer_type, MULTIBOOT_FRAMEBUFFER_TEXT);
	assert_int_equal(info1()->framebuffer_addr, 0xb8000);
	assert_int_equal(info1()->framebuffer_width, 80);
	boot.framebuffer =
		(struct boot_framebuffer){0xe0000000, 4096, 1024, 768, 32, 16, 8, 8, 8, 0, 8};
	assert_int_equal(load(1), 0);
	assert_int_equal(info1()->framebuffer_type, MULTIBOOT_FRAMEBUFFER_RGB);
	assert_int_equal(info1()->framebuffer_addr, 0xe0000000);
	assert_int_equal(info1()->framebuffer_pitch, 4096);
	assert_int_equal(info1()->red_position, 16);
}

/* Two sections that no segment has, one that one has, and a null section. */
static void add_sections(void)
{
	struct elf32_section *section = arena_at(KERNEL_AT + 0x8000);
	struct elf32_header *header = mb_header32(&boot.module[0]);

	memset(section, 0, 4 * sizeof(*section));
	section[1] = (struct elf32_section){
		.type = 1, .address = 2 * MIB, .offset = MB_SEGMENT_AT, .size = 8 * KIB};
	section[2] =
		(struct elf32_section){.type = ELF_SECTION_SYMTAB, .offset = 0x9001, .size = 0x123};
	section[3] = (struct elf32_section){
		.type = ELF_SECTION_STRTAB, .offset = MB_SIZE - 9, .size = 9};
	header->sections_at = 0x8000;
	header->section_size = sizeof(*section);
	header->section_count = 4;
	header->section_names = 3;
}

static void assert_sections(const struct elf32_section *section, uint64_t text)
{
	const uint8_t *symbols = arena_at(section[2].address);
	const uint8_t *strings = arena_at(section[3].address);

	assert_int_equal(section[0].address, 0);
	assert_int_equal(section[1].address, text);
	for (unsigned int i = 0; i < 0x123; i++)
		assert_int_equal(symbols[i], mb_byte(0x9001 + i));
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(strings[i], mb_byte(MB_SIZE - 9 + i));
}

static void symbols_are_handed_over(void **state)
{
	(void)state;
	add_sections();
	assert_int_equal(load(1), 0);
	assert_true(info1()->flags & MULTIBOOT_INFO_SECTIONS);
	assert_int_equal(info1()->syms[0], 4);
	assert_int_equal(info1()->syms[1], sizeof(struct elf32_section));
	assert_int_equal(info1()->syms[3], 3);
	assert_sections(arena_at(info1()->syms[2]), 2 * MIB);
}

static void symbols_outside_the_file_are_left_out(void **state)
{
	const struct elf32_section *section;

	(void)state;
	add_sections();
	((struct elf32_section *)arena_at(KERNEL_AT + 0x8000))[2].size = UINT32_MAX;
	assert_int_equal(load(1), 0);
	section = arena_at(info1()->syms[2]);
	assert_int_equal(section[2].address, 0);
	assert_int_not_equal(section[3].address, 0);
}

static void an_error_moves_nothing(void **state)
{
	static uint8_t before[ARENA_SIZE];

	(void)state;
	add_module(MODULE_AT + 4, 26 * MIB, "/boot/huge");
	memcpy(before, arena_at(0), ARENA_SIZE);
	assert_int_equal(load(1), -E2BIG);
	assert_memory_equal(before, arena_at(0), ARENA_SIZE);
}

/* ---- version 2 ---- */

static struct multiboot2_relocatable_tag relocatable = {
	{MULTIBOOT2_HEADER_RELOCATABLE, 0, 24}, 4 * MIB, 40 * MIB - 1, MIB, 0};

static const struct multiboot2_tag *tag2(uint32_t type, unsigned int skip)
{
	const struct multiboot2_info *info = arena_at(entry.ebx);
	const uint8_t *at = (const void *)(info + 1);

	assert_int_equal(entry.ebx % 8, 0);
	for (;;) {
		const struct multiboot2_tag *tag = (const void *)at;

		if (tag->type == type && !skip--)
			return tag;
		if (tag->type == MULTIBOOT2_TAG_END) {
			at += tag->size;
			assert_int_equal(at - (const uint8_t *)info, info->total_size);
			return NULL;
		}
		at += align_up(tag->size, 8);
	}
}

static void version_2_says_the_same_in_tags(void **state)
{
	const struct multiboot2_module *module;
	const struct multiboot2_memory *memory;
	const struct multiboot2_mmap *ranges;
	const struct multiboot2_mmap_entry *range;

	(void)state;
	mb2_header(&boot.module[0], "", 0);
	add_module(MODULE_AT, MODULE_SIZE, "module x=1");
	add_module(MODULE_AT + MIB, MODULE_SIZE, "");
	assert_int_equal(load(2), 0);
	assert_segment_at(2 * MIB);
	assert_int_equal(entry.eax, MULTIBOOT2_BOOTLOADER_MAGIC);
	assert_string_equal((char *)(tag2(MULTIBOOT2_TAG_CMDLINE, 0) + 1),
			    "/boot/mach  root=hd0 \"a b\"");
	assert_string_equal((char *)(tag2(MULTIBOOT2_TAG_LOADER_NAME, 0) + 1), "GRUB 2.06");
	module = (const void *)tag2(MULTIBOOT2_TAG_MODULE, 0);
	assert_string_equal((char *)(module + 1), "module x=1");
	assert_module_at(module->start, MODULE_SIZE);
	assert_int_equal(module->end - module->start, MODULE_SIZE);
	assert_non_null(tag2(MULTIBOOT2_TAG_MODULE, 1));
	assert_null(tag2(MULTIBOOT2_TAG_MODULE, 2));
	memory = (const void *)tag2(MULTIBOOT2_TAG_MEMORY, 0);
	assert_int_equal(memory->upper, (HIDDEN_START - MIB) / KIB);
	ranges = (const void *)tag2(MULTIBOOT2_TAG_MMAP, 0);
	assert_int_equal(ranges->tag.size, sizeof(*ranges) + 4 * sizeof(*range));
	range = (const void *)(ranges + 1);
	assert_int_equal(range[3].base, HIDDEN_START);
	assert_int_equal(range[3].type, E820_RESERVED);
	assert_null(tag2(MULTIBOOT2_TAG_LOAD_BASE, 0));
	assert_null(tag2(MULTIBOOT2_TAG_SECTIONS, 0));
}

static void the_rsdp_is_copied(void **state)
{
	const struct multiboot2_tag *tag;
	struct acpi_rsdp *rsdp = arena_at(RSDP_AT);

	(void)state;
	mb2_header(&boot.module[0], "", 0);
	assert_int_equal(load(2), 0);
	tag = tag2(MULTIBOOT2_TAG_RSDP_OLD, 0);
	assert_int_equal(tag->size, sizeof(*tag) + ACPI_RSDP_V1_SIZE);
	assert_memory_equal(tag + 1, rsdp, ACPI_RSDP_V1_SIZE);
	rsdp->revision = 2;
	rsdp->checksum -= 2;
	assert_int_equal(load(2), 0);
	tag = tag2(MULTIBOOT2_TAG_RSDP_NEW, 0);
	assert_memory_equal(tag + 1, rsdp, sizeof(*rsdp));
	memset(rsdp, 0, sizeof(*rsdp));
	assert_int_equal(load(2), 0);
	assert_null(tag2(MULTIBOOT2_TAG_RSDP_OLD, 0));
	assert_null(tag2(MULTIBOOT2_TAG_RSDP_NEW, 0));
}

static void version_2_has_the_screen_too(void **state)
{
	const struct multiboot2_framebuffer *screen;

	(void)state;
	mb2_header(&boot.module[0], "", 0);
	assert_int_equal(load(2), 0);
	screen = (const void *)tag2(MULTIBOOT2_TAG_FRAMEBUFFER, 0);
	assert_int_equal(screen->type, MULTIBOOT2_FRAMEBUFFER_TEXT);
	boot.framebuffer =
		(struct boot_framebuffer){0xe0000000, 4096, 1024, 768, 32, 16, 8, 8, 8, 0, 8};
	assert_int_equal(load(2), 0);
	screen = (const void *)tag2(MULTIBOOT2_TAG_FRAMEBUFFER, 0);
	assert_int_equal(screen->width, 1024);
	assert_int_equal(screen->green_position, 8);
}

static uint32_t load_base(void)
{
	const struct multiboot2_load_base *base = (const void *)tag2(MULTIBOOT2_TAG_LOAD_BASE, 0);

	return base->address;
}

static void relocatable_kernels_keep_their_rules(void **state)
{
	(void)state;
	kernel_linked_at(6 * MIB);
	add_sections();
	relocatable.preference = 0;
	mb2_header(&boot.module[0], &relocatable, sizeof(relocatable));
	assert_int_equal(load(2), 0);
	assert_int_equal(load_base(), 6 * MIB); /* where it is linked */
	kernel_linked_at(2 * MIB);		/* lower than it may be */
	add_sections();
	mb2_header(&boot.module[0], &relocatable, sizeof(relocatable));
	assert_int_equal(load(2), 0);
	assert_int_equal(load_base(), 4 * MIB);
	assert_int_equal(entry.eip, 4 * MIB + 0x20);
	assert_segment_at(4 * MIB);
	assert_sections((const void *)((const uint8_t *)tag2(MULTIBOOT2_TAG_SECTIONS, 0) +
				       sizeof(struct multiboot2_sections)),
			4 * MIB);
	relocatable.preference = MULTIBOOT2_PREFER_HIGHEST;
	mb2_header(&boot.module[0], &relocatable, sizeof(relocatable));
	assert_int_equal(load(2), 0);
	assert_int_equal(load_base(), 39 * MIB);
	assert_segment_at(39 * MIB);
}

static void a_kernel_without_room_in_its_range_is_refused(void **state)
{
	(void)state;
	relocatable.preference = 0;
	relocatable.max_addr = (uint32_t)(4 * MIB + 16 * KIB - 2);
	mb2_header(&boot.module[0], &relocatable, sizeof(relocatable));
	assert_int_equal(load(2), -E2BIG);
	assert_console(LOG_ERROR, "needs 16 KiB of free RAM between 0x400000 and 0x403fff");
	relocatable.max_addr = (uint32_t)(40 * MIB - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(the_kernel_arrives_whole),
		T(words_come_through_unchanged),
		T(strings_are_there_when_they_are_empty),
		T(the_map_is_the_guests),
		T(a_module_stays_if_it_can),
		T(files_in_the_kernels_way_step_aside),
		T(low_segments_are_loaded),
		T(places_that_are_not_free_are_refused),
		T(a_module_that_does_not_fit_is_named),
		T(the_screen_is_the_boot_loaders),
		T(symbols_are_handed_over),
		T(symbols_outside_the_file_are_left_out),
		T(an_error_moves_nothing),
		T(version_2_says_the_same_in_tags),
		T(the_rsdp_is_copied),
		T(version_2_has_the_screen_too),
		T(relocatable_kernels_keep_their_rules),
		T(a_kernel_without_room_in_its_range_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
