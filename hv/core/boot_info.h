/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What any boot loader tells Vellum, in Vellum's own words. boot/ fills it from what
 * the loader left; nothing else knows which loader it was.
 */
#ifndef VELLUM_CORE_BOOT_INFO_H
#define VELLUM_CORE_BOOT_INFO_H

#include "guest/e820.h"
#include "lib/types.h"

#define BOOT_MAX_MODULES      8
#define BOOT_STRING_SIZE      2048 /* Linux/i386 takes command lines of up to 2047 bytes */
#define BOOT_LOADER_NAME_SIZE 64

/* A file that the boot loader put into memory. */
struct boot_module {
	hpa_t start;
	uint64_t size;		       /* bytes */
	char string[BOOT_STRING_SIZE]; /* its command line, first word a file name in most loaders
					*/
};

/* Linear framebuffer, as the boot loader left the screen. width 0: there is none. */
struct boot_framebuffer {
	uint64_t address;
	uint32_t pitch; /* bytes a line */
	uint32_t width;
	uint32_t height;
	uint8_t bits_per_pixel;
	uint8_t red_position, red_size;
	uint8_t green_position, green_size;
	uint8_t blue_position, blue_size;
};

/*
 * UEFI, as the end of its boot services has left it. The map is a copy of the one that
 * tells which memory its runtime services use, in UEFI's own form.
 */
struct boot_efi {
	bool is_there;
	uint64_t system_table; /* physical address */
	const void *map;
	uint32_t map_size; /* bytes; 0: the guest can't be told of UEFI */
	uint32_t map_stride;
	uint32_t map_version;
};

struct boot_info {
	char loader[BOOT_LOADER_NAME_SIZE];
	char command_line[BOOT_STRING_SIZE];
	struct e820_map memory; /* as the firmware reports it, normalized */
	struct boot_framebuffer framebuffer;
	struct boot_efi efi;
	hpa_t rsdp; /* ACPI's root pointer; 0 if it is where BIOSes have it */
	unsigned int module_count;
	struct boot_module module[BOOT_MAX_MODULES];
};

#endif
