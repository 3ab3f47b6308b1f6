// SPDX-License-Identifier: GPL-2.0-only
#include "multiboot_file.h"

#include "support.h"

#include <string.h>

uint8_t mb_byte(uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8) * 13 + 1);
}

static void fill(uint64_t at, struct boot_module *module)
{
	uint8_t *file = arena_at(at);

	for (uint64_t i = 0; i < MB_SIZE; i++)
		file[i] = mb_byte(i);
	module->start = hpa(at);
	module->size = MB_SIZE;
}

static struct elf_ident ident(uint8_t elf_class)
{
	struct elf_ident ident = {.elf_class = elf_class, .data = ELF_DATA_LITTLE, .version = 1};

	memcpy(ident.magic, ELF_MAGIC, ELF_MAGIC_SIZE);
	return ident;
}

struct elf32_segment *mb_elf32(uint64_t at, unsigned int segments, struct boot_module *module)
{
	struct elf32_header *header = arena_at(at);
	struct elf32_segment *segment = arena_at(at + sizeof(*header));

	fill(at, module);
	*header = (struct elf32_header){
		.ident = ident(ELF_CLASS_32),
		.machine = ELF_MACHINE_386,
		.segments_at = sizeof(*header),
		.segment_size = sizeof(*segment),
		.segment_count = (uint16_t)segments,
	};
	for (unsigned int i = 0; i < segments; i++)
		segment[i] = (struct elf32_segment){.type = ELF_SEGMENT_LOAD};
	return segment;
}

struct elf64_segment *mb_elf64(uint64_t at, unsigned int segments, struct boot_module *module)
{
	struct elf64_header *header = arena_at(at);
	struct elf64_segment *segment = arena_at(at + sizeof(*header));

	fill(at, module);
	*header = (struct elf64_header){
		.ident = ident(ELF_CLASS_64),
		.machine = ELF_MACHINE_X86_64,
		.segments_at = sizeof(*header),
		.segment_size = sizeof(*segment),
		.segment_count = (uint16_t)segments,
	};
	for (unsigned int i = 0; i < segments; i++)
		segment[i] = (struct elf64_segment){.type = ELF_SEGMENT_LOAD};
	return segment;
}

struct elf32_header *mb_header32(const struct boot_module *module)
{
	return arena_at(module->start.raw);
}

struct elf64_header *mb_header64(const struct boot_module *module)
{
	return arena_at(module->start.raw);
}

struct multiboot1_header *mb1_header(const struct boot_module *module, uint64_t offset,
				     uint32_t flags)
{
	struct multiboot1_header *header = arena_at(module->start.raw + offset);

	header->magic = MULTIBOOT1_MAGIC;
	header->flags = flags;
	header->checksum = -(MULTIBOOT1_MAGIC + flags);
	return header;
}

void mb2_header(const struct boot_module *module, const void *tags, uint32_t size)
{
	static const struct multiboot2_header_tag end = {MULTIBOOT2_HEADER_END, 0, sizeof(end)};
	struct multiboot2_header *header = arena_at(module->start.raw + MB_HEADER_AT);

	header->magic = MULTIBOOT2_MAGIC;
	header->architecture = MULTIBOOT2_ARCHITECTURE;
	header->length = (uint32_t)(sizeof(*header) + size + sizeof(end));
	header->checksum = -(MULTIBOOT2_MAGIC + header->length);
	memcpy(header + 1, tags, size);
	memcpy((uint8_t *)(header + 1) + size, &end, sizeof(end));
}
