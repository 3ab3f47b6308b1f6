/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an MSR that is the guest's own and isn't passed on, or isn't switched with the
 * guest (SYSENTER, STAR, PAT...); a fault in the host, or a missing one in the guest, for
 * an MSR beyond the bitmap.
 * Manual: APM volume 2, 15.11: MSRs outside of the three ranges always exit; what they do
 * then is the processor's own business (3.2.1: #GP if there is none).
 * Vendors: VT-x' bitmap has two ranges.
 * Cannot tell apart: how real processors treat unknown MSRs; TCG reads 0 and ignores. Nor
 * a PAT that went to the host instead of the guest: TCG has one for both.
 */
#include "guest.h"

const char guest_name[] = "msr_same";

static const uint32_t read_only[] = {0x1b,  0xfe,  0x179, 0x1a0, 0x200, 0x201, 0x250, 0x258,
				     0x259, 0x268, 0x26f, 0x2ff, 0x277, 0x8b,  0x17,  0xc0010015};

/* SYSENTER_CS, ESP, EIP, MTRR, PAT, STAR, LSTAR, CSTAR, SFMASK, FS, GS, kernel GS, TSC_AUX */
static const struct {
	uint32_t msr;
	uint64_t value;
} written[] = {
	{0x174, 0x1234},
	{0x175, 0x12345678},
	{0x176, 0x9abcdef0},
	{0x20e, 0x80000006},
	{0x20f, 0xfffffff800ull},
	{0x277, 0x0007010600070106ull},
	{0xc0000081, 0x0011223344556677ull},
	{0xc0000082, 0xffff800012345678ull},
	{0xc0000083, 0x00007fff00000000ull},
	{0xc0000084, 0x47700},
	{0xc0000100, 0x0000123456789000ull},
	{0xc0000101, 0xffffff8000000000ull},
	{0xc0000102, 0x0000000000abcdefull},
	{0xc0000103, 0x42},
};

static const uint32_t beyond[] = {0x2000,     0x1fff,	  0x50000000, 0x80000000, 0xbfffffff,
				  0xc0002000, 0xc000ffff, 0xc0012000, 0xc0020000, 0xffffffff};

static void say_read(const char *what, uint32_t msr)
{
	uint64_t value = 0;
	unsigned int vector = msr_read(msr, &value);

	say_same("%s %x: vector %u value %llx", what, msr, vector, vector == DONE ? value : 0);
}

void guest_main(void)
{
	uint64_t old;

	for (unsigned int i = 0; i < ARRAY_SIZE(read_only); i++)
		say_read("MSR", read_only[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(written); i++) {
		EXPECT_EQ("RDMSR", msr_read(written[i].msr, &old), DONE);
		EXPECT_EQ("WRMSR", msr_write(written[i].msr, written[i].value), DONE);
		leaf_read(0, 0); /* an exit and an entry between the two */
		say_read("written", written[i].msr);
		EXPECT_EQ("WRMSR", msr_write(written[i].msr, old), DONE);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(beyond); i++) {
		say_read("beyond", beyond[i]);
		say_same("write: vector %u", msr_write(beyond[i], 0));
	}
}
