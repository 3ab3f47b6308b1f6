/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_BOOT_BOOT_PARAMS_H
#define VELLUM_BOOT_BOOT_PARAMS_H

#include "core/boot_info.h"
#include "lib/types.h"

/*
 * Fills boot from the boot_params of the Linux boot protocol at params, as
 * multiboot_read() does. The initrd, if there is one, becomes module 0, without a string.
 *
 * -EINVAL for parameters without the protocol's header, or an initrd out of physical
 * memory; -ENOENT and -E2BIG for the memory map as multiboot_read().
 */
int boot_params_read(hpa_t params, struct boot_info *boot);

#endif
