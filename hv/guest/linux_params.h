/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_LINUX_PARAMS_H
#define VELLUM_GUEST_LINUX_PARAMS_H

#include "core/boot_info.h"
#include "guest/linux_boot.h"
#include "guest/linux_place.h"

/* What Linux finds below 640 KiB at its 32-bit entry, in one block */
struct linux_low {
	struct linux_boot_params params;
	uint64_t gdt[LINUX_BOOT_DS / sizeof(uint64_t) + 1];
	char command_line[BOOT_STRING_SIZE];
	uint8_t efi_map[]; /* UEFI's memory map, if it comes from UEFI */
};

/* Bytes of the block for this guest. */
uint64_t linux_low_size(const struct boot_info *boot, const struct e820_map *map);

/*
 * Writes the block at low, which is layout's, for the image. command_line is cut after
 * the last word that the kernel has room for, with a warning, as GRUB does it. rsdp:
 * 0 if the kernel shall search for itself.
 */
void linux_write_low(struct linux_low *low, const struct linux_image *image,
		     const struct linux_layout *layout, const struct boot_info *boot,
		     const struct e820_map *map, const char *command_line, hpa_t rsdp);

#endif
