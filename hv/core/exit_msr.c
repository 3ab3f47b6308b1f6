/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "core/exit.h"
#include "core/guest_space.h"
#include "core/smp.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "dev/lapic.h"
#include "lib/errno.h"
#include "mm/mtrr.h"
#include "vmi/apic.h"

#define APIC_BASE_ADDRESS 0x000ffffffffff000ull

/* What no processor has and every hypervisor uses */
#define MSR_SYNTHETIC_BASE  0x40000000u
#define MSR_SYNTHETIC_COUNT 0x10000000u

/*
 * The vendor's own, and what a hypervisor below Vellum offers: it would take the guest's
 * addresses for the machine's, and write where nobody checks.
 */
static bool is_absent(uint32_t msr)
{
	return vendor->hides_msr(msr) || msr - MSR_SYNTHETIC_BASE < MSR_SYNTHETIC_COUNT;
}

static int read_msr(const struct vcpu *vcpu, uint32_t msr, uint64_t *value)
{
	if (msr == MSR_EFER) {
		*value = vendor->read_efer(vcpu);
		return 0;
	}
	return is_absent(msr) ? -EPERM : rdmsr_checked(msr, value);
}

/* A refused access is what an MSR that is not there is: #GP. */
static void finish(struct vcpu *vcpu, int error)
{
	if (error)
		vendor->inject_exception(vcpu, VECTOR_GP, 0);
	else
		vendor->skip_instruction(vcpu);
}

void exit_rdmsr(struct vcpu *vcpu)
{
	uint64_t value;
	int error = read_msr(vcpu, (uint32_t)vcpu->regs.rcx, &value);

	if (!error) {
		vcpu->regs.rax = (uint32_t)value;
		vcpu->regs.rdx = value >> 32;
	}
	finish(vcpu, error);
}

static uint64_t feature_word(uint32_t leaf, char word)
{
	struct cpuid_result r;

	if (cpuid(CPUID_EXT_MAX, 0).eax < leaf)
		return 0;
	r = cpuid(leaf, 0);
	return word == 'a' ? r.eax : word == 'b' ? r.ebx : word == 'c' ? r.ecx : r.edx;
}

/* Which EFER bit goes with which CPUID bit: APM volume 2, 3.1.7. LMSLE is not offered. */
static const struct {
	uint64_t efer;
	uint32_t leaf;
	char word;
	uint64_t feature;
} efer_features[] = {
	{EFER_NXE, CPUID_EXT_FEATURES, 'd', CPUID_EXT1_EDX_NX},
	{EFER_FFXSR, CPUID_EXT_FEATURES, 'd', CPUID_EXT1_EDX_FFXSR},
	{EFER_TCE, CPUID_EXT_FEATURES, 'c', CPUID_EXT1_ECX_TCE},
	{EFER_MCOMMIT, CPUID_EXT_ADDRESS_SIZES, 'b', CPUID_EXT8_EBX_MCOMMIT},
	{EFER_INTWB, CPUID_EXT_ADDRESS_SIZES, 'b', CPUID_EXT8_EBX_INTWB},
	{EFER_UAIE, CPUID_EXT_FEATURES_2, 'a', CPUID_EXT21_EAX_UAI},
	{EFER_AUTOIBRS, CPUID_EXT_FEATURES_2, 'a', CPUID_EXT21_EAX_AUTOIBRS},
};

/* The EFER bits that this processor has, but for those of virtualization. */
static uint64_t efer_allowed(void)
{
	uint64_t allowed = EFER_SCE | EFER_LME | EFER_LMA;

	for (unsigned int i = 0; i < ARRAY_SIZE(efer_features); i++)
		if (feature_word(efer_features[i].leaf, efer_features[i].word) &
		    efer_features[i].feature)
			allowed |= efer_features[i].efer;
	return allowed;
}

/* APM volume 2, 3.1.7. LMA follows LME and CR0.PG; what is written to it is ignored. */
static int write_efer(struct vcpu *vcpu, uint64_t value)
{
	uint64_t old = vendor->read_efer(vcpu);

	if (value & ~efer_allowed())
		return -EINVAL;
	if (((value ^ old) & EFER_LME) && (vendor->read_cr0(vcpu) & CR0_PG))
		return -EINVAL;
	vendor->write_efer(vcpu, (value & ~EFER_LMA) | (old & EFER_LMA));
	return 0;
}

static void report_apic_refusal(uint64_t value)
{
	pr_warn_once("guest wants its APIC at %lx, where it can't be: refused with #GP; "
		     "no more such lines",
		     value);
}

/*
 * An APIC page over Vellum's memory would swallow Vellum's own accesses to it. With several
 * processors Vellum catches writes to it where it is, or writes to it itself: it stays.
 */
static bool may_be_apic_base(uint64_t value)
{
	bool moves = (value ^ rdmsr(MSR_APIC_BASE)) & APIC_BASE_ADDRESS;

	if (guest_space_is_kept(gpa(value & APIC_BASE_ADDRESS), PAGE_SIZE))
		return false;
	return !moves || smp_guest_count() == 1;
}

static int write_apic_base(uint64_t value)
{
	if (!may_be_apic_base(value)) {
		report_apic_refusal(value);
		return -EPERM;
	}
	vmi_apic_note_base(value);
	return wrmsr_checked(MSR_APIC_BASE, value);
}

static void report_xd_refusal(void)
{
	pr_warn_once("guest wants execute-disable off (MISC_ENABLE bit 34): it stays on, "
		     "Vellum's own page tables need it; no more such lines");
}

/* With XD off Vellum's own page tables would have reserved bits set. The guest reads 0 back. */
static int write_misc_enable(uint64_t value)
{
	if (value & MISC_ENABLE_XD_DISABLE)
		report_xd_refusal();
	return wrmsr_checked(MSR_MISC_ENABLE, value & ~MISC_ENABLE_XD_DISABLE);
}

static int write_through(uint32_t msr, uint64_t value)
{
	int error = wrmsr_checked(msr, value);

	if (!error && vendor->memory_types_changed && mtrr_is_one(msr))
		vendor->memory_types_changed();
	return error;
}

/* Guarded where INIT and STARTUP do not exit; #GP outside of x2APIC mode. */
static int write_command(uint64_t value)
{
	if (lapic_is_x2apic() && smp_write_command(value))
		return 0;
	return wrmsr_checked(MSR_X2APIC_ICR, value);
}

static int write_msr(struct vcpu *vcpu, uint32_t msr, uint64_t value)
{
	switch (msr) {
	case MSR_EFER:
		return write_efer(vcpu, value);
	case MSR_APIC_BASE:
		return write_apic_base(value);
	case MSR_MISC_ENABLE:
		return write_misc_enable(value);
	case MSR_X2APIC_ICR:
		return write_command(value);
	default:
		if (is_absent(msr) || vendor->keeps_msr(msr))
			return -EPERM;
		return write_through(msr, value);
	}
}

void exit_wrmsr(struct vcpu *vcpu)
{
	uint64_t value = (uint32_t)vcpu->regs.rax | vcpu->regs.rdx << 32;

	finish(vcpu, write_msr(vcpu, (uint32_t)vcpu->regs.rcx, value));
}
