/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_BOOT_MULTIBOOT_H
#define VELLUM_BOOT_MULTIBOOT_H

#include "core/boot_info.h"
#include "lib/types.h"

/*
 * Turns the Multiboot 1 information at info into Vellum's own words, all copied, so
 * that the loader's memory is free afterwards except where the modules lie: each
 * of these lies below physmap_limit.
 *
 * -EINVAL for a pointer out of physical memory, or a module that ends
 * before it starts; -ENOENT without a memory map or RAM; -E2BIG for a memory map
 * of more than E820_MAX_ENTRIES ranges. The console has the details then. Modules
 * beyond BOOT_MAX_MODULES and the end of a string that is too long are dropped
 * with a warning.
 */
int multiboot_read(hpa_t info, struct boot_info *boot);

#endif
