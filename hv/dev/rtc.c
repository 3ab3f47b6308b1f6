/* SPDX-License-Identifier: GPL-2.0-only */
#include "dev/rtc.h"
#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/string.h"

#define PORT_INDEX 0x70
#define PORT_DATA  0x71

#define REGISTER_SECONDS 0x00
#define REGISTER_MINUTES 0x02
#define REGISTER_HOURS	 0x04
#define REGISTER_DAY	 0x07
#define REGISTER_MONTH	 0x08
#define REGISTER_YEAR	 0x09
#define REGISTER_A	 0x0a
#define A_UPDATING	 BIT(7) /* the date changes within 244 microseconds */
#define REGISTER_B	 0x0b
#define B_24_HOURS	 BIT(1)
#define B_BINARY	 BIT(2)
#define HOURS_PM	 BIT(7) /* of a 12-hour clock */

#define ATTEMPTS 100
#define PATIENCE 100000

struct date {
	unsigned int seconds, minutes, hours, day, month, year, century;
};

static uint8_t cmos(uint8_t index)
{
	outb(PORT_INDEX, index);
	return inb(PORT_DATA);
}

static bool wait_for_update(void)
{
	for (int i = 0; i < PATIENCE; i++)
		if (!(cmos(REGISTER_A) & A_UPDATING))
			return true;
	return false;
}

static struct date read_raw(uint8_t century)
{
	return (struct date){
		.seconds = cmos(REGISTER_SECONDS),
		.minutes = cmos(REGISTER_MINUTES),
		.hours = cmos(REGISTER_HOURS),
		.day = cmos(REGISTER_DAY),
		.month = cmos(REGISTER_MONTH),
		.year = cmos(REGISTER_YEAR),
		.century = century ? cmos(century) : 0,
	};
}

/* The same twice in a row: no update has come in between. */
static bool read_stable(uint8_t century, struct date *date)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		struct date again;

		if (!wait_for_update())
			return false;
		*date = read_raw(century);
		if (!wait_for_update())
			return false;
		again = read_raw(century);
		if (memcmp(date, &again, sizeof(again)) == 0)
			return true;
	}
	return false;
}

static unsigned int from_bcd(unsigned int value)
{
	return (value >> 4) * 10 + (value & 0xf);
}

static void decode(struct date *date, uint8_t format)
{
	bool pm = !(format & B_24_HOURS) && (date->hours & HOURS_PM);

	if (!(format & B_24_HOURS))
		date->hours &= ~(unsigned int)HOURS_PM;
	if (!(format & B_BINARY)) {
		date->seconds = from_bcd(date->seconds);
		date->minutes = from_bcd(date->minutes);
		date->hours = from_bcd(date->hours);
		date->day = from_bcd(date->day);
		date->month = from_bcd(date->month);
		date->year = from_bcd(date->year);
		date->century = from_bcd(date->century);
	}
	if (!(format & B_24_HOURS)) /* 12 is the first hour of both halves of the day */
		date->hours = date->hours % 12 + (pm ? 12 : 0);
	if (date->century < 19)
		date->century = date->year < 70 ? 20 : 19;
	date->year += date->century * 100;
}

static bool is_date(const struct date *date)
{
	return date->seconds < 60 && date->minutes < 60 && date->hours < 24 && date->day >= 1 &&
	       date->day <= 31 && date->month >= 1 && date->month <= 12 && date->year >= 1970 &&
	       date->year <= 9999;
}

/* Of the Gregorian calendar, with years that begin in March, so that leap days come last. */
static uint64_t days_since_1970(const struct date *date)
{
	uint64_t year = date->year - (date->month <= 2);
	uint64_t month = (date->month + 9) % 12;
	uint64_t day_of_year = (153 * month + 2) / 5 + date->day - 1;

	return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719468;
}

int rtc_read(uint8_t century, uint64_t *seconds)
{
	struct date date;

	if (!read_stable(century, &date))
		return -EINVAL;
	decode(&date, cmos(REGISTER_B));
	if (!is_date(&date))
		return -EINVAL;
	*seconds = ((days_since_1970(&date) * 24 + date.hours) * 60 + date.minutes) * 60 +
		   date.seconds;
	return 0;
}
