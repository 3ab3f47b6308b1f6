/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures of the ELF format: System V ABI, generic, chapters 4 and 5. */
#ifndef VELLUM_GUEST_ELF_FORMAT_H
#define VELLUM_GUEST_ELF_FORMAT_H

#include "lib/types.h"

#define ELF_MAGIC      "\x7f\x45\x4c\x46" /* "ELF" behind a DEL */
#define ELF_MAGIC_SIZE 4

#define ELF_CLASS_32	1
#define ELF_CLASS_64	2
#define ELF_DATA_LITTLE 1

#define ELF_MACHINE_386	   3
#define ELF_MACHINE_X86_64 62

#define ELF_SEGMENT_LOAD   1
#define ELF_SECTION_SYMTAB 2
#define ELF_SECTION_STRTAB 3

struct elf_ident {
	char magic[ELF_MAGIC_SIZE];
	uint8_t elf_class;
	uint8_t data;
	uint8_t version;
	uint8_t padding[9];
};

struct elf32_header {
	struct elf_ident ident;
	uint16_t type, machine;
	uint32_t version;
	uint32_t entry;
	uint32_t segments_at, sections_at; /* offsets in the file */
	uint32_t flags;
	uint16_t header_size;
	uint16_t segment_size, segment_count;
	uint16_t section_size, section_count, section_names;
};

struct elf64_header {
	struct elf_ident ident;
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry;
	uint64_t segments_at, sections_at;
	uint32_t flags;
	uint16_t header_size;
	uint16_t segment_size, segment_count;
	uint16_t section_size, section_count, section_names;
};

struct elf32_segment {
	uint32_t type, offset, virtual_address, physical_address;
	uint32_t file_size, memory_size, flags, align;
};

struct elf64_segment {
	uint32_t type, flags;
	uint64_t offset, virtual_address, physical_address;
	uint64_t file_size, memory_size, align;
};

struct elf32_section {
	uint32_t name, type, flags, address, offset, size, link, info, align, entry_size;
};

struct elf64_section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link, info;
	uint64_t align, entry_size;
};

_Static_assert(sizeof(struct elf32_header) == 52, "ELF header");
_Static_assert(sizeof(struct elf64_header) == 64, "ELF header");
_Static_assert(sizeof(struct elf32_segment) == 32, "program header");
_Static_assert(sizeof(struct elf64_segment) == 56, "program header");
_Static_assert(sizeof(struct elf32_section) == 40, "section header");
_Static_assert(sizeof(struct elf64_section) == 64, "section header");

#endif
