/* SPDX-License-Identifier: GPL-2.0-only */
/* The one door for all boot loaders. */
#ifndef VELLUM_BOOT_BOOT_H
#define VELLUM_BOOT_BOOT_H

#include "core/boot_info.h"
#include "lib/types.h"

/*
 * Fills boot from what the loader left at info; magic tells which loader's format it is:
 * that of multiboot_format.h or multiboot2_format.h. The errors are those of the format's
 * reader; -EINVAL for any other magic. The console has the details then.
 */
int boot_read(uint32_t magic, hpa_t info, struct boot_info *boot);

#endif
