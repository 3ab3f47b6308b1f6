// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures that the ROM calculates with, against real machines' rates: as exact as it is
 * promised, an alarm never early, and nothing that overflows there.
 */
#include "support.h"

#include "core/cpu.h"
#include "dev/acpi.h"
#include "dev/clock.h"
#include "dev/rtc.h"
#include "lib/errno.h"
#include "vmi/time.h"

typedef unsigned __int128 uint128_t;

enum { NOW_SECONDS = 1796058359 };

static struct clock_rates measured;
static int clock_error, rtc_error;

int acpi_read_clocks(struct acpi_clocks *clocks)
{
	*clocks = (struct acpi_clocks){0x608, 0x32};
	return 0;
}

int clock_measure(uint16_t pm_timer, struct clock_rates *rates)
{
	assert_int_equal(pm_timer, 0x608);
	*rates = measured;
	return clock_error;
}

int rtc_read(uint8_t century, uint64_t *seconds)
{
	assert_int_equal(century, 0x32);
	if (!rtc_error)
		*seconds = NOW_SECONDS;
	return rtc_error;
}

static int reset(void **state)
{
	(void)state;
	console_clear();
	clock_error = rtc_error = 0;
	measured = (struct clock_rates){3000000000, 24000000, 192000}; /* 8 ms */
	return 0;
}

/* As time.asm does it */
static uint64_t rom_ticks(const struct vmi_rom_time *time, enum vmi_timer timer, uint64_t cycles)
{
	return (uint64_t)((uint128_t)cycles * time->ticks[timer] >> 31) + 1;
}

static uint64_t rom_wall(const struct vmi_rom_time *time, uint64_t tsc)
{
	return (uint64_t)((uint128_t)tsc * time->wall_mult >> 24) + time->wall_at_0;
}

struct machine {
	uint64_t tsc_hz, lapic_hz;
};

static const struct machine machines[] = {
	{3000000000, 24000000},	 {2400000000, 100000000},
	{5700000000, 25000000},	 {1000000000, 1000000000}, /* QEMU, counting instructions */
	{50000000, 50000000},				   /* Bochs */
	{800000000, 1000000000},
};

static struct vmi_rom_time calculate(struct machine machine, uint64_t now)
{
	const struct clock_rates rates = {machine.tsc_hz, machine.tsc_hz / 100,
					  machine.lapic_hz / 100};
	struct vmi_rom_time time;

	assert_int_equal(vmi_time_calculate(&time, &rates, now, NOW_SECONDS), 0);
	assert_int_equal(time.tsc_hz, machine.tsc_hz);
	return time;
}

/* Not early, and late by 100 ppm and two ticks at most. */
static void assert_alarm(uint64_t ticks, uint64_t hz, uint64_t cycles, uint64_t tsc_hz)
{
	uint128_t exact = (uint128_t)cycles * hz; /* in ticks a TSC second */

	assert_true((uint128_t)ticks * tsc_hz >= exact);
	assert_true((uint128_t)(ticks - 2) * tsc_hz <= exact + exact / 10000);
}

static void an_alarm_is_never_early_and_hardly_late(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct vmi_rom_time time = calculate(machines[i], 0);
		uint64_t hz = machines[i].tsc_hz;

		for (uint64_t us = 1; us < 50000; us = us * 3 + 1) {
			uint64_t cycles = hz * us / 1000000;

			assert_alarm(rom_ticks(&time, VMI_TIMER_PIT, cycles), PIT_HZ, cycles, hz);
			assert_alarm(rom_ticks(&time, VMI_TIMER_LAPIC, cycles),
				     machines[i].lapic_hz, cycles, hz);
		}
	}
}

static void the_longest_alarm_fits_into_the_timer(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct vmi_rom_time time = calculate(machines[i], 0);
		uint64_t pit = time.longest[VMI_TIMER_PIT], lapic = time.longest[VMI_TIMER_LAPIC];

		assert_in_range(rom_ticks(&time, VMI_TIMER_PIT, pit), 0xeff0, 0xf000);
		assert_in_range((rom_ticks(&time, VMI_TIMER_LAPIC, lapic) >> 7) + 1, 0xfffff000,
				0xffffffff);
	}
}

static void the_wall_clock_shows_the_time_and_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		uint64_t hz = machines[i].tsc_hz, now = hz * 1000 + 12345;
		struct vmi_rom_time time = calculate(machines[i], now);
		uint64_t start = NOW_SECONDS * 1000000000ull;

		assert_in_range(rom_wall(&time, now), start, start + 1);
		assert_in_range(rom_wall(&time, now + hz * 3600), start + 3599999000000,
				start + 3600000000001);
	}
}

static void rates_that_the_rom_cannot_use_are_refused(void **state)
{
	static const struct clock_rates wrong[] = {
		{0, 1000, 1000},		/* no TSC */
		{3000000000, 0, 0},		/* nothing measured */
		{3000000000, 24000000, 0},	/* no timer of the local APIC */
		{3000000000, 1000, 3000},	/* one that is much faster than the TSC */
		{3000000, 24000, 1000},		/* a TSC slower than any */
		{UINT64_MAX, 24000000, 192000}, /* or too fast to be one */
	};
	struct vmi_rom_time time;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(vmi_time_calculate(&time, &wrong[i], 0, 0), -ENODEV);
}

static void a_machine_is_measured(void **state)
{
	struct vmi_rom_time time;
	uint64_t now;

	(void)state;
	assert_int_equal(vmi_time_measure(&time), 0);
	now = rdtsc();
	assert_int_equal(time.tsc_hz, 3000000000);
	assert_in_range(rom_wall(&time, now), NOW_SECONDS * 1000000000ull,
			(NOW_SECONDS + 10) * 1000000000ull);
	assert_console_quiet();
}

static void what_is_missing_is_said(void **state)
{
	struct vmi_rom_time time;

	(void)state;
	rtc_error = -EINVAL;
	assert_int_equal(vmi_time_measure(&time), 0);
	assert_console(LOG_WARN, "begins in 1970");
	clock_error = -ENODEV;
	assert_int_equal(vmi_time_measure(&time), -ENODEV);
	assert_console(LOG_WARN, "no VMI time calls: neither");
	clock_error = 0;
	measured.lapic_ticks = 0;
	assert_int_equal(vmi_time_measure(&time), -ENODEV);
	assert_console(LOG_WARN, "0 ticks of the local APIC's timer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_alarm_is_never_early_and_hardly_late, reset),
		cmocka_unit_test_setup(the_longest_alarm_fits_into_the_timer, reset),
		cmocka_unit_test_setup(the_wall_clock_shows_the_time_and_goes_on, reset),
		cmocka_unit_test_setup(rates_that_the_rom_cannot_use_are_refused, reset),
		cmocka_unit_test_setup(a_machine_is_measured, reset),
		cmocka_unit_test_setup(what_is_missing_is_said, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
