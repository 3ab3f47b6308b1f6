/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "lib/string.h"
#include "mm/mtrr.h"

/* IA32_MTRRCAP and IA32_MTRR_DEF_TYPE: APM volume 2, 7.7.2 */
#define CAP_COUNT	 0xff
#define DEF_TYPE_TYPE	 0xff
#define DEF_TYPE_FIXED	 BIT(10)
#define DEF_TYPE_ENABLED BIT(11)
#define BASE_TYPE	 0xff
#define MASK_VALID	 BIT(11)
#define ADDRESS_BITS	 0x000ffffffffff000ull

static const uint32_t fixed_registers[] = {
	MSR_MTRR_FIX64K,    MSR_MTRR_FIX16K,	MSR_MTRR_FIX16K + 1, MSR_MTRR_FIX4K,
	MSR_MTRR_FIX4K + 1, MSR_MTRR_FIX4K + 2, MSR_MTRR_FIX4K + 3,  MSR_MTRR_FIX4K + 4,
	MSR_MTRR_FIX4K + 5, MSR_MTRR_FIX4K + 6, MSR_MTRR_FIX4K + 7,
};

static void read_variable(struct mtrr_state *mtrr, unsigned int count)
{
	for (unsigned int i = 0; i < count && i < MTRR_VARIABLE_MAX; i++) {
		uint64_t base = rdmsr(MSR_MTRR_VARIABLE + 2 * i);
		uint64_t mask = rdmsr(MSR_MTRR_VARIABLE + 2 * i + 1);

		if (!(mask & MASK_VALID))
			continue;
		mtrr->variable[mtrr->variable_count].base = base & ADDRESS_BITS;
		mtrr->variable[mtrr->variable_count].mask = mask & ADDRESS_BITS;
		mtrr->variable[mtrr->variable_count].type = base & BASE_TYPE;
		mtrr->variable_count++;
	}
}

static void read_fixed(struct mtrr_state *mtrr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed_registers); i++) {
		uint64_t types = rdmsr(fixed_registers[i]);

		memcpy(&mtrr->fixed[i * sizeof(types)], &types, sizeof(types));
	}
}

static bool has_mtrrs(void)
{
	return cpuid(CPUID_FEATURES, 0).edx & CPUID_1_EDX_MTRR;
}

static uint32_t variable_end(void)
{
	return MSR_MTRR_VARIABLE + 2 * (uint32_t)(rdmsr(MSR_MTRR_CAP) & CAP_COUNT);
}

void mtrr_for_each(void (*visit)(uint32_t msr))
{
	if (!has_mtrrs())
		return;
	visit(MSR_MTRR_DEF_TYPE);
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed_registers); i++)
		visit(fixed_registers[i]);
	for (uint32_t msr = MSR_MTRR_VARIABLE; msr < variable_end(); msr++)
		visit(msr);
}

bool mtrr_is_one(uint32_t msr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed_registers); i++)
		if (msr == fixed_registers[i])
			return true;
	return msr == MSR_MTRR_DEF_TYPE ||
	       (has_mtrrs() && msr >= MSR_MTRR_VARIABLE && msr < variable_end());
}

void mtrr_read(struct mtrr_state *mtrr)
{
	uint64_t control;

	memset(mtrr, 0, sizeof(*mtrr));
	mtrr->default_type = MEMORY_WB;
	if (!has_mtrrs()) {
		mtrr->enabled = true;
		return;
	}
	control = rdmsr(MSR_MTRR_DEF_TYPE);
	mtrr->enabled = control & DEF_TYPE_ENABLED;
	mtrr->fixed_enabled = control & DEF_TYPE_FIXED;
	mtrr->default_type = control & DEF_TYPE_TYPE;
	read_variable(mtrr, rdmsr(MSR_MTRR_CAP) & CAP_COUNT);
	if (mtrr->fixed_enabled)
		read_fixed(mtrr);
}
