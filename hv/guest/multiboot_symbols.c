// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_symbols.h"

#include "guest/elf_format.h"
#include "guest/module.h"
#include "mm/physmap.h"

#define SECTION_ALIGN 16

static uint64_t table_size(const struct elf_sections *sections)
{
	return (uint64_t)sections->count * sections->entry_size;
}

/* The table in the file, which is all there (find_sections()). */
static const uint8_t *table_in(const struct boot_module *module,
			       const struct elf_sections *sections)
{
	return phys_to_virt(hpa(module->start.raw + sections->offset));
}

static bool is_wanted(const struct boot_module *module, struct elf_section section)
{
	return (section.type == ELF_SECTION_SYMTAB || section.type == ELF_SECTION_STRTAB) &&
	       section.address == 0 && section.offset <= module->size &&
	       section.size <= module->size - section.offset;
}

uint64_t multiboot_symbols_size(const struct boot_module *module,
				const struct elf_sections *sections)
{
	uint64_t size = align_up(table_size(sections), SECTION_ALIGN);

	for (uint32_t i = 0; i < sections->count; i++) {
		struct elf_section section =
			elf_section_read(sections, table_in(module, sections), i);

		if (is_wanted(module, section))
			size += align_up(section.size, SECTION_ALIGN);
	}
	return size;
}

void multiboot_symbols_write(const struct boot_module *module, const struct elf_sections *sections,
			     uint64_t at, uint64_t load_offset)
{
	uint8_t *table = phys_to_virt(hpa(at));
	uint64_t next = at + align_up(table_size(sections), SECTION_ALIGN);

	module_read(module, sections->offset, table, table_size(sections));
	for (uint32_t i = 0; i < sections->count; i++) {
		struct elf_section section = elf_section_read(sections, table, i);

		if (section.address != 0)
			elf_section_move(sections, table, i, section.address + load_offset);
		if (!is_wanted(module, section))
			continue;
		module_read(module, section.offset, phys_to_virt(hpa(next)), section.size);
		elf_section_move(sections, table, i, next);
		next += align_up(section.size, SECTION_ALIGN);
	}
}
