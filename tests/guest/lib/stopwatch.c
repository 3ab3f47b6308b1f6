/* SPDX-License-Identifier: GPL-2.0-only */
#include "stopwatch.h"
#include "guest.h"

/* Intel 8254, at the PC's ports */
#define PIT_COMMAND    0x43
#define PIT_CHANNEL2   0x42
#define PIT_ONE_SHOT   0xb0 /* channel 2, both bytes, mode 0 */
#define PIT_HZ	       1193182ull
#define PORT_SPEAKER   0x61
#define SPEAKER_GATE   0x01
#define SPEAKER_DATA   0x02
#define SPEAKER_OUTPUT 0x20

/* Motorola MC146818 */
#define RTC_INDEX      0x70
#define RTC_DATA       0x71
#define RTC_STATUS_A   0x0a
#define RTC_STATUS_B   0x0b
#define RTC_UPDATING   0x80
#define RTC_BINARY     0x04
#define DAYS_1970_2000 10957
#define SECONDS_A_DAY  86400u

void stopwatch_start(unsigned int microseconds)
{
	uint64_t count = PIT_HZ * microseconds / 1000000;

	outb(PORT_SPEAKER, (uint8_t)((inb(PORT_SPEAKER) & ~SPEAKER_DATA) | SPEAKER_GATE));
	outb(PIT_COMMAND, PIT_ONE_SHOT);
	outb(PIT_CHANNEL2, (uint8_t)count);
	outb(PIT_CHANNEL2, (uint8_t)(count >> 8));
}

bool stopwatch_over(void)
{
	return inb(PORT_SPEAKER) & SPEAKER_OUTPUT;
}

void stopwatch_await(void)
{
	while (!stopwatch_over())
		cpu_relax();
}

static unsigned int rtc(uint8_t index)
{
	outb(RTC_INDEX, index);
	return inb(RTC_DATA);
}

/* Seconds, minutes, hours, day, month and year of the century, by their index. */
static unsigned int rtc_field(uint8_t index)
{
	unsigned int value = rtc(index);

	return rtc(RTC_STATUS_B) & RTC_BINARY ? value : (value >> 4) * 10 + (value & 15);
}

/* Of this century, whose year 00 is a leap year, as is every fourth. */
static unsigned int days_since_2000(unsigned int year, unsigned int month, unsigned int day)
{
	static const unsigned int before[] = {0,   31,	59,  90,  120, 151,
					      181, 212, 243, 273, 304, 334};
	unsigned int leap = year % 4 == 0 && month > 2;

	return year * 365 + (year + 3) / 4 + before[month - 1] + leap + day - 1;
}

uint64_t stopwatch_rtc(void)
{
	unsigned int seconds, days;

	do {
		while (rtc(RTC_STATUS_A) & RTC_UPDATING)
			cpu_relax();
		seconds = rtc_field(0);
		days = days_since_2000(rtc_field(9), rtc_field(8), rtc_field(7));
		days += DAYS_1970_2000;
		seconds += rtc_field(2) * 60 + rtc_field(4) * 3600;
	} while (rtc_field(0) != seconds % 60);
	return (uint64_t)days * SECONDS_A_DAY + seconds;
}
