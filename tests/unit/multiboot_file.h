/* SPDX-License-Identifier: GPL-2.0-only */
/* Builds the kernels that the Multiboot loader's tests load: a header, and an ELF file around it.
 */
#ifndef VELLUM_TESTS_UNIT_MULTIBOOT_FILE_H
#define VELLUM_TESTS_UNIT_MULTIBOOT_FILE_H

#include "core/boot_info.h"
#include "guest/elf_format.h"
#include "guest/multiboot_header.h"
#include "lib/types.h"

/* In the file: where the Multiboot header is, and the first segment's bytes are. */
#define MB_HEADER_AT  0x400
#define MB_SEGMENT_AT 0x1000

/* Where the segments lie, in pages behind each other in the file; files of MB_SIZE bytes. */
#define MB_SIZE (64 * KIB)

/* A byte of segment data, by its offset in the file. */
uint8_t mb_byte(uint64_t offset);

/*
 * An ELF file of MB_SIZE bytes at a physical address of the arena, with this many program
 * headers (all of type LOAD, size 0) and an entry of 0; every other byte is mb_byte().
 * module gets its place.
 */
struct elf32_segment *mb_elf32(uint64_t at, unsigned int segments, struct boot_module *module);
struct elf64_segment *mb_elf64(uint64_t at, unsigned int segments, struct boot_module *module);
struct elf32_header *mb_header32(const struct boot_module *module);
struct elf64_header *mb_header64(const struct boot_module *module);

/* A Multiboot 1 header with these flags at offset. */
struct multiboot1_header *mb1_header(const struct boot_module *module, uint64_t offset,
				     uint32_t flags);

/* A Multiboot 2 header at MB_HEADER_AT with tags, size bytes of them, and the end tag. */
void mb2_header(const struct boot_module *module, const void *tags, uint32_t size);

#endif
