// SPDX-License-Identifier: GPL-2.0-only
#include "clocks.h"

#include <sys/io.h>
#include <sys/times.h>
#include <time.h>

/* The real-time clock: MC146818 */
enum {
	RTC_INDEX = 0x70,
	RTC_DATA = 0x71,
	RTC_SECONDS = 0,
	RTC_MINUTES = 2,
	RTC_HOURS = 4,
	RTC_STATUS_A = 0x0a,
	UPDATE_IN_PROGRESS = 0x80,
};

/*
 * A busy wait costs an emulator a second's worth of instructions. So the first change is found
 * by naps, and the wait for those that follow begins a little before they are due.
 */
enum {
	COARSE_NS = 1000 * 1000,
	EARLY_NS = 6 * COARSE_NS, /* more than a tick of 4 ms: a sleep may end on one */
};

bool clocks_open(void)
{
	return iopl(3) == 0;
}

uint64_t clocks_monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clocks_tsc(void)
{
	uint64_t tsc;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=A"(tsc) : : "memory");
	return tsc;
}

void clocks_sleep_until(uint64_t monotonic)
{
	struct timespec until = {.tv_sec = (time_t)(monotonic / NS_PER_SECOND),
				 .tv_nsec = (long)(monotonic % NS_PER_SECOND)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static unsigned int read_rtc(unsigned char index)
{
	outb(index, RTC_INDEX);
	return inb(RTC_DATA);
}

/* As every PC's firmware sets it: binary-coded decimals. */
static unsigned int read_decimal(unsigned char index)
{
	unsigned int value = read_rtc(index);

	return (value >> 4) * 10 + (value & 15);
}

static uint64_t read_time_of_day(void)
{
	return (read_decimal(RTC_HOURS) * 60 + read_decimal(RTC_MINUTES)) * 60 +
	       read_decimal(RTC_SECONDS);
}

/* Looks at the seconds until they change, and sleeps for so long in between, if at all. */
static void await_change(uint64_t pause)
{
	unsigned int before = read_rtc(RTC_SECONDS);

	while (read_rtc(RTC_SECONDS) == before)
		if (pause)
			clocks_sleep_until(clocks_monotonic() + pause);
}

struct moment clocks_at_next_second(void)
{
	static uint64_t last;
	struct moment moment;

	if (!last) {
		await_change(COARSE_NS);
		last = clocks_monotonic();
	}
	clocks_sleep_until(last +
			   ((clocks_monotonic() - last) / NS_PER_SECOND + 1) * NS_PER_SECOND -
			   EARLY_NS);
	await_change(0);
	moment.monotonic = last = clocks_monotonic();
	moment.tsc = clocks_tsc();
	moment.jiffies = (uint64_t)times(NULL);
	while (read_rtc(RTC_STATUS_A) & UPDATE_IN_PROGRESS)
		;
	moment.rtc = read_time_of_day();
	return moment;
}
