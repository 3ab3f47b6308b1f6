/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/vendor.h"
#include "svm/svm.h"

const struct vendor *vendor;

/* VT-x comes with vmx/: then the first vendor whose probe is content is taken. */
int vendor_select(char *why, size_t size)
{
	int error = svm_vendor.probe(why, size);

	if (!error)
		vendor = &svm_vendor;
	return error;
}
