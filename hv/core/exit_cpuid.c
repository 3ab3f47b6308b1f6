/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "core/exit.h"
#include "core/vendor.h"
#include "vmi/vmi.h"

/* Leaves from CPUID_HYPERVISOR on that no processor uses, so that software may. */
#define HYPERVISOR_LEAVES 0x10000000u

static void set_cpuid_result(struct vcpu *vcpu, const struct cpuid_result *r)
{
	vcpu->regs.rax = r->eax;
	vcpu->regs.rbx = r->ebx;
	vcpu->regs.rcx = r->ecx;
	vcpu->regs.rdx = r->edx;
}

static struct cpuid_result exit_statistics(const struct vcpu *vcpu, uint32_t index)
{
	struct exit_counter sum = vcpu_exit_counter(vcpu, index);

	return (struct cpuid_result){
		.eax = (uint32_t)sum.count,
		.edx = (uint32_t)(sum.count >> 32),
		.ebx = (uint32_t)sum.cycles,
		.ecx = (uint32_t)(sum.cycles >> 32),
	};
}

static struct cpuid_result hypervisor_leaf(const struct vcpu *vcpu, uint32_t leaf, uint32_t subleaf)
{
	switch (leaf) {
	case VELLUM_CPUID_BASE:
		return (struct cpuid_result){VELLUM_CPUID_MAX, VELLUM_SIGNATURE_EBX,
					     VELLUM_SIGNATURE_ECX, VELLUM_SIGNATURE_EDX};
	case VELLUM_CPUID_INTERFACE:
		return (struct cpuid_result){.eax = VELLUM_INTERFACE_VERSION};
	case VELLUM_CPUID_EXITS:
		return exit_statistics(vcpu, subleaf);
	default:
		return (struct cpuid_result){0};
	}
}

static uint32_t follow(uint32_t value, uint64_t bit, bool on)
{
	return on ? value | (uint32_t)bit : value & ~(uint32_t)bit;
}

/* What the processor says, less what the guest does not have. */
static void filter_cpuid(const struct vcpu *vcpu, uint32_t leaf, struct cpuid_result *r)
{
	uint64_t cr4;

	switch (leaf) {
	case CPUID_FEATURES:
		cr4 = vendor->read_cr4(vcpu);
		r->ecx = follow(r->ecx, CPUID_1_ECX_OSXSAVE, cr4 & CR4_OSXSAVE);
		r->ecx &= ~(uint32_t)CPUID_1_ECX_VMX;
		r->ecx |= CPUID_1_ECX_HYPERVISOR;
		break;
	case CPUID_STRUCTURED:
		cr4 = vendor->read_cr4(vcpu);
		r->ecx = follow(r->ecx, CPUID_7_ECX_OSPKE, cr4 & CR4_PKE);
		break;
	case CPUID_EXT_FEATURES:
		r->ecx &= ~(uint32_t)(CPUID_EXT1_ECX_SVM | CPUID_EXT1_ECX_SKINIT);
		break;
	case CPUID_SVM:
		*r = (struct cpuid_result){0};
		break;
	}
}

static bool is_hypervisor_leaf(uint32_t leaf)
{
	return leaf - CPUID_HYPERVISOR < HYPERVISOR_LEAVES;
}

bool exit_cpuid(struct vcpu *vcpu)
{
	uint32_t leaf = (uint32_t)vcpu->regs.rax, subleaf = (uint32_t)vcpu->regs.rcx;
	struct cpuid_result r;

	if (is_hypervisor_leaf(leaf)) {
		r = hypervisor_leaf(vcpu, leaf, subleaf);
	} else {
		r = cpuid(leaf, subleaf);
		filter_cpuid(vcpu, leaf, &r);
	}
	set_cpuid_result(vcpu, &r);
	vendor->skip_instruction(vcpu);
	return true;
}
