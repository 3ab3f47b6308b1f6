/* SPDX-License-Identifier: GPL-2.0-only */
/* What the readers of all boot loaders' information share. Messages start with who. */
#ifndef VELLUM_BOOT_LOADER_DATA_H
#define VELLUM_BOOT_LOADER_DATA_H

#include "core/boot_info.h"
#include "lib/types.h"

/* Copies from physical memory. -EINVAL if not all of it is below physmap_limit. */
int loader_read(void *dst, uint64_t address, uint64_t size);

/*
 * Copies a string of at most limit bytes with its NUL, and always ends dst with one. An
 * address of 0 or out of physical memory gives "". One that is longer than size - 1 is
 * cut, with a warning that names it by what.
 */
void loader_read_string(char *dst, size_t size, uint64_t address, uint64_t limit, const char *who,
			const char *what);

/*
 * Adds a range to a memory map; a full map gets a second chance, because loaders split
 * what normalizing joins. -E2BIG, with a message.
 */
int loader_add_range(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type,
		     const char *who);

/* Normalizes the finished map. -E2BIG; -ENOENT without any RAM; both with a message. */
int loader_finish_map(struct e820_map *map, const char *who);

/*
 * Adds a module at [start, end), string for the caller to fill; NULL in *module, with a
 * warning at the first, once there are too many. -EINVAL, with a message, if it ends before
 * its start or beyond physmap_limit.
 */
int loader_add_module(struct boot_info *boot, uint64_t start, uint64_t end, const char *who,
		      struct boot_module **module);

#endif
