// SPDX-License-Identifier: GPL-2.0-only
/* Switching the machine off: which ports are written, and in which order. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "dev/acpi.h"

/* Each write, and the ports as they read back. */
struct write {
	uint16_t port, value;
};

static struct write writes[8];
static unsigned int write_count;
static uint16_t ports[0x10000];
static bool smi_works;
static struct acpi_power machine;

static void fake_out(uint16_t port, uint16_t value)
{
	assert_in_range(write_count, 0, ARRAY_SIZE(writes) - 1);
	writes[write_count++] = (struct write){port, value};
	ports[port] = value;
	if (port == 0xb2 && smi_works)
		ports[0x604] |= 1;
}

#define inw(port)	  (ports[port])
#define outb(port, value) fake_out(port, value)
#define outw(port, value) fake_out(port, value)
#define cpu_relax()	  ((void)0)
#include "core/power.c"

int acpi_read_power(struct acpi_power *power)
{
	*power = machine;
	return 0;
}

static int reset(void **state)
{
	(void)state;
	memset(ports, 0, sizeof(ports));
	write_count = 0;
	smi_works = true;
	machine = (struct acpi_power){.pm1a_control = 0x604, .has_soft_off = true, .soft_off_a = 5};
	return 0;
}

static void switch_off(void)
{
	power_init();
	power_off();
}

static void assert_write(unsigned int index, uint16_t port, uint16_t value)
{
	assert_in_range(index, 0, write_count - 1);
	assert_int_equal(writes[index].port, port);
	assert_int_equal(writes[index].value, value);
}

static void the_type_goes_first_then_the_bit_that_starts_it(void **state)
{
	(void)state;
	ports[0x604] = 0x1c03; /* another type, and bits that stay */
	switch_off();
	assert_int_equal(write_count, 2);
	assert_write(0, 0x604, 5 << 10 | 3);
	assert_write(1, 0x604, 1 << 13 | 5 << 10 | 3);
}

static void both_blocks_are_told(void **state)
{
	(void)state;
	machine.pm1b_control = 0x704;
	machine.soft_off_b = 7;
	switch_off();
	assert_int_equal(write_count, 4);
	assert_write(3, 0x704, 1 << 13 | 7 << 10);
}

static void acpi_is_turned_on_first(void **state)
{
	(void)state;
	machine.smi_command = 0xb2;
	machine.acpi_enable = 0xf1;
	switch_off();
	assert_int_equal(write_count, 3);
	assert_write(0, 0xb2, 0xf1);
	assert_write(2, 0x604, 1 << 13 | 5 << 10 | 1);
}

static void where_it_is_on_no_smi_is_made(void **state)
{
	(void)state;
	machine.smi_command = 0xb2;
	ports[0x604] = 1;
	switch_off();
	assert_write(0, 0x604, 5 << 10 | 1);
}

static void an_smi_that_does_nothing_is_not_waited_for_forever(void **state)
{
	(void)state;
	machine.smi_command = 0xb2;
	smi_works = false;
	switch_off();
	assert_int_equal(write_count, 3);
}

static void without_soft_off_nothing_is_written(void **state)
{
	(void)state;
	machine.has_soft_off = false;
	switch_off();
	machine.has_soft_off = true;
	machine.pm1a_control = 0;
	switch_off();
	assert_int_equal(write_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_type_goes_first_then_the_bit_that_starts_it, reset),
		cmocka_unit_test_setup(both_blocks_are_told, reset),
		cmocka_unit_test_setup(acpi_is_turned_on_first, reset),
		cmocka_unit_test_setup(where_it_is_on_no_smi_is_made, reset),
		cmocka_unit_test_setup(an_smi_that_does_nothing_is_not_waited_for_forever, reset),
		cmocka_unit_test_setup(without_soft_off_nothing_is_written, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
