/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: what would stop Linux 2.6.28 and 2.6.29 on this ROM: a vmi_init that must be followed
 * by get_reloc at once, or that remembers page tables which are gone when the kernel
 * activates what it found.
 * Manual: docs/vmi.md; Linux 2.6.28, vmi_32.c: vmi_init() first thing in setup_arch(),
 * vmi_activate() behind the early parameters.
 * Vendors: no difference.
 * Cannot tell apart: a kernel that lives from one that lives well.
 */
#include "guest.h"
#include "linux.h"
#include "vmiclock.h"

const char guest_name[] = "vmi_linux_2_6_28";

void guest_main(void)
{
	const struct linux_kernel kernel = {
		.paging = told("pae") ? PAGING_PAE : PAGING_4K,
		.early_init = true,
		.lazy_wrapped = true,
	};

	linux_boot(&kernel);
	vmiclock_live();
	if (told("two"))
		linux_live_on_two(vmiclock_live);
}
