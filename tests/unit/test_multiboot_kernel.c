// SPDX-License-Identifier: GPL-2.0-only
/* Kernels of both Multiboot versions: what the loader understands, refuses, and never believes. */
#include "support.h"

#include "boot/multiboot2_format.h"
#include "guest/multiboot_kernel.h"
#include "lib/errno.h"
#include "multiboot_file.h"

#include <string.h>

#define FILE_AT MIB

static const struct word name = {"kernel.elf", 10};
static struct boot_module module;
static struct multiboot_kernel kernel;

static int setup(void **state)
{
	(void)state;
	arena_create(4 * MIB);
	console_clear();
	memset(&module, 0, sizeof(module));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static int read_as(unsigned int version)
{
	memset(&kernel, 0xee, sizeof(kernel));
	return multiboot_kernel_read(&module, name, version, &kernel);
}

/* One segment of 8 KiB at 2 MiB, linked at C0200000h. */
static struct elf32_segment *plain_elf32(void)
{
	struct elf32_segment *segment = mb_elf32(FILE_AT, 1, &module);

	segment->offset = MB_SEGMENT_AT;
	segment->physical_address = 2 * MIB;
	segment->virtual_address = 0xc0200000;
	segment->file_size = 8 * KIB;
	segment->memory_size = 12 * KIB;
	mb_header32(&module)->entry = 0xc0200010;
	return segment;
}

static struct elf64_segment *plain_elf64(void)
{
	struct elf64_segment *segment = mb_elf64(FILE_AT, 1, &module);

	segment->offset = MB_SEGMENT_AT;
	segment->physical_address = 2 * MIB;
	segment->virtual_address = 0xffffffff80200000;
	segment->file_size = 8 * KIB;
	segment->memory_size = 12 * KIB;
	mb_header64(&module)->entry = 0xffffffff80200010;
	return segment;
}

static void assert_refused(unsigned int version, const char *text)
{
	console_clear();
	assert_int_equal(read_as(version), -ENOEXEC);
	assert_console(LOG_ERROR, text);
	assert_console(LOG_ERROR, "kernel \"kernel.elf\"");
	assert_int_equal(console_count(LOG_ERROR), 1);
}

/* ---- ELF ---- */

static void both_classes_say_the_same(void **state)
{
	(void)state;
	plain_elf32();
	mb1_header(&module, MB_HEADER_AT, 0);
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.load_count, 1);
	assert_int_equal(kernel.image.load[0].base, 2 * MIB);
	assert_int_equal(kernel.image.load[0].file_size, 8 * KIB);
	assert_int_equal(kernel.image.load[0].size, 12 * KIB);
	assert_int_equal(kernel.image.entry, 2 * MIB + 0x10);
	plain_elf64();
	mb1_header(&module, MB_HEADER_AT, 0);
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.load[0].base, 2 * MIB);
	assert_int_equal(kernel.image.entry, 2 * MIB + 0x10);
	assert_console_quiet();
}

static void an_entry_may_be_physical(void **state)
{
	(void)state;
	plain_elf32();
	mb1_header(&module, MB_HEADER_AT, 0);
	mb_header32(&module)->entry = 2 * MIB + 12 * KIB - 1;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.entry, 2 * MIB + 12 * KIB - 1);
	mb_header32(&module)->entry = 2 * MIB + 12 * KIB;
	assert_refused(1, "its entry is in no segment (0x203000)");
	mb_header32(&module)->entry = 2 * MIB - 1;
	assert_refused(1, "its entry is in no segment");
}

static void what_is_no_segment_to_load_is_passed_over(void **state)
{
	struct elf32_segment *segment;

	(void)state;
	plain_elf32();
	segment = mb_elf32(FILE_AT, 3, &module);
	plain_elf32();
	mb_header32(&module)->segment_count = 3;
	mb1_header(&module, MB_HEADER_AT, 0);
	segment[1] = (struct elf32_segment){.type = 4, .offset = UINT32_MAX, .memory_size = 1};
	segment[2] = (struct elf32_segment){.type = ELF_SEGMENT_LOAD, .offset = UINT32_MAX};
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.load_count, 1);
}

static void wrong_segments_are_refused(void **state)
{
	struct elf32_segment *segment = plain_elf32();

	(void)state;
	mb1_header(&module, MB_HEADER_AT, 0);
	segment->offset = MB_SIZE - 8 * KIB + 1;
	assert_refused(1, "ends outside the file");
	segment->offset = UINT32_MAX;
	assert_refused(1, "ends outside the file");
	segment->offset = MB_SEGMENT_AT;
	segment->memory_size = 8 * KIB - 1;
	assert_refused(1, "is larger in the file than in memory");
	segment->memory_size = 12 * KIB;
	segment->physical_address = UINT32_MAX - 12 * KIB + 2;
	assert_refused(1, "does not lie below 4 GiB");
}

static void wide_numbers_do_not_wrap(void **state)
{
	struct elf64_segment *segment = plain_elf64();

	(void)state;
	mb1_header(&module, MB_HEADER_AT, 0);
	segment->offset = UINT64_MAX - 4 * KIB;
	assert_refused(1, "ends outside the file");
	segment->offset = MB_SEGMENT_AT;
	segment->memory_size = UINT64_MAX;
	assert_refused(1, "does not lie below 4 GiB");
	segment->memory_size = 12 * KIB;
	segment->physical_address = UINT64_MAX - 4 * KIB;
	assert_refused(1, "does not lie below 4 GiB");
	segment->physical_address = 4 * GIB;
	assert_refused(1, "does not lie below 4 GiB");
	segment->physical_address = 2 * MIB;
	mb_header64(&module)->segments_at = UINT64_MAX - 8;
	assert_refused(1, "program headers end outside the file");
}

static void segments_must_not_overlap(void **state)
{
	struct elf32_segment *segment = mb_elf32(FILE_AT, 2, &module);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		segment[i].offset = MB_SEGMENT_AT;
		segment[i].physical_address = (uint32_t)(MIB + i * 4 * KIB);
		segment[i].memory_size = 4 * KIB;
	}
	mb_header32(&module)->entry = MIB;
	mb1_header(&module, MB_HEADER_AT, 0);
	segment[0].virtual_address = MIB;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.load_count, 2);
	segment[0].memory_size++;
	assert_refused(1, "overlaps another one");
}

static void too_many_segments_are_refused(void **state)
{
	struct elf32_segment *segment = mb_elf32(FILE_AT, ELF_MAX_SEGMENTS + 1, &module);

	(void)state;
	for (uint32_t i = 0; i <= ELF_MAX_SEGMENTS; i++) {
		segment[i].physical_address = (uint32_t)MIB + i * 16;
		segment[i].memory_size = 16;
	}
	mb1_header(&module, 0x800, 0);
	assert_refused(1, "has more than 32 segments to load");
}

static void files_that_are_no_kernel_are_refused(void **state)
{
	struct elf32_header *header;

	(void)state;
	plain_elf32();
	mb1_header(&module, MB_HEADER_AT, 0);
	header = mb_header32(&module);
	header->machine = 40;
	assert_refused(1, "is an ELF file for machine 40");
	header->machine = ELF_MACHINE_386;
	header->ident.data = 2;
	assert_refused(1, "byte order 2");
	header->ident.data = ELF_DATA_LITTLE;
	header->ident.elf_class = 3;
	assert_refused(1, "neither a 32-bit nor a 64-bit ELF file");
	header->ident.elf_class = ELF_CLASS_32;
	header->segment_size = sizeof(struct elf32_segment) - 1;
	assert_refused(1, "its program headers are too short");
	header->segment_size = sizeof(struct elf32_segment);
	header->segment_count = 0;
	assert_refused(1, "it has no segment to load");
	header->segment_count = 0xffff;
	assert_int_equal(read_as(1), -ENOEXEC);
}

static void only_sound_sections_count(void **state)
{
	struct elf32_header *header;

	(void)state;
	plain_elf32();
	mb1_header(&module, MB_HEADER_AT, 0);
	header = mb_header32(&module);
	header->sections_at = MB_SIZE - 5 * sizeof(struct elf32_section);
	header->section_size = sizeof(struct elf32_section);
	header->section_count = 5;
	header->section_names = 4;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.sections.count, 5);
	assert_int_equal(kernel.image.sections.names, 4);
	header->sections_at++;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.sections.count, 0);
	header->sections_at--;
	header->section_size--;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.sections.count, 0);
}

/* ---- version 1 ---- */

static void a_header_is_found_within_8_kib_only(void **state)
{
	(void)state;
	plain_elf32();
	mb1_header(&module, MULTIBOOT1_SEARCH - 12, 0);
	assert_true(multiboot_kernel_found(&module, 1));
	plain_elf32();
	mb1_header(&module, MULTIBOOT1_SEARCH - 8, 0);
	assert_false(multiboot_kernel_found(&module, 1));
	plain_elf32();
	mb1_header(&module, MB_HEADER_AT, 0);
	memmove(arena_at(FILE_AT + MB_HEADER_AT + 2), arena_at(FILE_AT + MB_HEADER_AT), 12);
	assert_false(multiboot_kernel_found(&module, 1));
	mb1_header(&module, MB_HEADER_AT, 0)->checksum++;
	assert_false(multiboot_kernel_found(&module, 1));
	assert_refused(1, "has no Multiboot 1 header with a right checksum in its first 8192");
	module.size = 0;
	assert_false(multiboot_kernel_found(&module, 1));
}

static void known_flags_are_taken_and_others_named(void **state)
{
	(void)state;
	plain_elf32();
	mb1_header(&module, MB_HEADER_AT, 7);
	assert_int_equal(read_as(1), 0);
	mb1_header(&module, MB_HEADER_AT, 0xfffe0007);
	assert_int_equal(read_as(1), 0);
	mb1_header(&module, MB_HEADER_AT, 0x802b);
	assert_refused(1, "Multiboot flags 0x802b, of which 0x8028");
}

static struct multiboot1_header *kludge(void)
{
	struct multiboot1_header *header;

	plain_elf32();
	header = mb1_header(&module, MB_HEADER_AT, (uint32_t)MULTIBOOT1_ADDRESSES);
	header->load_addr = 2 * MIB;
	header->header_addr = 2 * MIB + 0x100; /* the file's first 300h bytes stay behind */
	header->load_end_addr = 2 * MIB + 4 * KIB;
	header->bss_end_addr = 2 * MIB + 6 * KIB;
	header->entry_addr = 2 * MIB + 4;
	return header;
}

static void address_fields_replace_the_elf_header(void **state)
{
	struct multiboot1_header *header = kludge();

	(void)state;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.load_count, 1);
	assert_int_equal(kernel.image.load[0].offset, MB_HEADER_AT - 0x100);
	assert_int_equal(kernel.image.load[0].base, 2 * MIB);
	assert_int_equal(kernel.image.load[0].file_size, 4 * KIB);
	assert_int_equal(kernel.image.load[0].size, 6 * KIB);
	assert_int_equal(kernel.image.entry, 2 * MIB + 4);
	header->load_end_addr = header->bss_end_addr = 0;
	assert_int_equal(read_as(1), 0);
	assert_int_equal(kernel.image.load[0].file_size, MB_SIZE - MB_HEADER_AT + 0x100);
	assert_int_equal(kernel.image.load[0].size, kernel.image.load[0].file_size);
}

static void wrong_address_fields_are_refused(void **state)
{
	struct multiboot1_header *header = kludge();

	(void)state;
	header->load_addr = header->header_addr + 1;
	assert_refused(1, "its header is not where load_addr and header_addr say");
	header->load_addr = header->header_addr - MB_HEADER_AT - 1;
	assert_refused(1, "its header is not where load_addr and header_addr say");
	header = kludge();
	header->load_end_addr = header->load_addr - 1;
	assert_refused(1, "load_end_addr is below load_addr");
	header->load_end_addr = header->load_addr + MB_SIZE;
	header->bss_end_addr = 0;
	assert_refused(1, "ends outside the file");
	header = kludge();
	header->bss_end_addr = header->load_end_addr - 1;
	assert_refused(1, "bss_end_addr is below the end");
	header = kludge();
	header->entry_addr = header->bss_end_addr;
	assert_refused(1, "its entry is not in what is loaded");
	header = kludge();
	header->entry_addr = header->load_addr - 1;
	assert_refused(1, "its entry is not in what is loaded");
	kludge();
	module.size = MB_HEADER_AT + 16;
	assert_refused(1, "its Multiboot header is cut off");
}

/* ---- version 2 ---- */

static void tags_are_optional(void **state)
{
	(void)state;
	plain_elf64();
	mb2_header(&module, "", 0);
	assert_true(multiboot_kernel_found(&module, 2));
	assert_int_equal(read_as(2), 0);
	assert_int_equal(kernel.image.entry, 2 * MIB + 0x10);
	assert_false(kernel.relocation.allowed);
}

static void an_entry_tag_wins(void **state)
{
	struct multiboot2_entry_tag tag[2] = {{{MULTIBOOT2_HEADER_ENTRY, 0, 12}, 2 * MIB + 0x30}};

	(void)state;
	plain_elf64();
	mb2_header(&module, tag, 16);
	assert_int_equal(read_as(2), 0);
	assert_int_equal(kernel.image.entry, 2 * MIB + 0x30);
	tag[0].entry_addr = 3 * MIB;
	mb2_header(&module, tag, 16);
	assert_refused(2, "its entry is not in what is loaded");
	tag[0].tag.size = 8;
	mb2_header(&module, tag, 8);
	assert_refused(2, "its entry tag is cut off");
}

static void address_tags_want_an_entry(void **state)
{
	struct {
		struct multiboot2_address_tag address;
		struct multiboot2_entry_tag entry;
		uint32_t padding;
	} tags = {
		.address =
			{{MULTIBOOT2_HEADER_ADDRESS, 0, 24}, 2 * MIB + MB_HEADER_AT, 2 * MIB, 0, 0},
		.entry = {{MULTIBOOT2_HEADER_ENTRY, 0, 12}, 2 * MIB + 0x30},
	};

	(void)state;
	plain_elf64();
	mb2_header(&module, &tags, sizeof(tags));
	assert_int_equal(read_as(2), 0);
	assert_int_equal(kernel.image.load[0].offset, 0);
	assert_int_equal(kernel.image.load[0].size, MB_SIZE);
	mb2_header(&module, &tags, sizeof(tags.address));
	assert_refused(2, "it has an address tag, but no entry tag");
}

static void a_relocatable_tag_is_taken(void **state)
{
	struct multiboot2_relocatable_tag tag = {
		{MULTIBOOT2_HEADER_RELOCATABLE, 0, 24}, MIB, UINT32_MAX, 2 * MIB, 2};

	(void)state;
	plain_elf64();
	mb2_header(&module, &tag, sizeof(tag));
	assert_int_equal(read_as(2), 0);
	assert_true(kernel.relocation.allowed && kernel.relocation.highest);
	assert_int_equal(kernel.relocation.lowest, MIB);
	assert_int_equal(kernel.relocation.limit, 4 * GIB);
	assert_int_equal(kernel.relocation.align, 2 * MIB);
	tag.align = 3;
	mb2_header(&module, &tag, sizeof(tag));
	assert_refused(2, "its alignment is no power of two (0x3)");
	tag.align = 0;
	mb2_header(&module, &tag, sizeof(tag));
	assert_int_equal(read_as(2), 0);
	assert_int_equal(kernel.relocation.align, 1);
}

static void what_is_required_and_unknown_is_named(void **state)
{
	struct multiboot2_header_tag tag = {77, 0, 8};
	uint32_t request[4] = {MULTIBOOT2_HEADER_REQUEST, 16, MULTIBOOT2_TAG_MMAP, 12};

	(void)state;
	plain_elf64();
	mb2_header(&module, &tag, sizeof(tag));
	assert_refused(2, "a tag of this type (Multiboot 2, 77)");
	tag.flags = MULTIBOOT2_HEADER_OPTIONAL;
	mb2_header(&module, &tag, sizeof(tag));
	assert_int_equal(read_as(2), 0);
	tag = (struct multiboot2_header_tag){MULTIBOOT2_HEADER_EFI_SERVICES, 0, 8};
	mb2_header(&module, &tag, sizeof(tag));
	assert_refused(2, "EFI boot services");
	mb2_header(&module, request, sizeof(request));
	assert_refused(2, "information of this type (Multiboot 2, 12)");
	request[3] = UINT32_MAX;
	mb2_header(&module, request, sizeof(request));
	assert_refused(2, "information of this type");
	request[0] |= MULTIBOOT2_HEADER_OPTIONAL << 16;
	mb2_header(&module, request, sizeof(request));
	assert_int_equal(read_as(2), 0);
	request[0] = MULTIBOOT2_HEADER_REQUEST;
	request[3] = MULTIBOOT2_TAG_CMDLINE;
	mb2_header(&module, request, sizeof(request));
	assert_int_equal(read_as(2), 0);
}

static void damaged_tags_end_nowhere_else(void **state)
{
	struct multiboot2_header_tag tag = {4, 0, 7};
	struct multiboot2_header *header;

	(void)state;
	plain_elf64();
	mb2_header(&module, &tag, sizeof(tag));
	assert_refused(2, "a tag of its Multiboot header has this size (0x7)");
	tag.size = UINT32_MAX;
	mb2_header(&module, &tag, sizeof(tag));
	assert_refused(2, "a tag of its Multiboot header has this size");
	header = arena_at(FILE_AT + MB_HEADER_AT);
	header->length = 16;
	header->checksum = -(MULTIBOOT2_MAGIC + 16);
	assert_refused(2, "its Multiboot header has no last tag");
	header->length = MULTIBOOT2_SEARCH;
	header->checksum = -(MULTIBOOT2_MAGIC + MULTIBOOT2_SEARCH);
	assert_refused(2, "its Multiboot header is cut off");
	header->architecture = 4;
	header->checksum -= 4;
	assert_refused(2, "a processor that is not i386 (Multiboot 2, 4)");
}

/* Whatever bytes change, no read leaves the file: the arena ends right behind it. */
static void random_damage_is_survived(void **state)
{
	struct multiboot2_relocatable_tag tag = {
		{MULTIBOOT2_HEADER_RELOCATABLE, 0, 24}, MIB, UINT32_MAX, 2 * MIB, 2};
	uint64_t seed = 1;

	(void)state;
	arena_create(FILE_AT + MB_SIZE);
	for (unsigned int round = 0; round < 4000; round++) {
		uint8_t *file = arena_at(FILE_AT);
		bool wide = round & 1;

		if (wide)
			plain_elf64();
		else
			plain_elf32();
		mb2_header(&module, &tag, sizeof(tag));
		mb1_header(&module, 0x800, round & 2 ? (uint32_t)MULTIBOOT1_ADDRESSES : 0);
		for (unsigned int i = 0; i < 3; i++) {
			uint64_t where = random_below(&seed, 128);

			if (i == 2)
				where += MB_HEADER_AT + 16;
			file[where] = (uint8_t)random_next(&seed);
		}
		module.size = MB_SIZE - random_below(&seed, 2) * random_below(&seed, MB_SIZE);
		module.start = hpa(FILE_AT + MB_SIZE - module.size);
		memmove(arena_at(module.start.raw), arena_at(FILE_AT), module.size);
		for (unsigned int version = 1; version <= 2; version++) {
			if (read_as(version))
				continue;
			for (unsigned int i = 0; i < kernel.image.load_count; i++) {
				struct elf_load *load = &kernel.image.load[i];

				assert_true(load->offset + load->file_size <= module.size);
				assert_true(load->base + load->size <= 4 * GIB);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(both_classes_say_the_same),
		T(an_entry_may_be_physical),
		T(what_is_no_segment_to_load_is_passed_over),
		T(wrong_segments_are_refused),
		T(wide_numbers_do_not_wrap),
		T(segments_must_not_overlap),
		T(too_many_segments_are_refused),
		T(files_that_are_no_kernel_are_refused),
		T(only_sound_sections_count),
		T(a_header_is_found_within_8_kib_only),
		T(known_flags_are_taken_and_others_named),
		T(address_fields_replace_the_elf_header),
		T(wrong_address_fields_are_refused),
		T(tags_are_optional),
		T(an_entry_tag_wins),
		T(address_tags_want_an_entry),
		T(a_relocatable_tag_is_taken),
		T(what_is_required_and_unknown_is_named),
		T(damaged_tags_end_nowhere_else),
		T(random_damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
