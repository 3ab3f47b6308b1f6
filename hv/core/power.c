/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/power.h"
#include "core/cpu.h"
#include "dev/acpi.h"

#define RESET_HARD	     0x06
#define KEYBOARD_PULSE_RESET 0xfe
#define PATIENCE	     10000000

static struct acpi_power acpi;

void power_init(void)
{
	acpi_read_power(&acpi);
}

static void wait_for_reset(void)
{
	for (int i = 0; i < PATIENCE; i++)
		cpu_relax();
}

/* A guest without ACPI may never have turned it on. */
static void turn_acpi_on(void)
{
	if (!acpi.smi_command || (inw(acpi.pm1a_control) & ACPI_PM1_SCI_EN))
		return;
	outb(acpi.smi_command, acpi.acpi_enable);
	for (int i = 0; i < PATIENCE && !(inw(acpi.pm1a_control) & ACPI_PM1_SCI_EN); i++)
		cpu_relax();
}

/* First the type, then the same with the bit that starts it (ACPI 6.4, 16.1.7). */
static void enter_sleep(uint16_t control, uint8_t type)
{
	uint16_t value;

	if (!control)
		return;
	value = (uint16_t)((inw(control) & ~ACPI_PM1_SLP_TYP) | type << ACPI_PM1_SLP_TYP_SHIFT);
	outw(control, value);
	outw(control, (uint16_t)(value | ACPI_PM1_SLP_EN));
}

void power_off(void)
{
	if (!acpi.has_soft_off || !acpi.pm1a_control)
		return;
	turn_acpi_on();
	enter_sleep(acpi.pm1a_control, acpi.soft_off_a);
	enter_sleep(acpi.pm1b_control, acpi.soft_off_b);
	wait_for_reset();
}

/* An exception without a handler: the processor shuts down, and a PC resets then. */
_Noreturn static void triple_fault(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) none = {0, 0};

	asm volatile("lidt %0; ud2" ::"m"(none));
	cpu_stop();
}

void power_reset(void)
{
	outb(PORT_RESET_CONTROL, RESET_HARD);
	wait_for_reset();
	outb(PORT_KEYBOARD_COMMAND, KEYBOARD_PULSE_RESET);
	wait_for_reset();
	triple_fault();
}
