/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures of the Multiboot specification 0.6.96, section 3.3, "Boot information format". */
#ifndef VELLUM_BOOT_MULTIBOOT_FORMAT_H
#define VELLUM_BOOT_MULTIBOOT_FORMAT_H

#include "lib/types.h"

#define MULTIBOOT_BOOTLOADER_MAGIC 0x2badb002u /* in EAX at the entry */

/* multiboot_info.flags: which fields are there */
#define MULTIBOOT_INFO_MEMORY	   BIT(0)
#define MULTIBOOT_INFO_CMDLINE	   BIT(2)
#define MULTIBOOT_INFO_MODULES	   BIT(3)
#define MULTIBOOT_INFO_SECTIONS	   BIT(5) /* syms: of an ELF file */
#define MULTIBOOT_INFO_MMAP	   BIT(6)
#define MULTIBOOT_INFO_LOADER_NAME BIT(9)
#define MULTIBOOT_INFO_FRAMEBUFFER BIT(12)

#define MULTIBOOT_FRAMEBUFFER_RGB  1 /* framebuffer_type: direct colour */
#define MULTIBOOT_FRAMEBUFFER_TEXT 2 /* EGA text; width and height in characters */

struct multiboot_info {
	uint32_t flags;
	uint32_t mem_lower; /* KiB from 0 */
	uint32_t mem_upper; /* KiB from 1 MiB to the first hole */
	uint32_t boot_device;
	uint32_t cmdline;
	uint32_t mods_count;
	uint32_t mods_addr;
	uint32_t syms[4];
	uint32_t mmap_length; /* bytes */
	uint32_t mmap_addr;
	uint32_t drives_length;
	uint32_t drives_addr;
	uint32_t config_table;
	uint32_t boot_loader_name;
	uint32_t apm_table;
	uint32_t vbe_control_info;
	uint32_t vbe_mode_info;
	uint16_t vbe_mode;
	uint16_t vbe_interface_seg;
	uint16_t vbe_interface_off;
	uint16_t vbe_interface_len;
	uint64_t framebuffer_addr;
	uint32_t framebuffer_pitch; /* bytes a line */
	uint32_t framebuffer_width;
	uint32_t framebuffer_height;
	uint8_t framebuffer_bpp;
	uint8_t framebuffer_type;
	uint8_t red_position, red_size;
	uint8_t green_position, green_size;
	uint8_t blue_position, blue_size;
} __attribute__((packed));

_Static_assert(offsetof(struct multiboot_info, mmap_length) == 44, "multiboot_info");
_Static_assert(offsetof(struct multiboot_info, framebuffer_addr) == 88, "multiboot_info");
_Static_assert(offsetof(struct multiboot_info, blue_size) == 115, "multiboot_info");

struct multiboot_module {
	uint32_t mod_start;
	uint32_t mod_end; /* first byte behind it */
	uint32_t string;
	uint32_t reserved;
} __attribute__((packed));

/* size counts what follows it: 20, or 24 with ACPI's extended attributes */
struct multiboot_mmap_entry {
	uint32_t size;
	uint64_t base;
	uint64_t length;
	uint32_t type;
} __attribute__((packed));

#endif
