/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_POWER_H
#define VELLUM_CORE_POWER_H

/* Resets the machine, by every way that a PC has, one after the other. */
_Noreturn void power_reset(void);

#endif
