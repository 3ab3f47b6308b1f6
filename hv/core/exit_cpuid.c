/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exit_cpuid.h"
#include "core/exit.h"
#include "core/options.h"
#include "core/vendor.h"
#include "debug/trace.h"
#include "debug/console.h"
#include "mm/page_table.h"
#include "vmi/vmi.h"

/* Leaves from CPUID_HYPERVISOR on that no processor uses, so that software may. */
#define HYPERVISOR_LEAVES 0x10000000u

#define USER_LEVEL 3 /* CPL of programs */

static void answer(struct vcpu *vcpu, struct cpuid_result r)
{
	vcpu->regs.rax = r.eax;
	vcpu->regs.rbx = r.ebx;
	vcpu->regs.rcx = r.ecx;
	vcpu->regs.rdx = r.edx;
}

static struct cpuid_result exit_statistics(const struct vcpu *vcpu, uint32_t reason)
{
	struct exit_counter sum = vcpu_exit_counter(vcpu, reason);

	return (struct cpuid_result){
		.eax = (uint32_t)sum.count,
		.edx = sum.count >> 32,
		.ebx = (uint32_t)sum.cycles,
		.ecx = sum.cycles >> 32,
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

/* A bit that tells what the guest, not Vellum, has set in CR4. */
static uint64_t follow_cr4(const struct vcpu *vcpu, uint64_t value, uint64_t bit, uint64_t cr4_bit)
{
	return vendor->read_cr4(vcpu) & cr4_bit ? value | bit : value & ~bit;
}

/* Vellum itself runs in 64-bit mode; the guest may not. */
static bool lacks_syscall(const struct vcpu *vcpu)
{
	return vendor->has_syscall && !vendor->has_syscall(vcpu);
}

/* Features that the guest's processor does not have. */
static struct {
	uint64_t features_ecx, structured_ebx, structured_ecx;
} hidden = {
	.features_ecx = CPUID_1_ECX_VMX | CPUID_1_ECX_SMX | CPUID_1_ECX_DTES64 | CPUID_1_ECX_DS_CPL,
	.structured_ebx = CPUID_7_EBX_PT,
};

/* What shadow paging does not know of: address spaces with numbers, keys, a fifth level. */
static void hide_from_shadow_paging(void)
{
	hidden.features_ecx |= CPUID_1_ECX_PCID;
	hidden.structured_ebx |= CPUID_7_EBX_INVPCID;
	hidden.structured_ecx |= CPUID_7_ECX_PKU | CPUID_7_ECX_OSPKE | CPUID_7_ECX_LA57 |
				 CPUID_7_ECX_CET_SS | CPUID_7_ECX_PKS;
}

static bool is_hypervisor_leaf(uint32_t leaf)
{
	return leaf - CPUID_HYPERVISOR < HYPERVISOR_LEAVES;
}

static struct cpuid_result structured_leaf(const struct vcpu *vcpu, uint32_t subleaf,
					   struct cpuid_result r)
{
	if (subleaf == 0) {
		r.ebx &= ~hidden.structured_ebx;
		r.ecx &= ~hidden.structured_ecx;
		r.ecx = follow_cr4(vcpu, r.ecx, CPUID_7_ECX_OSPKE, CR4_PKE);
		r.edx &= ~CPUID_7_EDX_PCONFIG;
	} else if (subleaf == 1) {
		r.eax &= ~(CPUID_7_1_EAX_FRED | CPUID_7_1_EAX_MSRLIST);
		r.ecx &= ~CPUID_7_1_ECX_MSR_IMM;
		r.edx &= ~CPUID_7_1_EDX_USER_MSR;
	}
	return r;
}

static struct cpuid_result filtered_leaf(const struct vcpu *vcpu, uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_result r;

	if (is_hypervisor_leaf(leaf))
		return hypervisor_leaf(vcpu, leaf, subleaf);
	r = cpuid(leaf, subleaf);
	switch (leaf) {
	case CPUID_FEATURES:
		r.ecx = follow_cr4(vcpu, r.ecx, CPUID_1_ECX_OSXSAVE, CR4_OSXSAVE);
		r.ecx &= ~hidden.features_ecx;
		r.ecx |= CPUID_1_ECX_HYPERVISOR;
		r.edx &= ~CPUID_1_EDX_DS;
		return r;
	case CPUID_THERMAL:
		r.eax &= ~(CPUID_6_EAX_HFI | CPUID_6_EAX_DIRECTOR);
		return r;
	case CPUID_STRUCTURED:
		return structured_leaf(vcpu, subleaf, r);
	case CPUID_EXT_FEATURES:
		r.ecx &= ~(CPUID_EXT1_ECX_SVM | CPUID_EXT1_ECX_SKINIT);
		if (lacks_syscall(vcpu))
			r.edx &= ~CPUID_EXT1_EDX_SYSCALL;
		return r;
	case CPUID_EXT_ADDRESS_SIZES: /* nested tables have four levels */
		r.eax = (r.eax & ~(uint64_t)CPUID_EXT8_EAX_PHYSICAL) |
			min_u64(r.eax & CPUID_EXT8_EAX_PHYSICAL, PAGE_TABLE_ADDRESS_BITS);
		r.ebx &= ~CPUID_EXT8_EBX_INVLPGB;
		return r;
	case CPUID_PROCESSOR_TRACE:
	case CPUID_SVM:
	case CPUID_ENCRYPTION:
		return (struct cpuid_result){0};
	default:
		return r;
	}
}

uint32_t exit_cpuid_filtered = FILTERED_BASIC_LEAVES;

static bool ends_with_boot;

void exit_cpuid_init(void)
{
	if (trace_is_on)
		exit_cpuid_filtered = UINT32_MAX;
	if (options.paging == PAGING_SHADOW)
		hide_from_shadow_paging();
	if (options.cpuid != CPUID_EXITS_IN_BOOT)
		return;
	ends_with_boot = vendor->release_cpuid;
	if (ends_with_boot)
		exit_cpuid_filtered = UINT32_MAX;
	else
		pr_warn("cpuid=boot: CPUID always exits on %s", vendor->name);
}

/*
 * The kernel has found its processor when the first program runs: from then on CPUID is
 * the processor's, and what is there is seen, not used. The same instruction runs again.
 */
static bool boot_has_ended(const struct vcpu *vcpu)
{
	return ends_with_boot && vendor->privilege_level(vcpu) == USER_LEVEL;
}

void exit_cpuid(struct vcpu *vcpu)
{
	if (boot_has_ended(vcpu)) {
		vendor->release_cpuid(vcpu);
		return;
	}
	answer(vcpu, filtered_leaf(vcpu, (uint32_t)vcpu->regs.rax, (uint32_t)vcpu->regs.rcx));
	vendor->skip_instruction(vcpu);
}
