/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_ROM_INSTALL_H
#define VELLUM_GUEST_ROM_INSTALL_H

#include "core/cmdline.h"
#include "lib/types.h"

/*
 * Shows the guest the VMI ROM in a free slot of the option-ROM area, as vmi asks; the
 * machine's own memory there stays as it is. hypercall: the vendor's instruction. A
 * machine without a free slot goes on without the ROM, and the console says so.
 * -ENOMEM: no frame left.
 */
int rom_install(enum option_vmi vmi, const uint8_t hypercall[3]);

/*
 * The guest's own copy of the ROM, and where it lies in guest-physical memory; NULL if there
 * is none.
 */
const uint8_t *rom_installed(gpa_t *slot);

#endif
