// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which writes to which ports end the machine's day, by every size that can reach the
 * byte in question, and which ports and MSRs are guarded for it.
 */
#include "support.h"

#include <string.h>

#include "lib/errno.h"
#include "core/policy.c" /* what it learned from ACPI has to be forgotten between tests */

enum { PM1A = 0x604, PM1B = 0x714, SLP_EN = 0x2000 };

static struct acpi_power machine;
static int machine_error;

int acpi_read_power(struct acpi_power *answer)
{
	*answer = machine;
	return machine_error;
}

static void learn(void)
{
	memset(&power, 0, sizeof(power));
	reset_port = 0;
	policy_find_power_ports();
}

static int old_machine(void **state)
{
	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine_error = -ENODEV;
	learn();
	return 0;
}

static void give_acpi(uint16_t pm1a, uint16_t pm1b, uint8_t space, uint64_t reset, uint8_t value)
{
	machine = (struct acpi_power){
		.pm1a_control = pm1a,
		.pm1b_control = pm1b,
		.has_reset = reset != 0,
		.reset = {.space = space, .address = reset},
		.reset_value = value,
	};
	machine_error = 0;
	learn();
}

static int acpi_machine(void **state)
{
	(void)state;
	give_acpi(PM1A, PM1B, ACPI_SPACE_IO, 0xb2, 0x5a);
	return 0;
}

static void assert_event(uint16_t port, uint32_t value, unsigned int size, const char *event)
{
	const char *found = policy_power_event(port, value, size);

	if (event == NULL)
		assert_null(found);
	else
		assert_string_equal(found ? found : "nothing", event);
}

/* The byte at port has this effect, whatever the bytes around it in a wider access. */
static void assert_byte_event(uint16_t port, uint8_t byte, const char *event)
{
	assert_event(port, byte, 1, event);
	assert_event(port, byte, 2, event);
	assert_event(port, byte, 4, event);
	assert_event(port - 1, (uint32_t)byte << 8, 2, event);
	assert_event(port - 2, (uint32_t)byte << 16, 4, event);
	assert_event(port - 3, (uint32_t)byte << 24, 4, event);
}

static void the_reset_control_port_resets(void **state)
{
	(void)state;
	assert_byte_event(0xcf9, 0x06, "reset");
	assert_byte_event(0xcf9, 0x0e, "reset");
	assert_byte_event(0xcf9, 0x04, "reset");
	assert_byte_event(0xcf9, 0x02, NULL); /* chooses the kind, does nothing yet */
	assert_byte_event(0xcf9, 0x00, NULL);
	assert_byte_event(0xcf9, 0xfb, NULL);
}

/* Bit 10 of a PCI configuration address says function 4 to 7. */
static void a_configuration_address_is_no_reset(void **state)
{
	(void)state;
	assert_event(0xcf8, 0x80000c00, 4, NULL);
	assert_event(0xcf8, 0xffffffff, 4, NULL);
	assert_event(0xcf8, 0x0600, 2, "reset"); /* only a dword is an address */
}

static void the_system_control_port_resets(void **state)
{
	(void)state;
	assert_byte_event(0x92, 0x01, "reset");
	assert_byte_event(0x92, 0xff, "reset");
	assert_byte_event(0x92, 0x02, NULL); /* A20 */
	assert_byte_event(0x92, 0xfe, NULL);
}

static void the_keyboard_controller_resets(void **state)
{
	(void)state;
	assert_byte_event(0x64, 0xfe, "reset");
	assert_byte_event(0x64, 0xff, NULL);
	assert_byte_event(0x64, 0xd1, NULL);
	assert_byte_event(0x64, 0x00, NULL);
}

static void bytes_beside_the_port_do_nothing(void **state)
{
	static const uint16_t ports[] = {0x64, 0x92, 0xcf9};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(ports); i++) {
		assert_event(ports[i] + 1, UINT32_MAX & ~0x100u, 4, NULL);
		assert_event(ports[i] - 1, 0xff, 1, NULL);
		assert_event(ports[i] - 2, 0xffff, 2, NULL);
		assert_event(ports[i] - 4, UINT32_MAX, 4, NULL);
	}
	/* What a register holds above the access's size is not written. */
	assert_event(0xcf8, 0x0600, 1, NULL);
	assert_event(0xcf7, 0x060000, 2, NULL);
}

static void a_machine_without_acpi_has_no_more(void **state)
{
	(void)state;
	assert_event(PM1A, SLP_EN, 2, NULL);
	assert_event(0xb2, 0x5a, 1, NULL);
	assert_event(0, UINT32_MAX, 4, NULL); /* absent ports are 0, and that is none */
	assert_event(0, 0, 1, NULL);
	assert_event(1, UINT32_MAX, 4, NULL);
}

static void sleep_enable_powers_off(void **state)
{
	static const uint16_t controls[] = {PM1A, PM1B};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(controls); i++) {
		assert_event(controls[i], SLP_EN, 2, "poweroff");
		assert_event(controls[i], SLP_EN | 0x1c01, 2, "poweroff");
		assert_event(controls[i], 0xdfff, 2, NULL);
		assert_event(controls[i], 0xff, 1, NULL);
		assert_byte_event(controls[i] + 1, SLP_EN >> 8, "poweroff");
		assert_byte_event(controls[i] + 1, 0xdf, NULL);
		assert_byte_event(controls[i] + 2, 0xff, NULL);
	}
}

static void the_acpi_reset_register_takes_its_value_only(void **state)
{
	(void)state;
	assert_byte_event(0xb2, 0x5a, "reset");
	assert_byte_event(0xb2, 0x5b, NULL);
	assert_byte_event(0xb2, 0xff, NULL);
}

static void a_reset_register_in_memory_is_no_port(void **state)
{
	(void)state;
	give_acpi(PM1A, 0, ACPI_SPACE_MEMORY, 0xb2, 0x5a);
	assert_byte_event(0xb2, 0x5a, NULL);
	give_acpi(PM1A, 0, ACPI_SPACE_PCI_CONFIG, 0xb2, 0x5a);
	assert_byte_event(0xb2, 0x5a, NULL);
}

static void a_reset_goes_before_a_sleep(void **state)
{
	(void)state;
	give_acpi(0x62, 0, ACPI_SPACE_IO, 0, 0); /* SLP_EN at 63h, beside the keyboard's port */
	assert_event(0x63, 0xfe20, 2, "reset");
	assert_event(0x63, 0x0020, 2, "poweroff");
}

/* ---- what is guarded ---- */

static unsigned int guards;
static uint16_t guarded_ports[16];

static void note_port(uint16_t port)
{
	assert_in_range(guards, 0, ARRAY_SIZE(guarded_ports) - 1);
	guarded_ports[guards++] = port;
}

static void assert_guarded(const uint16_t *ports, unsigned int count)
{
	guards = 0;
	policy_guard_ports(note_port);
	assert_int_equal(guards, count);
	assert_memory_equal(guarded_ports, ports, count * sizeof(*ports));
}

static void the_ports_that_end_the_day_are_guarded(void **state)
{
	static const uint16_t old[] = {0x64, 0x92, 0xcf9};
	static const uint16_t acpi[] = {0x64, 0x92, 0xcf9, PM1A + 1, PM1B + 1, 0xb2};

	(void)state;
	assert_guarded(old, ARRAY_SIZE(old));
	acpi_machine(NULL);
	assert_guarded(acpi, ARRAY_SIZE(acpi));
}

/* With stats=off nobody asks for ports, and none is guarded. */
static void nothing_is_guarded_unasked(void **state)
{
	(void)state;
	watching = false;
	assert_guarded(NULL, 0);
}

static void hidden_ports_are_guarded_in_any_case(void **state)
{
	static const uint16_t ports[] = {0x2f8, 0x2f9, 0x2fa};

	(void)state;
	watching = false;
	policy_hide_ports(0x2f8, 3);
	assert_guarded(ports, ARRAY_SIZE(ports));
	assert_true(policy_hides_port(0x2f8, 1));
	assert_true(policy_hides_port(0x2f7, 2));
	assert_true(policy_hides_port(0x2fa, 4));
	assert_false(policy_hides_port(0x2f7, 1));
	assert_false(policy_hides_port(0x2fb, 4));
	policy_hide_ports(0, 0);
	assert_false(policy_hides_port(0x2f8, 1));
}

static void note_msr(uint32_t msr, bool read, bool write)
{
	guards++;
	assert_true(write);
	if (msr == 0xc0000080)
		assert_true(read);
	else
		assert_true((msr == 0x1b || msr == 0x1a0) && !read);
}

static void efer_and_writes_of_apic_base_and_misc_enable_are_guarded(void **state)
{
	(void)state;
	guards = 0;
	policy_guard_msrs(note_msr);
	assert_int_equal(guards, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_reset_control_port_resets, old_machine),
		cmocka_unit_test_setup(a_configuration_address_is_no_reset, old_machine),
		cmocka_unit_test_setup(the_system_control_port_resets, old_machine),
		cmocka_unit_test_setup(the_keyboard_controller_resets, old_machine),
		cmocka_unit_test_setup(bytes_beside_the_port_do_nothing, old_machine),
		cmocka_unit_test_setup(a_machine_without_acpi_has_no_more, old_machine),
		cmocka_unit_test_setup(sleep_enable_powers_off, acpi_machine),
		cmocka_unit_test_setup(the_acpi_reset_register_takes_its_value_only, acpi_machine),
		cmocka_unit_test_setup(a_reset_register_in_memory_is_no_port, old_machine),
		cmocka_unit_test_setup(a_reset_goes_before_a_sleep, old_machine),
		cmocka_unit_test_setup(the_ports_that_end_the_day_are_guarded, old_machine),
		cmocka_unit_test_setup(nothing_is_guarded_unasked, old_machine),
		cmocka_unit_test_setup(hidden_ports_are_guarded_in_any_case, old_machine),
		cmocka_unit_test_setup(efer_and_writes_of_apic_base_and_misc_enable_are_guarded,
				       old_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
