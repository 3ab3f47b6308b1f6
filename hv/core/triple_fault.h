/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_TRIPLE_FAULT_H
#define VELLUM_CORE_TRIPLE_FAULT_H

#include "core/vcpu.h"

/* Says in words why the guest could not take its double fault, as far as its state tells. */
void triple_fault_explain(const struct vcpu *vcpu);

#endif
