/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that puts its APIC's registers over Vellum's memory, so that Vellum's own
 * loads and stores hit the APIC; a console that a guest can flood with refusals.
 * Manual: APM volume 2, 16.3.1: bits 51:12 are the page. That Vellum refuses some is its
 * own rule; #GP is what a reserved bit gives.
 * Vendors: no difference.
 * Cannot tell apart: whether the APIC really moved; only that the register reads back.
 */
#include "guest.h"

const char guest_name[] = "apic_base";

#define FLAGS	  0xfffull
#define ELSEWHERE 0xfe000000ull

static void check_move(uint64_t value)
{
	uint64_t found = 0;

	EXPECT_EQ("WRMSR", msr_write(MSR_APIC_BASE, value), DONE);
	EXPECT_EQ("RDMSR", msr_read(MSR_APIC_BASE, &found), DONE);
	EXPECT_EQ("APIC_BASE", found, value);
}

void guest_main(void)
{
	struct e820_entry kept = kept_memory();
	uint64_t old = 0, now = 0;

	EXPECT_EQ("RDMSR", msr_read(MSR_APIC_BASE, &old), DONE);
	check_move(old);
	check_move((old & FLAGS) | ELSEWHERE);
	check_move((old & FLAGS) | (kept.base + kept.size));
	check_move((old & FLAGS) | (kept.base - PAGE_SIZE));
	check_move(old);
	if (!under_vellum())
		return;
	for (uint64_t page = kept.base; page < kept.base + kept.size; page += PAGE_SIZE) {
		EXPECT_EQ("WRMSR", msr_write(MSR_APIC_BASE, (old & FLAGS) | page), VECTOR_GP);
		EXPECT_EQ("RDMSR", msr_read(MSR_APIC_BASE, &now), DONE);
		EXPECT_EQ("APIC_BASE", now, old);
	}
}
