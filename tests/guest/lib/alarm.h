/* SPDX-License-Identifier: GPL-2.0-only */
/* VMI's counters and alarms: calls 66 to 69, with Linux' flags (asm/vmi_time.h). */
#ifndef VELLUM_TESTS_GUEST_ALARM_H
#define VELLUM_TESTS_GUEST_ALARM_H

#include "lib/types.h"

#define CYCLES_REAL	 0u
#define CYCLES_AVAILABLE 1u
#define CYCLES_STOLEN	 2u

#define ALARM_PERIODIC	 0x00100u
#define ALARM_WIRED_LVTT 0x10000u /* else IRQ 0 */

/* Cycles that make a second. */
uint64_t cycles_frequency(void);

/* A counter's value now. */
uint64_t cycles(uint32_t counter);

void alarm_set(uint32_t flags, uint64_t expiry, uint64_t period);

/*
 * From now on each handler (irq.h) reads REAL, as every handler of Linux' timers does: the
 * ROM may need a call behind an interrupt to have the next one in time (docs/vmi.md).
 */
void alarm_read_clock_in_handlers(void);

/* What CancelAlarm says: was it armed? Fails if that is neither 0 nor 1. */
bool alarm_cancel(uint32_t flags);

#endif
