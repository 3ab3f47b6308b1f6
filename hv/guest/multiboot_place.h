/* SPDX-License-Identifier: GPL-2.0-only */
/* Where in memory a Multiboot guest's parts go. */
#ifndef VELLUM_GUEST_MULTIBOOT_PLACE_H
#define VELLUM_GUEST_MULTIBOOT_PLACE_H

#include "guest/e820.h"
#include "guest/multiboot_kernel.h"
#include "lib/types.h"

/* Something that the boot loader brought: where it lies, and where it has to be. */
struct multiboot_file {
	struct word name;
	uint64_t from, to; /* physical addresses */
	uint64_t size;	   /* bytes */
};

struct multiboot_layout {
	/*
	 * The kernel's own file first, then its modules. Each is moved in this order; no
	 * target overlaps a source, another target or the segments.
	 */
	unsigned int file_count;
	struct multiboot_file file[BOOT_MAX_MODULES];
	uint64_t load_offset; /* added to the segments' addresses, modulo 2^64 */
	uint64_t info;	      /* a page-aligned block, low if there is room */
	uint64_t symbols;     /* another one; 0: there is none */
};

/*
 * Lays out the kernel, boot's modules, a block of info_size bytes and one of symbols_size
 * (0: none wanted) in map's RAM below limit. All of that is free but for the modules'
 * present places. -E2BIG if something does not fit: the console says what, its size and
 * place. No room for symbols is a warning only.
 */
int multiboot_place(const struct multiboot_kernel *kernel, const struct boot_info *boot,
		    uint64_t info_size, uint64_t symbols_size, const struct e820_map *map,
		    uint64_t limit, struct multiboot_layout *layout);

#endif
