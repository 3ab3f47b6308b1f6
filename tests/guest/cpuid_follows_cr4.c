/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: OSXSAVE and OSPKE that tell of the host's CR4, or of the guest's at some earlier
 * time. A C library that believes them executes XGETBV and dies of #UD.
 * Manual: APM volume 3, appendix E: 0000_0001h ECX.27 is CR4.OSXSAVE, 0000_0007h ECX.4
 * is CR4.PKE, each at the moment of the CPUID.
 * Vendors: no difference.
 * Cannot tell apart: a host that happens to have the same bits as the guest; hence both
 * values are tried.
 */
#include "guest.h"

const char guest_name[] = "cpuid_follows_cr4";

#define HAS_PKU BIT(3)

static bool osxsave(void)
{
	return leaf_read(CPUID_FEATURES, 0).ecx & CPUID_1_ECX_OSXSAVE;
}

static bool ospke(void)
{
	return leaf_read(CPUID_STRUCTURED, 0).ecx & CPUID_7_ECX_OSPKE;
}

static void check(uint32_t cr4_bit, bool (*shown)(void), const char *name)
{
	for (int i = 0; i < 3; i++) {
		cr4_write(cr4_read() & ~cr4_bit);
		EXPECT_EQ(name, shown(), false);
		cr4_write(cr4_read() | cr4_bit);
		EXPECT_EQ(name, shown(), true);
	}
	cr4_write(cr4_read() & ~cr4_bit);
}

void guest_main(void)
{
	check(CR4_OSXSAVE, osxsave, "OSXSAVE");
	if (leaf_read(CPUID_STRUCTURED, 0).ecx & HAS_PKU)
		check(CR4_PKE, ospke, "OSPKE");
}
