/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an INIT that Vellum dies of, or that ends the machine without its last words.
 * Manual: SDM volume 3A, 11.6.1 (ICR), 3C, 26.2 (INIT exits); APM volume 2, 15.21.8 (INIT
 * intercept). A PC's chipset turns many resets into an INIT of the boot processor.
 * Vendors: no difference to the guest.
 * Cannot tell apart: an INIT by the chipset from one by the APIC. QEMU's TCG resets the
 * processor whatever is intercepted (guests.py).
 */
#include "apic.h"
#include "guest.h"

const char guest_name[] = "init";

void guest_main(void)
{
	say_pass();
	apic_send_to_self(ICR_INIT);
	for (;;)
		cpu_relax();
}
