/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an MMU call (38 to 48, 73) that stores the wrong half, shows a present entry of
 * which only one half is new, takes a hint for an order, or fails when Linux gives it what
 * the specification does not have: releases of pages that were never announced, the same
 * bit for PAE and CURRENT_AS, a level that is not the entry's.
 * Manual: docs/vmi.md, the calls; SDM volume 3A, 9.1.1: which stores are atomic.
 * Vendors: no difference.
 * Cannot tell apart: an entry that is stored in one piece from one whose halves follow each
 * other faster than a data breakpoint sees, which none can; a TLB that was flushed from one
 * that an exit has emptied.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_calls_mmu";

#define MMU_PT	       0x01u
#define MMU_PD	       0x02u
#define MMU_CURRENT_AS 0x10u /* PAE, to AllocatePage */
#define MMU_DEFER      0x20u /* CLONE, to AllocatePage */
#define PRESENT	       1ull
#define TABLE	       0x007u
#define GLOBAL	       0x100u
#define DR7_TWO_WRITES 0x00dd0405u /* DR0 and DR1: writes of four bytes */
#define LOW(value)     ((uint32_t)(value))
#define HIGH(value)    ((uint32_t)((value) >> 32))
#define WILD	       0xffffffffu

static uint64_t entries[3];    /* the one in the middle is written */
static uint64_t before, after; /* what it may be in between */
static unsigned int traps;

/* Each store to the entry traps behind it. */
static void look(void)
{
	uint64_t found = entries[1];

	traps++;
	if ((found & PRESENT) && found != before && found != after)
		fail(__FILE__, __LINE__, "present and half: %llx, between %llx and %llx", found,
		     before, after);
	asm volatile("mov %0, %%dr6" ::"r"(0));
}

static void watch(bool on)
{
	asm volatile("mov %0, %%dr0" ::"r"(LOW(&entries[1])));
	asm volatile("mov %0, %%dr1" ::"r"(LOW(&entries[1]) + 4));
	asm volatile("mov %0, %%dr7" ::"r"(on ? DR7_TWO_WRITES : 0x400));
}

static void check_set_long(uint64_t from, uint64_t to, uint32_t flags)
{
	memset(entries, 0x77, sizeof(entries));
	entries[1] = before = from;
	after = to;
	traps = 0;
	watch(true);
	VMI(SetPxELong, LOW(to), HIGH(to), LOW(&entries[1]), flags);
	watch(false);
	EXPECT_EQ("the entry", entries[1], to);
	EXPECT_EQ("the one below", entries[0], 0x7777777777777777);
	EXPECT_EQ("the one above", entries[2], 0x7777777777777777);
	EXPECT(traps > 0);
}

static void check_set(uint32_t from, uint32_t to, uint32_t flags)
{
	static uint32_t words[3];

	memset(words, 0x77, sizeof(words));
	words[1] = from;
	VMI(SetPxE, to, LOW(&words[1]), flags);
	EXPECT_EQ("the entry", words[1], to);
	EXPECT_EQ("the one below", words[0], 0x77777777);
	EXPECT_EQ("the one above", words[2], 0x77777777);
}

static void check_stores(void)
{
	static const uint64_t values[] = {0,
					  0x00000001234567ull,
					  0x800000087654e067ull,
					  0x0000000a00001001ull,
					  0xffffffffffffffffull,
					  0x0000000b00001001ull};
	static const uint32_t flags[] = {0,
					 MMU_PT,
					 MMU_PD,
					 4,
					 MMU_PT | MMU_CURRENT_AS | WINDOW,
					 MMU_PT | MMU_DEFER | MMU_CURRENT_AS | WINDOW,
					 WILD};

	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(values); j++) {
			uint32_t flag = flags[(i + j) % ARRAY_SIZE(flags)];

			check_set_long(values[i], values[j], flag);
			check_set(LOW(values[i]), LOW(values[j]), flag);
		}
}

/* By hand, then announced; nothing in memory may change. */
static void check_update(void)
{
	uint32_t flags = MMU_PT | MMU_CURRENT_AS | WINDOW;

	entries[1] = 0x1234567 | PRESENT;
	VMI(UpdatePxE, LOW(&entries[1]), flags);
	VMI(UpdatePxE, LOW(&entries[1]), flags | MMU_DEFER);
	VMI(UpdatePxELong, LOW(&entries[1]), flags);
	VMI(UpdatePxELong, LOW(&entries[1]), flags | MMU_DEFER);
	EXPECT_EQ("the entry", entries[1], 0x1234567 | PRESENT);
}

/* Pages that are data, not announced, announced twice, not there; nothing may be zeroed. */
static void check_pages(void)
{
	static uint32_t page[1024] __attribute__((aligned(4096)));
	static const uint32_t pfns[] = {0, 0x3ffff, 0xfffff, WILD};
	static const uint32_t flags[] = {0x41, 0x42, 0x51, 0x52, 0x62, 0x72, 0x04, 0x08, 0, WILD};
	uint32_t pfn = LOW(page) >> PAGE_SHIFT;

	page[5] = 0xda7a;
	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++) {
		VMI(ReleasePage, pfn, flags[i]);
		VMI(AllocatePage, pfn, flags[i], pfn, 768, 256);
		VMI(AllocatePage, pfn, flags[i], 0, 0, 0);
		for (unsigned int j = 0; j < ARRAY_SIZE(pfns); j++) {
			VMI(AllocatePage, pfns[j], flags[i], pfns[3 - j], WILD, WILD);
			VMI(ReleasePage, pfns[j], flags[i]);
		}
	}
	EXPECT_EQ("the page", page[5], 0xda7a);
}

/* One by each way that makes a changed entry count. */
static void check_flushes(void)
{
	static uint32_t cells[2][1024] __attribute__((aligned(4096)));
	volatile uint32_t *window = (uint32_t *)WINDOW;
	uint32_t *entry = paging_window_entry(told("pae") ? PAGING_PAE : PAGING_4K, 0);
	uint32_t cr4 = cr4_read() | CR4_PGE;

	cr4_write(cr4);
	for (unsigned int i = 0; i < 5; i++) {
		cells[i % 2][0] = i;
		*entry = LOW(cells[i % 2]) | TABLE | (i % 2 ? GLOBAL : 0);
		if (i < 4)
			VMI(FlushTLB, i ? i : WILD);
		else
			VMI(InvalPage, WINDOW);
		EXPECT_EQ("the page, flushed", *window, i);
		EXPECT_EQ("CR4", cr4_read(), cr4);
	}
	VMI(FlushTLB, 0);
	VMI(InvalPage, WILD);
	cr4_write(cr4 & ~CR4_PGE);
}

static void check_hints(void)
{
	static const uint32_t modes[] = {1, 0, 2, 0, 1, 0, 0, 3, WILD, 0};

	for (uint32_t slot = 0; slot < 6; slot++)
		VMI(SetLinearMapping, slot, PAGE_OFFSET, LINEAR_SIZE >> PAGE_SHIFT, 0);
	VMI(SetLinearMapping, 0, PAGE_OFFSET, 0x38000, 0); /* a maximum, from 2.6.28 on */
	VMI(SetLinearMapping, WILD, WILD, WILD, WILD);
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++)
		VMI(SetLazyMode, modes[i]);
	EXPECT_EQ("MachineToPhysical", LOW(VMI(MachineToPhysical, 0x12345678)), 0x12345678);
	EXPECT_EQ("PhysicalToMachine", LOW(VMI(PhysicalToMachine, 0x12345678)), 0x12345678);
	VMI(SetCallbacks, WILD, WILD, WILD, WILD, WILD);
}

void guest_main(void)
{
	run_set_handler(VECTOR_DB, look);
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	for (unsigned int i = 0; i < 8; i++) {
		check_stores();
		check_update();
		check_pages();
		check_flushes();
		check_hints();
	}
}
