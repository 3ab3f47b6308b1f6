/* SPDX-License-Identifier: GPL-2.0-only */
/* What an ELF file wants in memory, 32 and 64 bits alike, checked. */
#ifndef VELLUM_GUEST_ELF_IMAGE_H
#define VELLUM_GUEST_ELF_IMAGE_H

#include "core/boot_info.h"
#include "lib/types.h"
#include "lib/words.h"

#define ELF_MAX_SEGMENTS 32

/* All of it lies in the file, and below 4 GiB in memory. */
struct elf_load {
	uint64_t offset, file_size; /* bytes in the file */
	uint64_t base, size;	    /* physical address; bytes, file_size or more: the rest is 0 */
	uint64_t virtual_base;
};

/* The table of sections, which lies in the file. count 0: there is none. */
struct elf_sections {
	uint64_t offset;
	uint32_t count;
	uint32_t entry_size; /* bytes, a section header or more */
	uint32_t names;	     /* index of the section that holds the names */
	bool wide;	     /* ELF64 */
};

struct elf_image {
	uint64_t entry; /* physical, in a segment */
	unsigned int load_count;
	struct elf_load load[ELF_MAX_SEGMENTS]; /* none empty, none overlaps another one */
	struct elf_sections sections;
};

/* One section's header, of either class. */
struct elf_section {
	uint32_t type;
	uint64_t address, offset, size;
};

bool elf_image_found(const struct boot_module *module);

/*
 * Checks the module and fills image. -ENOEXEC if it isn't for this processor, or isn't
 * whole; the console then says which file, what was found and what was needed.
 */
int elf_image_read(const struct boot_module *module, struct word name, struct elf_image *image);

/* The range of physical addresses that the segments lie in. */
uint64_t elf_image_base(const struct elf_image *image);
uint64_t elf_image_end(const struct elf_image *image);

/*
 * Whether the segment at [base, base+size) has a place of its own below 4 GiB, and its
 * file part is in the file; adds it. -ENOEXEC and a message else.
 */
int elf_image_add(struct elf_image *image, const struct elf_load *load, uint64_t file_size,
		  struct word name);

/* table: a copy of the table of sections. index is below count. */
struct elf_section elf_section_read(const struct elf_sections *sections, const uint8_t *table,
				    uint32_t index);
void elf_section_move(const struct elf_sections *sections, uint8_t *table, uint32_t index,
		      uint64_t address);

#endif
