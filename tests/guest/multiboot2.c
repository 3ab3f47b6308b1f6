/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a Multiboot 2 kernel (ELF64 with an entry tag) that finds another processor, other
 * memory or other words than its specification promises.
 * Manual: Multiboot2 Specification 2.0, 3.3 (machine state), 3.6 (information).
 * Vendors: none differ.
 * Cannot tell apart: words that Vellum's own boot loader has changed from words that Vellum
 * has.
 */
#include "multiboot.h"

#include "boot/multiboot2_format.h"
#include "dev/acpi_tables.h"

const char guest_name[] = "multiboot2";

void multiboot_main(void);

static const struct multiboot2_info *info(void)
{
	return (const void *)multiboot_entry.ebx;
}

/* The first tag of a type behind after, or of all; NULL if there is none. */
static const void *next_tag(const struct multiboot2_tag *after, uint32_t type)
{
	const uint8_t *at = after ? (const uint8_t *)after + align_up(after->size, 8)
				  : (const uint8_t *)(info() + 1);

	for (;;) {
		const struct multiboot2_tag *tag = (const void *)at;

		if (tag->type == type)
			return tag;
		if (tag->type == MULTIBOOT2_TAG_END)
			return NULL;
		at += align_up(tag->size, 8);
	}
}

static const char *text(uint32_t type)
{
	const struct multiboot2_tag *tag = next_tag(NULL, type);

	return tag ? (const char *)(tag + 1) : "";
}

void multiboot_main(void)
{
	const struct multiboot2_mmap *map = next_tag(NULL, MULTIBOOT2_TAG_MMAP);
	const uint8_t *at = (const void *)(map + 1);

	for (; at < (const uint8_t *)map + map->tag.size; at += map->entry_size) {
		const struct multiboot2_mmap_entry *entry = (const void *)at;

		add_range(entry->base, entry->length, entry->type);
	}
	multiboot_params.header.cmd_line_ptr = (uint32_t)text(MULTIBOOT2_TAG_CMDLINE);
	guest_start(&multiboot_params);
}

static void check_information(void)
{
	const struct multiboot2_memory *memory = next_tag(NULL, MULTIBOOT2_TAG_MEMORY);
	const struct multiboot2_tag *end = next_tag(NULL, MULTIBOOT2_TAG_END);

	EXPECT_EQ("alignment", multiboot_entry.ebx % 8, 0);
	EXPECT_EQ("end", (uintptr_t)end + end->size, (uintptr_t)info() + info()->total_size);
	EXPECT(told("root=hd0"));
	EXPECT(strlen(text(MULTIBOOT2_TAG_LOADER_NAME)) > 0);
	say_same("line %s", text(MULTIBOOT2_TAG_CMDLINE));
	say_same("loader %s", text(MULTIBOOT2_TAG_LOADER_NAME));
	say_same("memory %x %x", memory->lower, memory->upper);
}

static void check_modules(void)
{
	const struct multiboot2_module *first = next_tag(NULL, MULTIBOOT2_TAG_MODULE);
	const struct multiboot2_module *second = next_tag(&first->tag, MULTIBOOT2_TAG_MODULE);

	check_module(first->start, first->end, (const char *)(first + 1), "first --a=${b}");
	check_module(second->start, second->end, (const char *)(second + 1), "second");
	EXPECT(!next_tag(&second->tag, MULTIBOOT2_TAG_MODULE));
}

/* The value of guest_name in the table of symbols. */
static void check_symbols(void)
{
	const struct multiboot2_sections *sections = next_tag(NULL, MULTIBOOT2_TAG_SECTIONS);
	const struct elf64_section *section = (const void *)(sections + 1);

	EXPECT_EQ("size of a section header", sections->entry_size, sizeof(*section));
	for (uint32_t i = 0; i < sections->count; i++) {
		const uint32_t *symbol = (const void *)(uintptr_t)section[i].address;
		const char *names = (const void *)(uintptr_t)section[section[i].link].address;

		if (section[i].type != ELF_SECTION_SYMTAB)
			continue;
		for (uint32_t j = 0; j < section[i].size / 24; j++, symbol += 6)
			if (!memcmp(names + symbol[0], "guest_name", sizeof("guest_name"))) {
				EXPECT_EQ("guest_name", symbol[2], (uintptr_t)guest_name);
				return;
			}
	}
	fail(__FILE__, __LINE__, "no symbol guest_name");
}

static void check_rsdp(void)
{
	const struct multiboot2_tag *tag = next_tag(NULL, MULTIBOOT2_TAG_RSDP_OLD);
	const struct acpi_rsdp *rsdp = (const void *)(tag + 1);

	EXPECT(tag);
	EXPECT(!memcmp(rsdp->signature, ACPI_RSDP_SIGNATURE, ACPI_RSDP_SIGNATURE_SIZE));
	say_same("RSDT %x", rsdp->rsdt);
}

void guest_main(void)
{
	check_processor(MULTIBOOT2_BOOTLOADER_MAGIC);
	check_segments();
	check_a20();
	check_information();
	check_modules();
	check_map();
	check_symbols();
	check_rsdp();
}
