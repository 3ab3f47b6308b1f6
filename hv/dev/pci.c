/* SPDX-License-Identifier: GPL-2.0-only */
/* By mechanism #1 (PCI Local Bus Specification 3.0, 3.2.2.3.2) and the header of 6.1. */
#include "dev/pci.h"
#include "core/cpu.h"

#define PORT_ADDRESS 0xcf8
#define PORT_DATA    0xcfc
#define ENABLE	     0x80000000u
#define FUNCTIONS    0x10000u /* 256 buses of 32 devices of 8 */

#define PCI_ID	      0x00
#define PCI_COMMAND   0x04
#define PCI_CLASS     0x08
#define PCI_HEADER    0x0c
#define PCI_BAR0      0x10
#define NO_DEVICE     0xffffffffu
#define COMMAND_IO    BIT(0)
#define HEADER_MULTI  BIT(23)
#define CLASS_SERIAL  0x0700u /* in the upper half */
#define BAR_IO	      BIT(0)
#define BAR_PORT_MASK 0xfffcu

/* function: bus, device and function as they stand in the address, from bit 8 on. */
static uint32_t read_config(uint32_t function, uint32_t offset)
{
	outl(PORT_ADDRESS, ENABLE | function << 8 | offset);
	return inl(PORT_DATA);
}

static void write_config(uint32_t function, uint32_t offset, uint32_t value)
{
	outl(PORT_ADDRESS, ENABLE | function << 8 | offset);
	outl(PORT_DATA, value);
}

/* 0 if it is no serial card with ports. */
static uint16_t uart_ports(uint32_t function)
{
	uint32_t bar = read_config(function, PCI_BAR0);

	if (read_config(function, PCI_CLASS) >> 16 != CLASS_SERIAL || !(bar & BAR_IO))
		return 0;
	write_config(function, PCI_COMMAND,
		     (read_config(function, PCI_COMMAND) & UINT16_MAX) | COMMAND_IO);
	return bar & BAR_PORT_MASK;
}

static uint32_t functions_of(uint32_t device)
{
	if (read_config(device, PCI_ID) == NO_DEVICE)
		return 0;
	return read_config(device, PCI_HEADER) & HEADER_MULTI ? 8 : 1;
}

uint16_t pci_find_uart(void)
{
	for (uint32_t device = 0; device < FUNCTIONS; device += 8) {
		uint32_t count = functions_of(device);

		for (uint32_t function = device; function < device + count; function++) {
			uint16_t ports = uart_ports(function);

			if (ports)
				return ports;
		}
	}
	return 0;
}
