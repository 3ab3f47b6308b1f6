/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an INIT that Vellum dies of, or that ends the machine without its last words.
 * Manual: SDM volume 3A, 11.6.1 (ICR), 3C, 26.2 (INIT exits); APM volume 2, 15.21.8 (INIT
 * intercept). A PC's chipset turns many resets into an INIT of the boot processor.
 * Vendors: no difference to the guest.
 * Cannot tell apart: an INIT by the chipset from one by the APIC. QEMU's TCG resets the
 * processor whatever is intercepted (guests.py).
 */
#include "guest.h"

const char guest_name[] = "init";

#define APIC_ID	      0xfee00020u
#define APIC_ICR      0xfee00300u
#define APIC_ICR_HIGH 0xfee00310u
#define ICR_INIT      0x4500u /* level assert, physical destination */

void guest_main(void)
{
	say_pass();
	*(volatile uint32_t *)APIC_ICR_HIGH = *(volatile uint32_t *)APIC_ID;
	*(volatile uint32_t *)APIC_ICR = ICR_INIT;
	for (;;)
		cpu_relax();
}
