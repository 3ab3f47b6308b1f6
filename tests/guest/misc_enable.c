/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that switches execute-disable off for the whole processor, so that Vellum's
 * own page tables have reserved bits set: Vellum would die of the next access to its data.
 * Manual: SDM volume 4, IA32_MISC_ENABLE, bit 34.
 * Vendors: Intel's register; QEMU has it on every processor and stores whatever is written.
 * Cannot tell apart: a processor that obeys the bit from one that only stores it. Bochs
 * ignores the register: there it shows only that the write exits and does no harm.
 */
#include "guest.h"

const char guest_name[] = "misc_enable";

#define WRITES 3

static void check_bit(uint64_t old)
{
	uint64_t now = 0;

	EXPECT_EQ("WRMSR", msr_write(MSR_MISC_ENABLE, old | MISC_ENABLE_XD_DISABLE), DONE);
	EXPECT_EQ("RDMSR", msr_read(MSR_MISC_ENABLE, &now), DONE);
	EXPECT_EQ("MISC_ENABLE", now & ~MISC_ENABLE_XD_DISABLE, old);
	if (under_vellum())
		EXPECT_EQ("XD disable", now & MISC_ENABLE_XD_DISABLE, 0);
}

void guest_main(void)
{
	uint64_t old = 0;

	EXPECT_EQ("RDMSR", msr_read(MSR_MISC_ENABLE, &old), DONE);
	for (unsigned int i = 0; i < WRITES; i++)
		check_bit(old);
	EXPECT_EQ("WRMSR", msr_write(MSR_MISC_ENABLE, old), DONE);
	EXPECT(leaf_read(CPUID_EXT_FEATURES, 0).edx & CPUID_EXT1_EDX_NX);
}
