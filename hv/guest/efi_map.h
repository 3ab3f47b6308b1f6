/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_EFI_MAP_H
#define VELLUM_GUEST_EFI_MAP_H

#include "core/boot_info.h"
#include "guest/e820.h"
#include "lib/types.h"

/*
 * UEFI's memory map for a guest: what is RAM there, but not in the guest's map, becomes
 * reserved; all else stays. Writes it to a place in memory and returns its bytes; NULL
 * only counts them. 0 if the guest can't be told of UEFI.
 */
uint64_t efi_map_write(void *to, const struct boot_efi *efi, const struct e820_map *map);

#endif
