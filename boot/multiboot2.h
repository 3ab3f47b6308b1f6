/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_BOOT_MULTIBOOT2_H
#define VELLUM_BOOT_MULTIBOOT2_H

#include "core/boot_info.h"
#include "lib/types.h"

/*
 * As multiboot_read(), for the Multiboot 2 information at info. Under UEFI the root
 * pointer of ACPI is the firmware's own, not the loader's copy in the information, which
 * lies in memory that is the guest's.
 *
 * -EINVAL for a tag that does not fit into the information, or what multiboot_read() has
 * -EINVAL for; -ENOENT and -E2BIG as there.
 */
int multiboot2_read(hpa_t info, struct boot_info *boot);

#endif
