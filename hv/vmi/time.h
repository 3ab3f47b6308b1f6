/* SPDX-License-Identifier: GPL-2.0-only */
/* What the ROM's time calls (66 to 71) have to know of the machine. */
#ifndef VELLUM_VMI_TIME_H
#define VELLUM_VMI_TIME_H

#include "vmi/vmi.h"

/*
 * Measures the machine's clocks, for some milliseconds, and reads its real-time clock. Once,
 * before the guest runs. -ENODEV, and why on the console: the machine has no clock to
 * measure by, or none that could be an alarm; then there are no time calls.
 */
int vmi_time_measure(struct vmi_rom_time *time);

/* The figures for clocks of these rates, if the TSC was now when it was seconds since 1970. */
struct clock_rates;
int vmi_time_calculate(struct vmi_rom_time *time, const struct clock_rates *rates, uint64_t now,
		       uint64_t seconds);

#endif
