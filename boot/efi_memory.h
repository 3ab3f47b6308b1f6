/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_BOOT_EFI_MEMORY_H
#define VELLUM_BOOT_EFI_MEMORY_H

#include "boot/efi_protocols.h"
#include "core/boot_info.h"

/*
 * Turns UEFI's memory map, size bytes of descriptors of stride bytes each, into an e820
 * map, as it is once boot services have ended. The errors are those of
 * loader_finish_map(); -EINVAL for a stride that is too small.
 */
int efi_memory_to_e820(const void *descriptors, uint64_t size, uint64_t stride,
		       struct e820_map *map);

/*
 * Pages below 4 GiB that stay once boot services have ended, at *address. -ENOMEM, with a
 * message that names what they were for.
 */
int efi_allocate(const struct efi_boot_services *services, uint64_t size, const char *what,
		 uint64_t *address);

/* Gives back all of efi_allocate()'s pages. */
void efi_free_all(const struct efi_boot_services *services);

/*
 * Ends boot services, and fills boot's maps with the memory as it is then. After an error
 * they may no more be used but for another try: the console says so.
 */
int efi_exit_boot_services(const struct efi_boot_services *services, void *image,
			   struct boot_info *boot);

#endif
