/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a Multiboot 1 kernel (ELF32) that finds another processor, other memory or other
 * words than its specification promises.
 * Manual: Multiboot Specification 0.6.96, 3.2 (machine state), 3.3 (information).
 * Vendors: none differ.
 * Cannot tell apart: words that Vellum's own boot loader has changed from words that Vellum
 * has.
 */
#include "multiboot.h"

#include "boot/multiboot_format.h"

const char guest_name[] = "multiboot1";

void multiboot_main(void);

static const struct multiboot_info *info(void)
{
	return (const void *)multiboot_entry.ebx;
}

/* Each entry's size says where the next one is. */
void multiboot_main(void)
{
	uint32_t at = info()->mmap_addr;

	for (; at < info()->mmap_addr + info()->mmap_length;) {
		const struct multiboot_mmap_entry *entry = (const void *)at;

		add_range(entry->base, entry->length, entry->type);
		at += entry->size + sizeof(entry->size);
	}
	multiboot_params.header.cmd_line_ptr = info()->cmdline;
	guest_start(&multiboot_params);
}

static void check_information(void)
{
	const uint32_t needed = MULTIBOOT_INFO_MEMORY | MULTIBOOT_INFO_CMDLINE |
				MULTIBOOT_INFO_MODULES | MULTIBOOT_INFO_SECTIONS |
				MULTIBOOT_INFO_MMAP | MULTIBOOT_INFO_LOADER_NAME;

	EXPECT_EQ("flags", info()->flags & needed, needed);
	EXPECT(told("root=hd0"));
	EXPECT(strlen((const char *)info()->boot_loader_name) > 0);
	say_same("line %s", (const char *)info()->cmdline);
	say_same("loader %s", (const char *)info()->boot_loader_name);
	say_same("memory %x %x", info()->mem_lower, info()->mem_upper);
}

static void check_modules(void)
{
	const struct multiboot_module *module = (const void *)info()->mods_addr;

	EXPECT_EQ("modules", info()->mods_count, 2);
	check_module(module[0].mod_start, module[0].mod_end, (const char *)module[0].string,
		     "first --a=${b}");
	check_module(module[1].mod_start, module[1].mod_end, (const char *)module[1].string,
		     "second");
}

/* The value of guest_name in the table of symbols. */
static void check_symbols(void)
{
	const struct elf32_section *section = (const void *)info()->syms[2];

	EXPECT_EQ("size of a section header", info()->syms[1], sizeof(*section));
	for (uint32_t i = 0; i < info()->syms[0]; i++) {
		const uint32_t *symbol = (const void *)section[i].address;
		const char *names = (const void *)section[section[i].link].address;

		if (section[i].type != ELF_SECTION_SYMTAB)
			continue;
		for (uint32_t j = 0; j < section[i].size / 16; j++, symbol += 4)
			if (!memcmp(names + symbol[0], "guest_name", sizeof("guest_name"))) {
				EXPECT_EQ("guest_name", symbol[1], (uintptr_t)guest_name);
				return;
			}
	}
	fail(__FILE__, __LINE__, "no symbol guest_name");
}

void guest_main(void)
{
	check_processor(MULTIBOOT_BOOTLOADER_MAGIC);
	check_segments();
	check_a20();
	check_information();
	check_modules();
	check_map();
	check_symbols();
}
