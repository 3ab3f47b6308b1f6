/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/machine_check.h"
#include "core/cpu.h"
#include "debug/console.h"

#define MSR_MCG_STATUS	0x0000017au
#define MCG_STATUS_RIPV BIT(0) /* the interrupted code can go on */
#define MCG_STATUS_EIPV BIT(1) /* the error is that of the interrupted instruction */

bool machine_check_is_survivable(void)
{
	uint64_t status;

	if (rdmsr_checked(MSR_MCG_STATUS, &status)) {
		pr_error("machine check, on a processor that does not say what of");
		return false;
	}
	if ((status & (MCG_STATUS_RIPV | MCG_STATUS_EIPV)) == MCG_STATUS_RIPV)
		return true;
	pr_error("machine check in what Vellum was doing (MCG_STATUS %lx): the hardware has an "
		 "error that can't be passed on to the guest",
		 status);
	return false;
}
