/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux' vmiclock.c, 2.6.22 to 2.6.36: one alarm, on REAL. */
#ifndef VELLUM_TESTS_GUEST_VMICLOCK_H
#define VELLUM_TESTS_GUEST_VMICLOCK_H

#include "lib/types.h"

/*
 * Behind linux_boot(), on each processor: linux_live(), ticks by IRQ 0 (the first processor's)
 * and by LVTT, one-shots, an idle that wakes up. Fails the guest if something does not come, or
 * if it is told "timer" and the ROM has none.
 */
void vmiclock_live(void);

#endif
