/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast the processor's clocks are, by the machine's timers whose rate is known. */
#ifndef VELLUM_DEV_CLOCK_H
#define VELLUM_DEV_CLOCK_H

#include "lib/types.h"

#define PIT_HZ 1193182u /* Intel 8254, at the PC's clock */

struct clock_rates {
	uint64_t tsc_hz;
	uint64_t cycles;      /* TSC ticks in which ... */
	uint64_t lapic_ticks; /* ... the local APIC's timer makes these, undivided; 0: it is off */
};

/*
 * Measures for 8 ms, by ACPI's PM timer at pm_timer, or (0: there is none) by the PIT. A
 * TSC rate that is a whole number of MHz within the measurement's error, or that CPUID gives
 * within 1 %, is taken for that. What it uses is as before when it returns. -ENODEV: neither
 * timer runs.
 */
int clock_measure(uint16_t pm_timer, struct clock_rates *rates);

/* The TSC's rate as last measured; 0: it has not been. */
uint64_t clock_tsc_hz(void);

#endif
