/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel's symbols, which both Multiboot versions give it: ELF sections that no segment has. */
#ifndef VELLUM_GUEST_MULTIBOOT_SYMBOLS_H
#define VELLUM_GUEST_MULTIBOOT_SYMBOLS_H

#include "core/boot_info.h"
#include "guest/elf_image.h"
#include "lib/types.h"

/* Bytes of the table of sections and of the symbols and strings; 0 without sections. */
uint64_t multiboot_symbols_size(const struct boot_module *module,
				const struct elf_sections *sections);

/*
 * Writes both at the physical address at, the table first. It then says where each
 * section is: those of symbols and strings here, those of segments load_offset from
 * where they are linked.
 */
void multiboot_symbols_write(const struct boot_module *module, const struct elf_sections *sections,
			     uint64_t at, uint64_t load_offset);

#endif
