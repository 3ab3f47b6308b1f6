/* SPDX-License-Identifier: GPL-2.0-only */
/* The one door for all boot loaders. */
#ifndef VELLUM_BOOT_BOOT_H
#define VELLUM_BOOT_BOOT_H

#include "core/boot_info.h"
#include "lib/types.h"

/*
 * Fills boot from what the loader left at info. magic tells which loader's format it is:
 * that of multiboot_format.h, multiboot2_format.h, linux_boot.h or efi.h. An archive that comes
 * as the only module is opened (pack.h). On the command line "--" ends Vellum's words: what
 * follows is the guest kernel's, in place of what the archive or the module's string
 * has. The loader's own words are taken out.
 *
 * The errors are those of the format's reader and of pack_open(); -EINVAL for any other
 * magic. The console has the details then.
 */
int boot_read(uint32_t magic, hpa_t info, struct boot_info *boot);

#endif
