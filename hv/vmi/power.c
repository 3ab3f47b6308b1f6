/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/power.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "debug/record.h"
#include "vmi/calls.h"

/* Soft or hard, a PC knows one reset; a guest that only wants to start again does that itself. */
void vmi_reboot(void)
{
	record_end("reset");
	power_reset();
}

void vmi_shutdown(void)
{
	record_end("poweroff");
	power_off();
	pr_error("the guest asked to be switched off, but the machine does not obey; stopped here: "
		 "switch it off by hand");
	cpu_stop();
}
