/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/vendor.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/printf.h"

const struct vendor *vendor;

static void choose(const struct vendor *candidate, bool *shadow)
{
	const char *missing = candidate->missing_for_nested();

	if (!*shadow && missing) {
		pr_warn("this %s has no %s: paging=shadow is used", candidate->name, missing);
		*shadow = true;
	}
	vendor = *shadow ? candidate->with_shadow_paging() : candidate;
}

int vendor_select(bool *shadow, char *why, size_t size)
{
	static const struct vendor *const candidates[] = {&svm_vendor, &vmx_vendor};

	for (unsigned int i = 0; i < ARRAY_SIZE(candidates); i++) {
		int error;

		if (!candidates[i]->is_present())
			continue;
		error = candidates[i]->probe(why, size);
		if (!error)
			choose(candidates[i], shadow);
		return error;
	}
	text_format(why, size,
		    "the processor has neither AMD-V (CPUID 80000001h ECX bit 2) nor "
		    "VT-x (CPUID 1 ECX bit 5)");
	return -ENODEV;
}
