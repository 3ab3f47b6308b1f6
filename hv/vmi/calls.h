/* SPDX-License-Identifier: GPL-2.0-only */
/* What the VMI calls do that are hypercalls, decoded: one file per group of calls. */
#ifndef VELLUM_VMI_CALLS_H
#define VELLUM_VMI_CALLS_H

#include "lib/types.h"

/*
 * power.c: calls 36 and 37. The last records come first. A machine that cannot be switched
 * off stops, and the console says so.
 */
_Noreturn void vmi_reboot(void);
_Noreturn void vmi_shutdown(void);

#endif
