/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a call of the TLB (17 SetCR3, 46 InvalPage, 47 FlushTLB) that leaves an old translation
 * where it has to go. With the trace stub in front such a routine needs to do nothing, as each
 * exit empties an emulator's TLB; so this guest calls what is behind the stub.
 * Manual: docs/vmi.md, the calls; SDM volume 3A, 4.10.4.1: what MOV to CR3, MOV to CR4 and
 * INVLPG drop.
 * Vendors: no difference.
 * Cannot tell apart: a routine that drops more than it has to.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_flush";

#define TABLE	  0x007u
#define GLOBAL	  0x100u
#define STUB_SIZE 12u /* PUSH imm8; CALL rel32; JMP rel32 */
#define STUB_JMP  7u
#define OP_JMP	  0xe9
#define TLB_ONLY  1u /* FlushTLB's argument */
#define ALL	  2u

static uint32_t cells[2][1024] __attribute__((aligned(4096)));
static volatile uint32_t *const window = (uint32_t *)WINDOW;
static uint32_t *entry;

static uint32_t routine_of(enum vmi_call call)
{
	uint32_t stub = pv_reloc(call).routine, distance;

	EXPECT_EQ("the stub's JMP", *(uint8_t *)(stub + STUB_JMP), OP_JMP);
	memcpy(&distance, (void *)(stub + STUB_JMP + 1), sizeof(distance));
	return stub + STUB_SIZE + distance;
}

static void map(unsigned int cell, uint32_t flags)
{
	*entry = (uint32_t)cells[cell] | TABLE | flags;
	asm volatile("" ::: "memory");
}

/* The window's old translation is known, and its entry is another one. */
static void make_stale(uint32_t flags)
{
	map(0, flags);
	asm volatile("invlpg (%0)" ::"r"(WINDOW) : "memory");
	EXPECT_EQ("the page", *window, cells[0][0]);
	map(1, flags);
	if (*window != cells[0][0])
		skip("this processor's TLB is never older than the tables");
}

static void expect_flushed(enum vmi_call number, uint32_t argument, uint32_t flags)
{
	struct call call = pv_canaries();
	uint64_t before;

	call.target = routine_of(number);
	call.eax = argument;
	before = exits(UINT32_MAX);
	make_stale(flags);
	pv_run(vmi_call_name(number), &call, PV_STD);
	if (*window != cells[1][0])
		fail(__FILE__, __LINE__, "%s of %x leaves a page with flags %x",
		     vmi_call_name(number), argument, flags);
	EXPECT_EQ("exits on the way", exits(UINT32_MAX), before + 1);
}

void guest_main(void)
{
	uint32_t cr3, cr4;

	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	asm volatile("mov %%cr3, %0" : "=r"(cr3));
	cells[0][0] = 0x01d;
	cells[1][0] = 0x1ec;
	entry = paging_window_entry(told("pae") ? PAGING_PAE : PAGING_4K, 0);
	expect_flushed(VMI_CALL_FlushTLB, ALL, 0); /* without global pages at all */
	cr4 = cr4_read();
	cr4_write(cr4 | CR4_PGE);
	for (unsigned int i = 0; i < 4; i++) {
		expect_flushed(VMI_CALL_SetCR3, cr3, 0);
		expect_flushed(VMI_CALL_InvalPage, WINDOW, 0);
		expect_flushed(VMI_CALL_InvalPage, WINDOW, GLOBAL);
		expect_flushed(VMI_CALL_FlushTLB, TLB_ONLY, 0);
		expect_flushed(VMI_CALL_FlushTLB, ALL, 0);
		expect_flushed(VMI_CALL_FlushTLB, ALL, GLOBAL);
		expect_flushed(VMI_CALL_FlushTLB, TLB_ONLY | ALL, GLOBAL);
	}
	EXPECT_EQ("CR4", cr4_read(), cr4 | CR4_PGE);
	cr4_write(cr4);
}
