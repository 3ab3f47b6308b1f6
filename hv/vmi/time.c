/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmi/time.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "dev/acpi.h"
#include "dev/clock.h"
#include "dev/rtc.h"
#include "lib/errno.h"

#define NANOSECONDS	1000000000u
#define PIT_TICKS_MAX	0xf000u /* room above it tells a count that went through 0 */
#define LAPIC_TICKS_MAX ((uint64_t)0xffffffff << 7) /* divided by 128 */

/* An alarm had better be late than early: by what the measurement may be off. */
#define LATE(mult) ((mult) + ((mult) >> 14))

typedef unsigned __int128 uint128_t;

/* value * mult / div, or the largest number if that is not large enough. */
static uint64_t scale(uint64_t value, uint64_t mult, uint64_t div)
{
	uint128_t product = (uint128_t)value * mult;
	uint64_t quotient, low = (uint64_t)product, high = (uint64_t)(product >> 64);

	if (high >= div)
		return UINT64_MAX;
	/* In C this is a call into a library that Vellum is not linked with. */
	asm("divq %3" : "=a"(quotient), "+d"(high) : "a"(low), "r"(div) : "cc");
	return quotient;
}

/* The figures of one timer that makes ticks in cycles. False: out of the ROM's range. */
static bool set_timer(struct vmi_rom_time *time, enum vmi_timer timer, uint64_t ticks,
		      uint64_t cycles, uint64_t ticks_max)
{
	uint64_t mult = LATE(scale(ticks, BIT(VMI_TICKS_SHIFT), cycles));

	if (!mult || mult > UINT32_MAX)
		return false;
	time->ticks[timer] = (uint32_t)mult;
	time->longest[timer] = scale(ticks_max - 1, BIT(VMI_TICKS_SHIFT), mult);
	return true;
}

static bool set_wall_clock(struct vmi_rom_time *time, uint64_t now, uint64_t seconds)
{
	uint64_t mult = scale(NANOSECONDS, BIT(VMI_WALL_SHIFT), time->tsc_hz);

	if (!mult || mult > UINT32_MAX)
		return false;
	time->wall_mult = (uint32_t)mult;
	time->wall_at_0 = seconds * NANOSECONDS - scale(now, mult, BIT(VMI_WALL_SHIFT));
	return true;
}

int vmi_time_calculate(struct vmi_rom_time *time, const struct clock_rates *rates, uint64_t now,
		       uint64_t seconds)
{
	*time = (struct vmi_rom_time){.tsc_hz = rates->tsc_hz};
	if (!rates->tsc_hz || !rates->cycles || !set_wall_clock(time, now, seconds))
		return -ENODEV;
	if (!set_timer(time, VMI_TIMER_PIT, PIT_HZ, rates->tsc_hz, PIT_TICKS_MAX) ||
	    !set_timer(time, VMI_TIMER_LAPIC, rates->lapic_ticks, rates->cycles, LAPIC_TICKS_MAX))
		return -ENODEV;
	return 0;
}

int vmi_time_measure(struct vmi_rom_time *time)
{
	struct acpi_clocks clocks;
	struct clock_rates rates;
	uint64_t seconds = 0;
	int error;

	acpi_read_clocks(&clocks);
	error = clock_measure(clocks.pm_timer, &rates);
	if (error) {
		pr_warn("no VMI time calls: neither ACPI's timer nor the PIT runs");
		return error;
	}
	if (rtc_read(clocks.century, &seconds))
		pr_warn("the real-time clock shows no date: VMI's wall clock begins in 1970");
	error = vmi_time_calculate(time, &rates, rdtsc(), seconds);
	if (error)
		pr_warn("no VMI time calls: TSC of %lu Hz, %lu ticks of the local APIC's timer in "
			"%lu cycles",
			rates.tsc_hz, rates.lapic_ticks, rates.cycles);
	return error;
}
