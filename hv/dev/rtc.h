/* SPDX-License-Identifier: GPL-2.0-only */
/* The PC's real-time clock: Motorola MC146818A, and the century that ACPI adds. */
#ifndef VELLUM_DEV_RTC_H
#define VELLUM_DEV_RTC_H

#include "lib/types.h"

/*
 * Seconds since 1970, if the clock shows UTC, as it does by convention under Linux. century:
 * the CMOS index that ACPI's FADT names, 0 for none; then years below 70 are 20xx. -EINVAL
 * if there is no date in it, or no clock that comes to rest.
 */
int rtc_read(uint8_t century, uint64_t *seconds);

#endif
