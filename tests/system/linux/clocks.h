/* SPDX-License-Identifier: GPL-2.0-only */
/* The clocks of a PC, as a user program reads them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NS_PER_SECOND = 1000 * 1000 * 1000 };

/* One moment by all clocks. */
struct moment {
	uint64_t rtc;	    /* seconds since midnight, by the real-time clock's own registers */
	uint64_t tsc;	    /* cycles */
	uint64_t monotonic; /* nanoseconds: the kernel's clock source */
	uint64_t jiffies;   /* the kernel's ticks, in hundredths of a second */
};

/* Lets this program and its children read ports. False: the kernel does not. */
bool clocks_open(void);

/* The moment at which the real-time clock next changes, in one or two seconds. */
struct moment clocks_at_next_second(void);

uint64_t clocks_monotonic(void);
uint64_t clocks_tsc(void);

void clocks_sleep_until(uint64_t monotonic);
