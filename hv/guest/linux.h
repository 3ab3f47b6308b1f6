/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_LINUX_H
#define VELLUM_GUEST_LINUX_H

#include "core/boot_info.h"
#include "guest/e820.h"
#include "guest/guest_image.h"
#include "lib/types.h"

/*
 * Puts a Linux kernel where it runs, by the 32-bit boot protocol (Linux's
 * Documentation/x86/boot.rst), and fills entry. There is a module 0, a bzImage, its string a
 * file name and the kernel's command line; module 1, if there, is the initrd.
 *
 * guest_map is what the guest shall see, normalized. All its RAM below physmap_limit
 * may be overwritten: the caller has nothing there any more but the modules.
 *
 * -ENOEXEC if it can't be entered this way or isn't whole,
 * -E2BIG if something does not fit. Nothing has been moved then, and the console
 * says which file, what was found and what was needed.
 */
int linux_load(const struct boot_info *boot, const struct e820_map *guest_map,
	       struct guest_entry *entry);

#endif
