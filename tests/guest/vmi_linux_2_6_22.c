/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: what would stop Linux 2.6.22 to 2.6.27 on this ROM: a pointer that one call's answer
 * promises and another's does not give, a periodic alarm whose first expiry is already past,
 * the cancel of an alarm by all of its flags.
 * Manual: docs/vmi.md; Linux 2.6.22 to 2.6.27, vmi.c and vmiclock.c.
 * Vendors: no difference.
 * Cannot tell apart: a kernel that lives from one that lives well.
 */
#include "guest.h"
#include "linux.h"
#include "vmiclock.h"

const char guest_name[] = "vmi_linux_2_6_22";

void guest_main(void)
{
	const struct linux_kernel kernel = {
		.paging = told("pae") ? PAGING_PAE : PAGING_4K,
		.lazy_wrapped = told("2.6.24"),
		.apic_write_atomic = true,
	};

	linux_boot(&kernel);
	vmiclock_live();
	if (told("two"))
		linux_live_on_two(vmiclock_live);
}
