/* SPDX-License-Identifier: GPL-2.0-only */
/* Which kind of guest the user has given, and the loader of that kind. */
#ifndef VELLUM_GUEST_LOADER_H
#define VELLUM_GUEST_LOADER_H

#include "core/boot_info.h"
#include "core/cmdline.h"
#include "guest/e820.h"
#include "guest/guest_image.h"
#include "lib/types.h"

/*
 * What module 0 is, if wish is GUEST_AUTO: a bzImage (GUEST_LINUX), or by its header
 * GUEST_MULTIBOOT2 or GUEST_MULTIBOOT. What it is not counts as GUEST_LINUX, whose loader
 * says best what it is instead. Any other wish is the answer.
 */
enum option_guest loader_guest_kind(const struct boot_info *boot, enum option_guest wish);

/*
 * Puts the guest of this kind, not GUEST_AUTO, where it runs, and fills entry. disk is for
 * GUEST_DISK. guest_map is
 * what the guest shall see, normalized; all its RAM below physmap_limit may be
 * overwritten: the caller has nothing there any more but the modules.
 *
 * -ENOENT if there is nothing to start, -ENODEV if the machine can't start it, else as the
 * loaders. Nothing has been moved then, and the console says why.
 */
int loader_load(const struct boot_info *boot, const struct e820_map *guest_map, unsigned int disk,
		enum option_guest kind, struct guest_entry *entry);

#endif
