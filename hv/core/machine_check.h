/* SPDX-License-Identifier: GPL-2.0-only */
/* A machine check that comes while Vellum runs: whose it is (docs/tricks.md). */
#ifndef VELLUM_CORE_MACHINE_CHECK_H
#define VELLUM_CORE_MACHINE_CHECK_H

#include "lib/types.h"

/*
 * True if Vellum can go on where the machine check that has just come interrupted it: then
 * it is the guest's to handle. False, and said on the console, if the error is in what
 * Vellum was executing. Asked while MCG_STATUS.MCIP is 1 (SDM volume 3B, 16.3.1.2).
 */
bool machine_check_is_survivable(void);

#endif
