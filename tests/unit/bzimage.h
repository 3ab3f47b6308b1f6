/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes bzImages that no compiler has seen, for the tests of the Linux loader. */
#ifndef VELLUM_TESTS_UNIT_BZIMAGE_H
#define VELLUM_TESTS_UNIT_BZIMAGE_H

#include "core/boot_info.h"
#include "guest/linux_boot.h"

#define BZIMAGE_SETUP_SECTS 4
#define BZIMAGE_SETUP_SIZE  ((BZIMAGE_SETUP_SECTS + 1) * LINUX_SECTOR_SIZE)

/* The i-th byte of the 32-bit part: no two places of 64 KiB have the same neighbourhood. */
uint8_t bzimage_byte(uint64_t i);

/*
 * Writes an image of protocol 2.15 with a 32-bit part of kernel_size bytes into the
 * arena at address: relocatable, aligned to 2 MiB, preferring 16 MiB, init_size 8
 * MiB. Fills module, and returns the header for the test to change.
 */
struct linux_setup_header *bzimage_create(uint64_t address, uint64_t kernel_size,
					  struct boot_module *module);

#endif
