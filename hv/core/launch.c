/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/launch.h"
#include "core/vcpu.h"
#include "core/vendor.h"

static struct vcpu boot_vcpu;

int launch_guest(const struct guest_entry *entry)
{
	int error = vendor->enable();

	if (!error)
		error = vendor->memory_init();
	if (!error)
		error = vendor->vcpu_init(&boot_vcpu, entry);
	if (error)
		return error;
	vcpu_run(&boot_vcpu);
}
