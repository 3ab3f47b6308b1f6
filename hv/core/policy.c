/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/policy.h"
#include "core/cpu.h"
#include "core/power.h"
#include "dev/acpi.h"

/* Ports that a PC has had since before ACPI */
#define KEYBOARD_PULSE(command) (((command)&0xf1) == 0xf0) /* of bit 0, the reset line */
#define PORT_SYSTEM_CONTROL_A	0x92
#define SYSTEM_CONTROL_RESET	BIT(0)
#define PORT_PCI_ADDRESS	0xcf8 /* as a dword; it is no access to the next port then */
#define RESET_CONTROL_GO	BIT(2)

static bool watching;
static struct {
	uint16_t first;
	unsigned int count;
} hidden;
static struct acpi_power power;
static uint16_t reset_port; /* ACPI's reset register, if it is a port; 0: none */

void policy_guard_msrs(void (*guard)(uint32_t msr, bool read, bool write))
{
	guard(MSR_EFER, true, true);	     /* its virtualization bits are Vellum's */
	guard(MSR_APIC_BASE, false, true);   /* must not cover Vellum's memory */
	guard(MSR_MISC_ENABLE, false, true); /* must not make NX a reserved bit; Intel's only */
}

void policy_find_power_ports(void)
{
	watching = true;
	if (acpi_read_power(&power))
		return;
	if (power.has_reset && power.reset.space == ACPI_SPACE_IO)
		reset_port = (uint16_t)power.reset.address;
}

void policy_hide_ports(uint16_t first, unsigned int count)
{
	hidden.first = first;
	hidden.count = count;
}

bool policy_hides_port(uint16_t port, unsigned int size)
{
	return hidden.count && port < hidden.first + hidden.count && hidden.first < port + size;
}

void policy_guard_ports(void (*guard)(uint16_t port))
{
	for (unsigned int i = 0; i < hidden.count; i++)
		guard((uint16_t)(hidden.first + i));
	if (!watching)
		return;
	guard(PORT_KEYBOARD_COMMAND);
	guard(PORT_SYSTEM_CONTROL_A);
	guard(PORT_RESET_CONTROL);
	if (power.pm1a_control)
		guard(power.pm1a_control + 1); /* the byte that holds SLP_EN */
	if (power.pm1b_control)
		guard(power.pm1b_control + 1);
	if (reset_port)
		guard(reset_port);
}

/* The byte that an access of size bytes at port writes to guarded, or -1 for none. */
static int byte_for(uint16_t guarded, uint16_t port, uint32_t value, unsigned int size)
{
	unsigned int offset = (unsigned int)guarded - port;

	return offset < size ? (int)(value >> 8 * offset & 0xff) : -1;
}

static bool is_pci_address(uint16_t port, unsigned int size)
{
	return port == PORT_PCI_ADDRESS && size == 4;
}

static bool resets(uint16_t port, uint32_t value, unsigned int size)
{
	int control = byte_for(PORT_RESET_CONTROL, port, value, size);
	int system = byte_for(PORT_SYSTEM_CONTROL_A, port, value, size);

	if (is_pci_address(port, size))
		return false;
	int keyboard = byte_for(PORT_KEYBOARD_COMMAND, port, value, size);

	if (keyboard >= 0 && KEYBOARD_PULSE(keyboard))
		return true;
	if (control >= 0 && (control & RESET_CONTROL_GO))
		return true;
	if (system >= 0 && (system & SYSTEM_CONTROL_RESET))
		return true;
	return reset_port && byte_for(reset_port, port, value, size) == power.reset_value;
}

static bool starts_sleep(uint16_t control, uint16_t port, uint32_t value, unsigned int size)
{
	int high = control ? byte_for(control + 1, port, value, size) : -1;

	return high >= 0 && (high & (int)(ACPI_PM1_SLP_EN >> 8));
}

const char *policy_power_event(uint16_t port, uint32_t value, unsigned int size)
{
	if (resets(port, value, size))
		return "reset";
	if (starts_sleep(power.pm1a_control, port, value, size) ||
	    starts_sleep(power.pm1b_control, port, value, size))
		return "poweroff";
	return NULL;
}
