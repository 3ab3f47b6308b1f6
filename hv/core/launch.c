/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/launch.h"
#include "core/processor.h"
#include "core/smp.h"
#include "core/start_state.h"
#include "core/vendor.h"

int launch_guest(const struct guest_entry *entry)
{
	struct vcpu *vcpu = &processor_boot()->vcpu;
	struct start_state state = start_state_kernel(vcpu, entry);
	int error = vendor->shared_init();

	if (!error)
		error = vendor->enable(vcpu);
	if (!error)
		error = vendor->vcpu_init(vcpu);
	if (!error)
		error = smp_start();
	if (error)
		return error;
	vendor->set_state(vcpu, &state);
	vcpu_run(vcpu);
}
