/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that brings Vellum down by writing all over the memory that is hidden
 * from it; a border of the hidden range that is off by a page or a byte.
 * Manual: APM volume 2, 15.25 (nested paging).
 * Vendors: EPT instead of NPT; same map.
 * Cannot tell apart: writes that go nowhere from writes to one page that means nothing.
 */
#include "guest.h"

const char guest_name[] = "hidden_borders";

static struct e820_entry kept;

static volatile uint32_t *at(uint64_t address)
{
	return (volatile uint32_t *)(uint32_t)address;
}

static void fill_all(uint32_t value)
{
	for (uint64_t address = kept.base; address < kept.base + kept.size; address += 4)
		*at(address) = value;
}

/* The neighbours are RAM of the guest, and stay apart from what is written inside. */
static void check_borders(void)
{
	volatile uint32_t *below = at(kept.base - 4), *above = at(kept.base + kept.size);
	volatile uint32_t *across = at(kept.base - 2);

	*below = 0x11112222;
	*above = 0x33334444;
	fill_all(0x55556666);
	EXPECT_EQ("below", *below, 0x11112222);
	EXPECT_EQ("above", *above, 0x33334444);
	EXPECT_EQ("across the lower border", *across, 0x66661111);
	*across = 0x7777aaaa;
	EXPECT_EQ("below", *below, 0xaaaa2222);
	EXPECT_EQ("inside", *at(kept.base) & 0xffff, 0x7777);
}

void guest_main(void)
{
	uint64_t value;

	kept = kept_memory();
	check_borders();
	paging_on(PAGING_PAE);
	check_borders();
	fill_all(0);
	for (int i = 0; i < 1000; i++)
		EXPECT(under_vellum());
	EXPECT_EQ("an exit that Vellum looks up code for", msr_read(MSR_EFER, &value), DONE);
}
