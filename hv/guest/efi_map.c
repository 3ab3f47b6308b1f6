// SPDX-License-Identifier: GPL-2.0-only
#include "guest/efi_map.h"

#include "boot/efi_tables.h"
#include "lib/string.h"

/* The map as it grows; to is NULL if it is only counted. */
struct writer {
	uint8_t *to;
	uint64_t used;
	uint32_t stride;
};

static void write(struct writer *writer, const struct efi_memory_descriptor *descriptor)
{
	if (writer->to != NULL) {
		memset(writer->to + writer->used, 0, writer->stride);
		memcpy(writer->to + writer->used, descriptor, sizeof(*descriptor));
	}
	writer->used += writer->stride;
}

/* UEFI 2.10, table 7.10: what a system may use once boot services have ended. */
static bool is_ram(uint32_t type)
{
	return type == EFI_CONVENTIONAL_MEMORY ||
	       (type >= EFI_LOADER_CODE && type <= EFI_BOOT_SERVICES_DATA);
}

/* Where the piece from at on ends, all of which is the guest's, or none of it. */
static uint64_t piece_end(const struct e820_map *map, uint64_t at, uint64_t end, bool *is_guests)
{
	uint64_t ram = e820_ram_from(map, at);

	*is_guests = ram > 0;
	if (ram > 0)
		return min_u64(end, align_up(at + ram, EFI_PAGE_SIZE));
	return min_u64(end, e820_find_bottom(map, EFI_PAGE_SIZE, EFI_PAGE_SIZE, at, end));
}

static void write_pieces(struct writer *writer, const struct efi_memory_descriptor *whole,
			 const struct e820_map *map)
{
	uint64_t end = whole->physical_start + whole->pages * EFI_PAGE_SIZE;
	struct efi_memory_descriptor piece = *whole;
	bool is_guests;

	for (uint64_t at = whole->physical_start; at < end; at += piece.pages * EFI_PAGE_SIZE) {
		piece.physical_start = at;
		piece.pages = (piece_end(map, at, end, &is_guests) - at) / EFI_PAGE_SIZE;
		piece.type = is_guests ? whole->type : EFI_RESERVED_MEMORY;
		write(writer, &piece);
	}
}

uint64_t efi_map_write(void *to, const struct boot_efi *efi, const struct e820_map *map)
{
	struct writer writer = {.to = to, .stride = efi->map_stride};
	const uint8_t *from = efi->map;

	for (uint64_t at = 0; efi->map_size - at >= efi->map_stride && efi->map_size > at;
	     at += efi->map_stride) {
		struct efi_memory_descriptor descriptor;

		memcpy(&descriptor, from + at, sizeof(descriptor));
		if (is_ram(descriptor.type))
			write_pieces(&writer, &descriptor, map);
		else
			write(&writer, &descriptor);
	}
	return writer.used;
}
