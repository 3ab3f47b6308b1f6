/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a page of Vellum's that the guest can read or write, by the map (a hole in the
 * nested page tables) or next to it (a border that is off by one).
 * Manual: APM volume 2, 15.25; that the range is reserved in the memory map: ACPI 6.4, 15.
 * Vendors: EPT instead of NPT; same map.
 * Cannot tell apart: memory that is hidden from the processor but not from devices; there
 * is no IOMMU in use (docs/caveats.md). Natively Vellum lies there in plain sight, which
 * shows that the search can find it.
 */
#include "guest.h"

const char guest_name[] = "hidden_memory";

#define DWORDS (PAGE_SIZE / sizeof(uint32_t))

static struct e820_entry kept;

static volatile uint32_t *at(uint64_t address)
{
	return (volatile uint32_t *)(uint32_t)address;
}

/* The text begins with "vellum: ", in what is printed, and "Vellum" in CPUID's answer. */
static bool holds_text(uint64_t page)
{
	for (unsigned int i = 0; i < DWORDS; i++)
		if (at(page)[i] == 0x6c6c6576u || at(page)[i] == 0x6c6c6556u)
			return true;
	return false;
}

static unsigned int pages_with_text(void)
{
	unsigned int found = 0;

	for (uint64_t page = kept.base; page < kept.base + kept.size; page += PAGE_SIZE)
		found += holds_text(page);
	return found;
}

/* All pages are the same one of no meaning: each dword reads what it shall. */
static void expect_everywhere(uint32_t value)
{
	for (uint64_t page = kept.base; page < kept.base + kept.size; page += PAGE_SIZE)
		for (unsigned int i = 0; i < DWORDS; i++)
			if (at(page)[i] != value)
				fail(__FILE__, __LINE__, "%llx + %x holds %x", page, i * 4,
				     at(page)[i]);
}

static void fill_all(uint32_t value)
{
	for (uint64_t page = kept.base; page < kept.base + kept.size; page += PAGE_SIZE)
		for (unsigned int i = 0; i < DWORDS; i++)
			at(page)[i] = value;
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
	kept = kept_memory();
	EXPECT(kept.size >= MIB);
	if (told("native")) {
		EXPECT(pages_with_text() > 0);
		return;
	}
	EXPECT_EQ("pages with Vellum's text", pages_with_text(), 0);
	expect_everywhere(0xffffffff);
	paging_on(PAGING_PAE);
	expect_everywhere(0xffffffff);
	check_borders();
	fill_all(0);
	expect_everywhere(0);
	for (int i = 0; i < 1000; i++)
		EXPECT(under_vellum());
}
