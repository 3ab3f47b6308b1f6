/* SPDX-License-Identifier: GPL-2.0-only */
/* Time by the machine's own clocks: the PIT's channel 2, and the real-time clock. */
#ifndef VELLUM_TESTS_GUEST_STOPWATCH_H
#define VELLUM_TESTS_GUEST_STOPWATCH_H

#include "lib/types.h"

/* Starts to count; up to 54000 microseconds. */
void stopwatch_start(unsigned int microseconds);

/* True once they are over. */
bool stopwatch_over(void);

/* Returns when they are over. */
void stopwatch_await(void);

/* Seconds since 1970 by the real-time clock, which has no zone. */
uint64_t stopwatch_rtc(void);

#endif
