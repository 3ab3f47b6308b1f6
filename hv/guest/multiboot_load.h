/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_MULTIBOOT_LOAD_H
#define VELLUM_GUEST_MULTIBOOT_LOAD_H

#include "core/boot_info.h"
#include "guest/e820.h"
#include "guest/guest_image.h"
#include "lib/types.h"

/*
 * Puts a Multiboot kernel (version 1 or 2 of the specification) where it runs, and fills
 * entry. Module 0 is the kernel, its string the kernel's command line as it is; the other
 * modules are the kernel's. guest_map and the modules are as for linux_load().
 *
 * -ENOEXEC if the kernel asks for what Vellum can't do or isn't whole, -E2BIG if something
 * does not fit. Nothing has been moved then, and the console says which file, what was
 * found and what was needed.
 */
int multiboot_load(const struct boot_info *boot, const struct e820_map *guest_map,
		   unsigned int version, struct guest_entry *entry);

#endif
