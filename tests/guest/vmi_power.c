/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a Reboot or Shutdown (calls 36, 37) that comes back, does the other one's work, or
 * leaves Vellum's last records out.
 * Manual: docs/vmi.md, the calls.
 * Vendors: no difference.
 * Cannot tell apart: a hard reboot from a soft one; a PC has one way.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_power";

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	say_pass();
	if (told("shutdown"))
		VMI(Shutdown);
	else
		VMI(Reboot, told("hard"));
	say("the call has come back");
	cpu_stop();
}
