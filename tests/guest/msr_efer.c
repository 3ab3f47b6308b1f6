/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an EFER that shows SVME, or lets the guest clear it (VMRUN then fails) or set it;
 * a bit that the guest sets in vain, or one that VMRUN refuses.
 * Manual: APM volume 2, 3.1.7: reserved bits are #GP, LMA cannot be written. 15.5.1: VMRUN
 * wants SVME.
 * Vendors: VT-x loads and saves EFER by controls; there is no bit to hide.
 * Cannot tell apart: TCG natively ignores reserved bits instead of #GP, so those are held
 * against the manual, not against a native run. CR4.PAE is on because QEMU 7.2 loses the
 * host's CR0 at an exit of a guest with LME but neither PAE nor PG.
 */
#include "guest.h"

const char guest_name[] = "msr_efer";

static uint64_t efer(void)
{
	uint64_t value;

	EXPECT_EQ("RDMSR", msr_read(MSR_EFER, &value), DONE);
	return value;
}

static void check_settable(uint64_t bit)
{
	EXPECT_EQ("WRMSR", msr_write(MSR_EFER, bit), DONE);
	say_same("EFER %llx", efer());
	EXPECT_EQ("WRMSR", msr_write(MSR_EFER, 0), DONE);
	EXPECT_EQ("EFER", efer(), 0);
}

static void check_refused(uint64_t value)
{
	uint64_t before = efer();

	if (msr_write(MSR_EFER, value) != VECTOR_GP)
		fail(__FILE__, __LINE__, "EFER takes %llx", value);
	EXPECT_EQ("EFER", efer(), before);
}

static void check_reserved(void)
{
	for (unsigned int bit = 1; bit < 64; bit++)
		if (bit < 8 || bit == 9 || bit == 12 || bit > 15)
			check_refused(BIT(bit));
	check_refused(EFER_SVME | EFER_LME | EFER_SCE);
}

void guest_main(void)
{
	say_same("EFER at start %llx", efer());
	cr4_write(cr4_read() | CR4_PAE);
	check_settable(EFER_SCE);
	check_settable(EFER_LME);
	check_settable(EFER_NXE);
	check_settable(EFER_SCE | EFER_LME | EFER_NXE);
	check_settable(EFER_LMA);
	if (under_vellum())
		check_reserved();
}
