/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/vcpu.h"
#include "core/panic.h"
#include "core/vendor.h"
#include "debug/record.h"
#include "vmi/vmi.h"

static const char *const reason_names[EXIT_REASONS] = {
	[EXIT_CPUID] = "cpuid",
	[EXIT_RDMSR] = "rdmsr",
	[EXIT_WRMSR] = "wrmsr",
	[EXIT_PORT] = "port",
	[EXIT_HYPERCALL] = "hypercall",
	[EXIT_VIRT_INSN] = "virt_insn",
	[EXIT_NESTED_FAULT] = "nested_fault",
	[EXIT_CACHE] = "cache",
	[EXIT_EXCEPTION] = "exception",
	[EXIT_CONTROL_REGISTER] = "control_register",
	[EXIT_HIDDEN_FAULT] = "hidden_fault",
	[EXIT_GUEST_FAULT] = "guest_fault",
	[EXIT_INVLPG] = "invlpg",
	[EXIT_XSETBV] = "xsetbv",
	[EXIT_TIMER] = "timer",
	[EXIT_TASK_SWITCH] = "task_switch",
	[EXIT_NMI] = "nmi",
	[EXIT_APIC] = "apic",
	[EXIT_INIT] = "init",
	[EXIT_STARTUP] = "startup",
	[EXIT_ATTENTION] = "attention",
	[EXIT_DEBUG_REGISTER] = "debug_register",
	[EXIT_TRIPLE_FAULT] = "triple_fault",
	[EXIT_UNKNOWN] = "unknown",
};

const char *exit_reason_name(enum exit_reason reason)
{
	return reason_names[reason];
}

struct exit_counter vcpu_exit_counter(const struct vcpu *vcpu, uint32_t reason)
{
	struct exit_counter sum = {0, 0};

	if (reason < EXIT_REASONS)
		return vcpu->exits[reason];
	if (reason != VELLUM_CPUID_EXITS_ALL)
		return sum;
	for (unsigned int i = 0; i < EXIT_REASONS; i++) {
		sum.count += vcpu->exits[i].count;
		sum.cycles += vcpu->exits[i].cycles;
	}
	return sum;
}

void vcpu_run(struct vcpu *vcpu)
{
	record_attach(vcpu);
	panic_set_activity("running the guest");
	vendor->run(vcpu);
}
