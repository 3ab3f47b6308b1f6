/* SPDX-License-Identifier: GPL-2.0-only */
/* The VMI ROM, looked for as Linux 2.6.21 does (arch/i386/kernel/vmi.c). */
#ifndef VELLUM_TESTS_GUEST_ROM_H
#define VELLUM_TESTS_GUEST_ROM_H

#include "lib/types.h"

/* True if a ROM starts at this address; fails the guest if it is one that Linux refuses. */
bool rom_is_at(uint32_t address);

/* The address of the only ROM, 0 if there is none; fails the guest if there are more. */
uint32_t rom_find(void);

#endif
