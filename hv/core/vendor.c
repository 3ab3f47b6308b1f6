/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/vendor.h"
#include "lib/errno.h"
#include "lib/printf.h"

const struct vendor *vendor;

int vendor_select(char *why, size_t size)
{
	static const struct vendor *const candidates[] = {&svm_vendor, &vmx_vendor};

	for (unsigned int i = 0; i < ARRAY_SIZE(candidates); i++) {
		int error;

		if (!candidates[i]->is_present())
			continue;
		error = candidates[i]->probe(why, size);
		if (!error)
			vendor = candidates[i];
		return error;
	}
	text_format(why, size,
		    "the processor has neither AMD-V (CPUID 80000001h ECX bit 2) nor "
		    "VT-x (CPUID 1 ECX bit 5)");
	return -ENODEV;
}
