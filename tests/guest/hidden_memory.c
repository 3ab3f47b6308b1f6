/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a page of Vellum's that the guest can read.
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
}
