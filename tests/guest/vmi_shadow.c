/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: with shadow page tables, a change that the guest told of by a call (38, 40) and that
 * does not count after InvalPage, FlushTLB or a load of CR3; one of so many that they do not fit
 * in the queue; one that a kernel makes without a call because it uses the calls by half, or
 * before it announces the table, or after it has released it. And a queue that wild calls break.
 * Manual: docs/vmi.md, the calls; SDM volume 3A, 4.10.4: what a flush drops, and that entries
 * that were not present need none.
 * Vendors: no difference.
 * Cannot tell apart: a call that changes the shadow from one that drops it.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_shadow";

#define REGION	  0x50000000u /* 4 MiB that the table below maps */
#define FLAGS	  0x067u      /* present, writable, user's, accessed, dirty */
#define READ	  0x025u      /* present, user's, accessed */
#define PT	  0x01u
#define PD	  0x02u
#define ZEROED	  0x40u
#define ENTRIES	  1024u
#define PAGES	  8u
#define WILD	  0xffffffffu
#define LINEAR(p) ((uint32_t)(p) + PAGE_OFFSET)

static uint32_t table[ENTRIES] __attribute__((aligned(4096)));
static uint32_t cells[PAGES][1024] __attribute__((aligned(4096)));

static uint32_t *page_directory(void)
{
	uint32_t cr3;

	asm volatile("mov %%cr3, %0" : "=r"(cr3));
	return (uint32_t *)(cr3 & ~0xfffu);
}

static void flush(unsigned int way, unsigned int index)
{
	if (way == 0)
		VMI(InvalPage, REGION + index * 4096);
	else if (way == 1)
		VMI(FlushTLB, 1);
	else if (way == 2)
		VMI(FlushTLB, 3);
	else if (way == 3)
		asm volatile("mov %0, %%cr3" ::"r"(page_directory()) : "memory");
	else
		asm volatile("invlpg (%0)" ::"r"(REGION + index * 4096) : "memory");
}

static uint32_t read_page(unsigned int index)
{
	return *(volatile uint32_t *)(REGION + index * 4096);
}

static void set(unsigned int index, uint32_t entry)
{
	VMI(SetPxE, entry, LINEAR(&table[index]), PT);
}

/* As a processor's own instruction would, and told of afterwards. */
static void update(unsigned int index, uint32_t entry)
{
	table[index] = entry;
	VMI(UpdatePxE, LINEAR(&table[index]), PT);
}

static void announce(void)
{
	VMI(AllocatePage, (uint32_t)table >> 12, PT | ZEROED, 0, 0, 0);
	VMI(SetPxE, (uint32_t)table | FLAGS, LINEAR(&page_directory()[REGION >> 22]), PD);
	VMI(FlushTLB, 1);
}

/* Each page in turn, changed in each way and flushed in each. */
static void check_changes(void)
{
	for (unsigned int i = 0; i < 160; i++) {
		unsigned int index = i * 37 % ENTRIES, way = i % 5, cell = i % PAGES;

		set(index, (uint32_t)cells[cell] | FLAGS);
		EXPECT_EQ("a new page", read_page(index), cell);
		cell = (cell + 1) % PAGES;
		if (i & 8)
			set(index, (uint32_t)cells[cell] | FLAGS);
		else
			update(index, (uint32_t)cells[cell] | FLAGS);
		flush(way, index);
		EXPECT_EQ("another page", read_page(index), cell);
		update(index, 0);
		flush((way + i) % 5, index);
	}
}

static void check_many(void)
{
	for (unsigned int round = 0; round < 4; round++) {
		for (unsigned int i = 0; i < ENTRIES; i++)
			set(i, (uint32_t)cells[(i + round) % PAGES] | FLAGS);
		for (unsigned int i = 0; i < ENTRIES; i += 2)
			update(i, (uint32_t)cells[(i + round + 1) % PAGES] | FLAGS);
		flush(1 + round % 3, 0);
		for (unsigned int i = 0; i < ENTRIES; i++)
			EXPECT_EQ("one of many", read_page(i), (i + round + !(i % 2)) % PAGES);
	}
}

static unsigned int store_to(unsigned int index, uint32_t value)
{
	static const uint8_t code[] = {0x89, 0x18, INT_DONE}; /* mov [eax], ebx */
	struct state state = state_for(code);

	state.rax = REGION + index * 4096;
	state.rbx = value;
	run(&state);
	return (unsigned int)state.vector;
}

/* The fault that a kernel mends: absent, or read-only, which needs no flush behind a fault. */
static void check_faults(void)
{
	cr0_write(cr0_read() | BIT(16));
	for (unsigned int i = 0; i < 64; i++) {
		uint32_t first = i & 1 ? 0 : (uint32_t)cells[0] | READ;

		update(i, first);
		flush(i % 5, i);
		if (first)
			EXPECT_EQ("before", read_page(i), cells[0][0]);
		EXPECT_EQ("the fault", store_to(i, 7), VECTOR_PF);
		if (i & 2)
			update(i, 0);
		set(i, (uint32_t)cells[1] | FLAGS);
		EXPECT_EQ("mended", store_to(i, 100 + i), DONE);
		EXPECT_EQ("stored", cells[1][0], 100 + i);
		EXPECT_EQ("not stored", cells[0][0], 0);
		cells[1][0] = 1;
	}
	cr0_write(cr0_read() & ~BIT(16));
}

/* Stores without a call: before AllocatePage, behind ReleasePage, through another mapping. */
static void check_half_use(void)
{
	for (unsigned int i = 0; i < 32; i++) {
		VMI(ReleasePage, (uint32_t)table >> 12, PT);
		flush(i % 5, 3);
		for (unsigned int j = 0; j < 6; j++) {
			table[3] = (uint32_t)cells[(i + j) % PAGES] | FLAGS;
			flush((i + j) % 5, 3);
			EXPECT_EQ("without a call", read_page(3), (i + j) % PAGES);
		}
		VMI(AllocatePage, (uint32_t)table >> 12, i, 0, 0, 0);
		VMI(AllocatePage, (uint32_t)table >> 12, PT | ZEROED, WILD, WILD, WILD);
		VMI(SetPxE, (uint32_t)cells[i % PAGES] | FLAGS, (uint32_t)&table[3], WILD & ~31u);
		flush(i % 5, 3);
		EXPECT_EQ("not in the linear mapping", read_page(3), i % PAGES);
	}
}

static void check_wild(void)
{
	static const uint32_t frames[] = {0, 0xfffff, 0x100000, 0x80000, WILD};

	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
		VMI(AllocatePage, frames[i], i, frames[i], WILD, WILD);
		VMI(UpdatePxE, frames[i] << 12 | 4, PT);
		VMI(ReleasePage, frames[i], i);
		VMI(ReleasePage, frames[i], i);
		VMI(InvalPage, frames[i]);
		VMI(FlushTLB, frames[i]);
	}
}

void guest_main(void)
{
	for (unsigned int i = 0; i < PAGES; i++)
		cells[i][0] = i;
	pv_start(PAGING_4K);
	EXPECT(pv_has(VMI_CALL_SetPxE) && pv_has(VMI_CALL_UpdatePxE));
	VMI(SetLinearMapping, 0, PAGE_OFFSET, LINEAR_SIZE >> 12, 0);
	VMI(SetLinearMapping, 1, WILD, WILD, WILD);
	announce();
	for (unsigned int i = 0; i < 3; i++) {
		check_changes();
		check_many();
		check_faults();
		check_half_use();
		check_wild();
	}
}
