/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures of the Multiboot2 specification 2.0, section 3.6, "Boot information format". */
#ifndef VELLUM_BOOT_MULTIBOOT2_FORMAT_H
#define VELLUM_BOOT_MULTIBOOT2_FORMAT_H

#include "lib/types.h"

#define MULTIBOOT2_BOOTLOADER_MAGIC 0x36d76289u /* in EAX at the entry */
#define MULTIBOOT2_TAG_ALIGN	    8

enum multiboot2_tag_type {
	MULTIBOOT2_TAG_END = 0,
	MULTIBOOT2_TAG_CMDLINE = 1,
	MULTIBOOT2_TAG_LOADER_NAME = 2,
	MULTIBOOT2_TAG_MODULE = 3,
	MULTIBOOT2_TAG_MEMORY = 4,
	MULTIBOOT2_TAG_MMAP = 6,
	MULTIBOOT2_TAG_FRAMEBUFFER = 8,
	MULTIBOOT2_TAG_SECTIONS = 9,
	MULTIBOOT2_TAG_EFI64 = 12,    /* address of the UEFI system table */
	MULTIBOOT2_TAG_RSDP_OLD = 14, /* followed by a copy of ACPI 1.0's */
	MULTIBOOT2_TAG_RSDP_NEW = 15, /* of a later one */
	MULTIBOOT2_TAG_EFI_MMAP = 17, /* UEFI's own memory map */
	MULTIBOOT2_TAG_LOAD_BASE = 21,
};

#define MULTIBOOT2_FRAMEBUFFER_RGB  1 /* direct colour */
#define MULTIBOOT2_FRAMEBUFFER_TEXT 2 /* EGA text; ends before the colours */

struct multiboot2_info {
	uint32_t total_size; /* bytes, itself included */
	uint32_t reserved;
};

struct multiboot2_tag {
	uint32_t type;
	uint32_t size; /* bytes, itself included, without the padding to the next tag */
};

/* Followed by a string, up to the tag's end */
struct multiboot2_module {
	struct multiboot2_tag tag;
	uint32_t start;
	uint32_t end; /* first byte behind it */
};

struct multiboot2_memory {
	struct multiboot2_tag tag;
	uint32_t lower; /* KiB from 0 */
	uint32_t upper; /* KiB from 1 MiB to the first hole */
};

/* Followed by entries of entry_size bytes, up to the tag's end */
struct multiboot2_mmap {
	struct multiboot2_tag tag;
	uint32_t entry_size;
	uint32_t entry_version;
};

struct multiboot2_mmap_entry {
	uint64_t base;
	uint64_t length;
	uint32_t type;
	uint32_t reserved;
};

struct multiboot2_framebuffer {
	struct multiboot2_tag tag;
	uint64_t address;
	uint32_t pitch; /* bytes a line */
	uint32_t width;
	uint32_t height;
	uint8_t bits_per_pixel;
	uint8_t type;
	uint16_t reserved;
	uint8_t red_position, red_size;
	uint8_t green_position, green_size;
	uint8_t blue_position, blue_size;
} __attribute__((packed));

/* Followed by the table of sections of the kernel's ELF file */
struct multiboot2_sections {
	struct multiboot2_tag tag;
	uint32_t count;
	uint32_t entry_size;
	uint32_t names; /* index of the section that holds the names */
};

struct multiboot2_load_base {
	struct multiboot2_tag tag;
	uint32_t address;
};

struct multiboot2_efi64 {
	struct multiboot2_tag tag;
	uint64_t system_table;
};

/* Followed by descriptors, up to the tag's end */
struct multiboot2_efi_mmap {
	struct multiboot2_tag tag;
	uint32_t stride;
	uint32_t version;
};

_Static_assert(sizeof(struct multiboot2_mmap_entry) == 24, "Multiboot2, 3.6.8");
_Static_assert(offsetof(struct multiboot2_framebuffer, red_position) == 32, "Multiboot2, 3.6.12");

#endif
