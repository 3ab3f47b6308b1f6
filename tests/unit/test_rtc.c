// SPDX-License-Identifier: GPL-2.0-only
/* The real-time clock in all its formats, against dates that `date -u -d @N` gives. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "lib/errno.h"

static uint8_t cmos_ram[128];
static uint8_t index_port;
static unsigned int reads_until_update, updates;
static bool always_updating;

/* A second passes in the middle of a reading: all of it is of another second. */
static uint8_t fake_in(uint16_t port)
{
	assert_int_equal(port, 0x71);
	if (index_port == 0x0a)
		return always_updating ? 0x80 : 0;
	if (reads_until_update && --reads_until_update == 0) {
		cmos_ram[0]++;
		updates++;
	}
	return cmos_ram[index_port];
}

static void fake_out(uint16_t port, uint8_t value)
{
	assert_int_equal(port, 0x70);
	assert_in_range(value, 0, 127); /* NMIs stay on */
	index_port = value;
}

#define inb(port)	  fake_in(port)
#define outb(port, value) fake_out(port, value)
#include "dev/rtc.c"

static int reset(void **state)
{
	(void)state;
	memset(cmos_ram, 0, sizeof(cmos_ram));
	reads_until_update = updates = 0;
	always_updating = false;
	return 0;
}

struct clock {
	uint8_t format, century, year, month, day, hours, minutes, seconds;
};

static void set_clock(struct clock clock)
{
	cmos_ram[0x00] = clock.seconds;
	cmos_ram[0x02] = clock.minutes;
	cmos_ram[0x04] = clock.hours;
	cmos_ram[0x07] = clock.day;
	cmos_ram[0x08] = clock.month;
	cmos_ram[0x09] = clock.year;
	cmos_ram[0x0b] = clock.format;
	cmos_ram[0x32] = clock.century;
}

static void assert_time(struct clock clock, uint8_t century, uint64_t seconds)
{
	uint64_t found = 1;

	set_clock(clock);
	assert_int_equal(rtc_read(century, &found), 0);
	assert_int_equal(found, seconds);
}

enum { BCD_24 = 2, BINARY_24 = 6, BCD_12 = 0, BINARY_12 = 4 };

static void all_formats_are_read(void **state)
{
	(void)state;
	assert_time((struct clock){BCD_24, 0x20, 0x26, 0x11, 0x30, 0x17, 0x05, 0x59}, 0x32,
		    1796058359);
	assert_time((struct clock){BINARY_24, 20, 26, 11, 30, 17, 5, 59}, 0x32, 1796058359);
	assert_time((struct clock){BCD_12, 0x20, 0x26, 0x11, 0x30, 0x85, 0x05, 0x59}, 0x32,
		    1796058359);
	assert_time((struct clock){BINARY_12, 20, 26, 11, 30, 0x85, 5, 59}, 0x32, 1796058359);
}

static void twelve_is_the_first_hour_of_a_half(void **state)
{
	(void)state;
	assert_time((struct clock){BCD_12, 0x20, 0x26, 1, 1, 0x12, 0, 0}, 0x32, 1767225600);
	assert_time((struct clock){BCD_12, 0x20, 0x26, 1, 1, 0x92, 0, 0}, 0x32, 1767268800);
	assert_time((struct clock){BCD_12, 0x20, 0x26, 1, 1, 0x11, 0, 0}, 0x32, 1767265200);
}

static void leap_days_count(void **state)
{
	(void)state;
	assert_time((struct clock){BCD_24, 0x19, 0x70, 1, 1, 0, 0, 0}, 0x32, 0);
	assert_time((struct clock){BCD_24, 0x20, 0x00, 0x02, 0x29, 0, 0, 0}, 0x32, 951782400);
	assert_time((struct clock){BCD_24, 0x20, 0x00, 0x03, 0x01, 0, 0, 0}, 0x32, 951868800);
	assert_time((struct clock){BCD_24, 0x21, 0x00, 0x03, 0x01, 0, 0, 0}, 0x32, 4107542400);
	assert_time((struct clock){BCD_24, 0x20, 0x24, 0x12, 0x31, 0x23, 0x59, 0x59}, 0x32,
		    1735689599);
}

static void without_a_century_it_is_near_the_present(void **state)
{
	(void)state;
	assert_time((struct clock){BCD_24, 0, 0x26, 1, 1, 0, 0, 0}, 0, 1767225600);
	assert_time((struct clock){BCD_24, 0, 0x70, 1, 1, 0, 0, 0}, 0, 0);
	assert_time((struct clock){BCD_24, 0x00, 0x26, 1, 1, 0, 0, 0}, 0x32, 1767225600);
}

static void an_update_in_between_is_read_again(void **state)
{
	uint64_t seconds;

	(void)state;
	for (unsigned int reads = 1; reads <= 14; reads++) {
		set_clock((struct clock){BCD_24, 0x20, 0x26, 1, 1, 0, 0, 0});
		reads_until_update = reads;
		updates = 0;
		assert_int_equal(rtc_read(0x32, &seconds), 0);
		assert_int_equal(updates, 1);
		assert_in_range(seconds, 1767225600, 1767225601);
	}
}

static void what_is_no_date_is_an_error(void **state)
{
	static const struct clock wrong[] = {
		{BCD_24, 0x20, 0x26, 0x13, 1, 0, 0, 0},
		{BCD_24, 0x20, 0x26, 0, 1, 0, 0, 0},
		{BCD_24, 0x20, 0x26, 1, 0, 0, 0, 0},
		{BCD_24, 0x20, 0x26, 1, 0x32, 0, 0, 0},
		{BCD_24, 0x20, 0x26, 1, 1, 0x24, 0, 0},
		{BCD_24, 0x20, 0x26, 1, 1, 0, 0x60, 0},
		{BCD_24, 0x20, 0x26, 1, 1, 0, 0, 0x60},
		{BCD_24, 0x19, 0x69, 1, 1, 0, 0, 0},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, /* nothing is there */
	};
	uint64_t seconds;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		set_clock(wrong[i]);
		assert_int_equal(rtc_read(0x32, &seconds), -EINVAL);
	}
	always_updating = true;
	assert_int_equal(rtc_read(0x32, &seconds), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_formats_are_read, reset),
		cmocka_unit_test_setup(twelve_is_the_first_hour_of_a_half, reset),
		cmocka_unit_test_setup(leap_days_count, reset),
		cmocka_unit_test_setup(without_a_century_it_is_near_the_present, reset),
		cmocka_unit_test_setup(an_update_in_between_is_read_again, reset),
		cmocka_unit_test_setup(what_is_no_date_is_an_error, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
