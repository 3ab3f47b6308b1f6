/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an exit where the policy says there is none. One on a tick, a fault or a system
 * call costs more than all else that Vellum does.
 * Manual: APM volume 2, 15.9 (intercepts are opt-in), 15.21.1 (V_INTR_MASKING off: the
 * guest's IF masks physical interrupts), 15.25 (nested paging: CR3 is the guest's).
 * Vendors: VT-x exits for INVD, XSETBV, CPUID in any case, all else is opt-in as well.
 * Cannot tell apart: an event that is slow from one that is fast.
 */
#include "guest.h"
#include "timer.h"

const char guest_name[] = "no_exit";

#define ROUNDS 2000
#define TICKS  20

static volatile unsigned int ticks;

static void tick(void)
{
	ticks++;
	timer_acknowledge();
}

static void wait_for_ticks(void)
{
	for (ticks = 0; ticks < TICKS;)
		asm volatile("sti; hlt; cli" ::: "memory");
}

static void use_processor(void)
{
	uint32_t cr3, flags, apic_id = *(volatile uint32_t *)0xfee00020;

	asm volatile("rdtsc; pause; wbinvd; mov %%eax, %%dr0" ::: "eax", "edx");
	asm volatile("pushf; cli; sti; pop %0; cli" : "=r"(flags));
	asm volatile("mov %%cr3, %0; mov %0, %%cr3" : "=r"(cr3)::"memory");
	asm volatile("invlpg (%0)" ::"r"(WINDOW));
	asm volatile("sub $16, %%esp; sgdt (%%esp); lgdt (%%esp); sidt (%%esp); lidt (%%esp);"
		     "add $16, %%esp" ::
			     : "memory");
	cr0_write(cr0_read() ^ (uint32_t)CR0_WP);
	cr4_write(cr4_read() ^ (uint32_t)BIT(7));
	wrmsr(0xc0000101, apic_id + flags);
	EXPECT_EQ("GS base", rdmsr(0xc0000101), apic_id + flags);
	EXPECT_EQ("COM1 scratch", (outb(0x3ff, 0x5a), inb(0x3ff)), 0x5a);
}

/* From CPL 3, a system call and a page fault; the window's first page is not there. */
static void use_rings(void)
{
	static const uint8_t system_call[] = {INT_DONE};
	static const uint8_t touch[] = {0xa1, 0x00, 0x00, 0x00, 0x40, INT_DONE}; /* MOV EAX */

	EXPECT_EQ("system call", vector_of_user(system_call), DONE);
	EXPECT_EQ("page fault", vector_of_user(touch), VECTOR_PF);
}

void guest_main(void)
{
	uint64_t before; /* 0 natively */

	run_set_handler(VECTOR_TIMER, tick);
	timer_start();
	paging_on(PAGING_4K);
	before = told("native") ? 0 : exits(VELLUM_CPUID_EXITS_ALL);
	wait_for_ticks();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		use_processor();
		use_rings();
	}
	if (before)
		EXPECT_EQ("exits", exits(VELLUM_CPUID_EXITS_ALL), before + 1);
}
