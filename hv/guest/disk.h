/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_DISK_H
#define VELLUM_GUEST_DISK_H

#include "core/boot_info.h"
#include "guest/e820.h"
#include "guest/guest_image.h"
#include "lib/types.h"

/*
 * Makes a guest of what is on a disk, by its boot sector in real mode, as the BIOS would
 * (BIOS Boot Specification 1.01, 6.5.1). drive is the BIOS's number, 80h for the first
 * hard disk. BIOS calls work, by way of bios_page.h, whose page map gets; entry is there.
 *
 * -ENODEV without a BIOS, -E2BIG without room for the page; the console says so. What
 * comes later (the disk can't be read) is said on the screen and COM1.
 */
int disk_load(const struct boot_info *boot, struct e820_map *map, unsigned int drive,
	      struct guest_entry *entry);

#endif
