/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: counters (66, 67) that go backwards, run at another rate than they say or than the
 * TSC, whose sum is wrong; a wall clock (70) that is not the machine's.
 * Manual: docs/vmi.md, the calls: REAL = STOLEN + AVAILABLE, other counters are 0, the
 * frequency is the TSC's, as Linux takes it for udelay(); nanoseconds since 1970, UTC.
 * Vendors: no difference.
 * Cannot tell apart: a rate that is off by less than the host's scheduling lets be measured,
 * one per cent; a wall clock that is off by less than two seconds.
 */
#include "alarm.h"
#include "guest.h"
#include "pv.h"
#include "stopwatch.h"

const char guest_name[] = "vmi_cycles";

#define ROUNDS	    5000
#define TRIES	    10
#define SPAN_US	    40000u
#define NS_A_SECOND 1000000000ull
#define RTC_SLACK   2

static uint64_t tsc(void)
{
	uint64_t value;

	asm volatile("rdtsc" : "=A"(value));
	return value;
}

static void check_sums(void)
{
	static const uint32_t others[] = {3, 4, 0x80, 0xff, 0x100, 0x10001, ~0u};
	uint64_t last = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t before = cycles(CYCLES_REAL), available = cycles(CYCLES_AVAILABLE),
			 stolen = cycles(CYCLES_STOLEN), after = cycles(CYCLES_REAL);

		EXPECT(last <= before);
		EXPECT(before <= available + stolen && available + stolen <= after);
		EXPECT(stolen < before);
		last = after;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++)
		EXPECT_EQ("another counter", cycles(others[i]), 0);
}

static bool near(uint64_t found, uint64_t wanted)
{
	uint64_t margin = wanted / 100;

	return found >= wanted - margin && found <= wanted + margin;
}

/* What passes on REAL, the TSC and the wall clock while the PIT counts SPAN_US. */
struct span {
	uint64_t real, tsc, wall;
};

static struct span measure(void)
{
	struct span start, end;

	stopwatch_start(SPAN_US);
	start = (struct span){cycles(CYCLES_REAL), tsc(), VMI(GetWallclockTime)};
	stopwatch_await();
	end = (struct span){cycles(CYCLES_REAL), tsc(), VMI(GetWallclockTime)};
	return (struct span){end.real - start.real, end.tsc - start.tsc, end.wall - start.wall};
}

/* The host may stop the machine in the middle of one, but not of each. */
static void check_rates(void)
{
	uint64_t frequency = cycles_frequency();
	struct span span = {0};

	for (unsigned int i = 0; i < TRIES; i++) {
		span = measure();
		if (near(span.real, frequency * SPAN_US / 1000000) && near(span.real, span.tsc) &&
		    near(span.wall, SPAN_US * 1000u))
			return;
	}
	fail(__FILE__, __LINE__, "at %llu Hz %u us were %llu cycles, %llu of the TSC, %llu ns",
	     frequency, SPAN_US, span.real, span.tsc, span.wall);
}

static void check_wall_clock(void)
{
	uint64_t wall = VMI(GetWallclockTime) / NS_A_SECOND, rtc = stopwatch_rtc();

	if (wall + RTC_SLACK < rtc || wall > rtc + RTC_SLACK)
		fail(__FILE__, __LINE__, "wall clock %llu s, real-time clock %llu s", wall, rtc);
	EXPECT_EQ("WallclockUpdated", (uint32_t)VMI(WallclockUpdated, ~0u), 0);
	if (pv_has(VMI_CALL_SetCallbacks))
		EXPECT_EQ("SetCallbacks", (uint32_t)VMI(SetCallbacks, ~0u), 0);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	check_sums();
	check_rates();
	check_wall_clock();
}
