/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: what would stop Linux 2.6.30 to 2.6.36 on this ROM: irq routines that count on the
 * saves which older sites had, as these sites are a bare call of six bytes.
 * Manual: docs/vmi.md; Linux 2.6.30, vmi_32.c and asm/paravirt.h (PV_CALLEE_SAVE).
 * Vendors: no difference.
 * Cannot tell apart: a kernel that lives from one that lives well.
 */
#include "guest.h"
#include "linux.h"
#include "vmiclock.h"

const char guest_name[] = "vmi_linux_2_6_30";

void guest_main(void)
{
	const struct linux_kernel kernel = {
		.paging = told("pae") ? PAGING_PAE : PAGING_4K,
		.early_init = true,
		.callee_save = true,
		.lazy_wrapped = true,
	};

	linux_boot(&kernel);
	vmiclock_live();
	if (told("two"))
		linux_live_on_two(vmiclock_live);
}
