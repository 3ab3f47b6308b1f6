/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "core/exit.h"
#include "core/guest_space.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "mm/mtrr.h"

#define APIC_BASE_ADDRESS 0x000ffffffffff000ull

static int read_msr(const struct vcpu *vcpu, uint32_t msr, uint64_t *value)
{
	if (msr == MSR_EFER) {
		*value = vendor->read_efer(vcpu);
		return 0;
	}
	return vendor->hides_msr(msr) ? -EPERM : rdmsr_checked(msr, value);
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

/* The EFER bits that this processor has, but for those of virtualization. */
static uint64_t efer_allowed(void)
{
	uint32_t features = cpuid(CPUID_EXT_FEATURES, 0).edx;
	uint64_t allowed = EFER_SCE | EFER_LME | EFER_LMA;

	if (features & CPUID_EXT1_EDX_NX)
		allowed |= EFER_NXE;
	if (features & CPUID_EXT1_EDX_FFXSR)
		allowed |= EFER_FFXSR;
	if (cpuid(CPUID_EXT_FEATURES, 0).ecx & CPUID_EXT1_ECX_TCE)
		allowed |= EFER_TCE;
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

/* Once only: a guest can try in a loop, and the console is slow. */
static void report_apic_refusal(uint64_t value)
{
	static bool reported;

	if (!reported)
		pr_warn("guest wants its APIC at %lx, which is Vellum's memory: refused with #GP; "
			"no more such lines",
			value);
	reported = true;
}

/* An APIC page over Vellum's memory would swallow Vellum's own accesses to it. */
static int write_apic_base(uint64_t value)
{
	if (guest_space_is_kept(gpa(value & APIC_BASE_ADDRESS), PAGE_SIZE)) {
		report_apic_refusal(value);
		return -EPERM;
	}
	return wrmsr_checked(MSR_APIC_BASE, value);
}

static int write_through(uint32_t msr, uint64_t value)
{
	int error = wrmsr_checked(msr, value);

	if (!error && vendor->memory_types_changed && mtrr_is_one(msr))
		vendor->memory_types_changed();
	return error;
}

static int write_msr(struct vcpu *vcpu, uint32_t msr, uint64_t value)
{
	switch (msr) {
	case MSR_EFER:
		return write_efer(vcpu, value);
	case MSR_APIC_BASE:
		return write_apic_base(value);
	default:
		return vendor->hides_msr(msr) ? -EPERM : write_through(msr, value);
	}
}

void exit_wrmsr(struct vcpu *vcpu)
{
	uint64_t value = (uint32_t)vcpu->regs.rax | vcpu->regs.rdx << 32;

	finish(vcpu, write_msr(vcpu, (uint32_t)vcpu->regs.rcx, value));
}
