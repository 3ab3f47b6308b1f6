/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that changes memory types and then reads something else than it wrote, or
 * that loses its MTRRs to Vellum's; a write that Vellum does not get to see on VT-x, whose
 * nested entries have to follow.
 * Manual: SDM volume 3A, 12.11 (MTRRs; a reserved type or bit is #GP); volume 3C, 29.3.7.2.
 * Vendors: AMD-V combines nested types with the MTRRs by itself: no exit.
 * Cannot tell apart: whether the types in the nested entries are right; emulators have no
 * caches.
 */
#include "guest.h"

const char guest_name[] = "mtrr";

#define BASE		0x20cu
#define MASK		0x20du
#define VALID		BIT(11)
#define ENABLE		BIT(11)
#define REGION		0x01000000u /* 16 MiB, 2 MiB long */
#define LENGTH		0x00200000u
#define UNCACHED	0u
#define WRITES_COMBINED 1u
#define WRITES_THROUGH	4u
#define WRITES_BACK	6u
#define RESERVED_TYPE	2u

static const uint32_t types[] = {UNCACHED, WRITES_COMBINED, WRITES_THROUGH, WRITES_BACK};

static uint32_t *word(uint32_t offset)
{
	return (uint32_t *)(REGION - 4096 + offset);
}

static void fill(uint32_t salt)
{
	for (uint32_t at = 0; at < LENGTH + 8192; at += 4096)
		*word(at) = at ^ salt;
}

static void expect_filled(uint32_t salt)
{
	for (uint32_t at = 0; at < LENGTH + 8192; at += 4096)
		EXPECT_EQ("memory", *word(at), at ^ salt);
}

static uint64_t address_mask(void)
{
	uint64_t end = BIT(leaf_read(CPUID_EXT_ADDRESS_SIZES, 0).eax & 0xff);

	return (end - 1) & ~(uint64_t)(LENGTH - 1);
}

static void write(uint32_t msr, uint64_t value)
{
	uint64_t found = 0;

	EXPECT_EQ("WRMSR", msr_write(msr, value), DONE);
	EXPECT_EQ("RDMSR", msr_read(msr, &found), DONE);
	EXPECT_EQ("MTRR", found, value);
}

/* Each write of the type changes what lies behind live translations. */
static void change_types(void)
{
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(types); i++) {
		fill(i);
		write(BASE, REGION | types[i % ARRAY_SIZE(types)]);
		write(MASK, address_mask() | VALID);
		expect_filled(i);
		fill(~i);
		write(MASK, 0);
		expect_filled(~i);
	}
}

void guest_main(void)
{
	uint64_t old = 0, before = exits(EXIT_WRMSR);
	unsigned int writes = 3 * 2 * ARRAY_SIZE(types);

	change_types();
	if (under_vellum())
		EXPECT_EQ("exits", exits(EXIT_WRMSR), before + (is_intel() ? writes : 0));
	say_same("reserved type: vector %u", msr_write(BASE, REGION | RESERVED_TYPE));
	say_same("reserved bit: vector %u", msr_write(MASK, BIT(63) | VALID));
	EXPECT_EQ("RDMSR", msr_read(MSR_MTRR_DEF_TYPE, &old), DONE);
	say_same("default type %llx", old);
	fill(42);
	write(MSR_MTRR_DEF_TYPE, old & ~ENABLE);
	expect_filled(42);
	write(MSR_MTRR_DEF_TYPE, old | ENABLE);
	expect_filled(42);
	write(MSR_MTRR_DEF_TYPE, old);
}
