/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a machine that ends without Vellum's last words, and with them all its counters;
 * a power-off that is called a reset.
 * Manual: ACPI 6.4, 4.8.3.2 (PM1 control, SLP_EN); 64h and 92h are the PC's, CF9h PIIX'.
 * Vendors: no difference; APM volume 2, 15.10 (I/O intercepts).
 * Cannot tell apart: S5 from other sleep states; resets by the chipset's other registers.
 */
#include "guest.h"

const char guest_name[] = "ports_power";

#define PCI_ADDRESS	0xcf8
#define PCI_DATA	0xcfc
#define PIIX4_PM_DEVICE 0x80000b00u /* 00:01.3, QEMU's "pc" */
#define PIIX4_PM_BASE	0x40
#define PM1A_CONTROL	4
#define PM1_SLP_EN	0x2000 /* and sleep type 0: off, on this machine */

static uint16_t pm_base(void)
{
	outl(PCI_ADDRESS, PIIX4_PM_DEVICE | PIIX4_PM_BASE);
	return inl(PCI_DATA) & 0xffc0;
}

void guest_main(void)
{
	uint16_t pm = pm_base();

	EXPECT(pm != 0 && pm != 0xffc0);
	say_pass();
	if (told("port64"))
		outb(0x64, 0xfe);
	if (told("port92"))
		outb(0x92, inb(0x92) | 1);
	if (told("portcf9"))
		outb(0xcf9, 0x06);
	if (told("acpi-byte")) /* which PIIX4 ignores: the machine lives on */
		outb(pm + PM1A_CONTROL + 1, PM1_SLP_EN >> 8);
	if (told("acpi") || told("acpi-byte"))
		outw(pm + PM1A_CONTROL, PM1_SLP_EN);
	for (;;)
		cpu_relax();
}
