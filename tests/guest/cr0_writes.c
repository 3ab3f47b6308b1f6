/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a CR0 that the guest does not read back as written, one that is accepted where
 * the processor says #GP, and a change of mode that gets lost when CR0.NE, which VT-x keeps
 * at 1, changes in the same write.
 * Manual: SDM volume 3A, 2.5 (bits, #GP), 4.1.1 and 10.8.5 (paging and long mode); volume
 * 3C, 24.8 (NE), 26.3 (only a write that changes a masked bit exits).
 * Vendors: AMD-V has no such bits, and no exit.
 * Cannot tell apart: NE as the processor has it; the x87 error that would show it is #MF
 * under VT-x whatever the guest wants, as with every hypervisor.
 */
#include "guest.h"

const char guest_name[] = "cr0_writes";

#define CR0_MP BIT(1)
#define CR0_EM BIT(2)
#define CR0_TS BIT(3)
#define NE     (uint32_t) CR0_NE
#define PG     (uint32_t) CR0_PG
#define PE     (uint32_t) CR0_PE

#define REGION	       0x00400000u /* a large page of RAM */
#define LARGE_PAGE     0x83u	   /* present, writable, large */
#define PDPTE_RESERVED 0x02u

static const uint8_t mov_cr0_eax[] = {0x0f, 0x22, 0xc0, INT_DONE};
static uint32_t frame[2][1024] __attribute__((aligned(4096)));

static uint64_t control_exits(void)
{
	return exits(EXIT_CONTROL_REGISTER);
}

/* expected: exits where VT-x is. */
static void expect_exits(uint64_t before, unsigned int expected)
{
	if (under_vellum())
		EXPECT_EQ("exits", control_exits(), before + (is_intel() ? expected : 0));
}

static void check_bits(void)
{
	static const uint32_t bits[] = {CR0_MP, CR0_EM, CR0_TS, CR0_WP};
	uint64_t before = control_exits();
	uint32_t cr0 = cr0_read();

	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++) {
		cr0_write(cr0 ^ bits[i]);
		EXPECT_EQ("CR0", cr0_read(), cr0 ^ bits[i]);
		cr0_write(cr0);
	}
	expect_exits(before, 0);
	for (unsigned int i = 0; i < 10; i++) {
		cr0 ^= NE;
		cr0_write(cr0);
		EXPECT_EQ("CR0", cr0_read(), cr0);
		cr0_write(cr0); /* no change, no exit */
	}
	expect_exits(before, 10);
	say_same("CR0 %x", cr0_read());
}

/* The vector that a write ends with; CR0 is as before if that is an exception. */
static void refuse(const char *what, uint64_t value, struct state state,
		   void (*runs)(struct state *))
{
	uint32_t cr0 = cr0_read();
	uint64_t start = state.rip;

	state.rax = value;
	runs(&state);
	say_same("%s: vector %llu", what, state.vector);
	EXPECT_EQ("vector", state.vector, VECTOR_GP);
	EXPECT_EQ("error code", state.error, 0);
	EXPECT_EQ("RIP", state.rip, start);
	EXPECT_EQ("CR0", cr0_read(), cr0);
}

static void check_refused(void)
{
	uint32_t cr0 = cr0_read();

	for (uint32_t ne = 0; ne <= NE; ne += NE) {
		refuse("PG without PE", (cr0 ^ ne ^ PE) | PG, state_for(mov_cr0_eax), run);
		refuse("NW without CD", (cr0 ^ ne) | CR0_NW, state_for(mov_cr0_eax), run);
		refuse("bit 32", BIT(32) | ((cr0 | PG) ^ ne), state_for64(mov_cr0_eax), run64);
	}
}

/* Paging goes off and on; the window shows another frame only while it is on. */
static void check_paging(enum paging paging)
{
	volatile uint32_t *window = (volatile uint32_t *)WINDOW;

	frame[0][0] = 0x11111111;
	frame[1][0] = 0x22222222;
	for (unsigned int i = 0; i < 4; i++) {
		paging_on(paging);
		cr0_write(cr0_read() ^ (PG | NE));
		paging_map_window(0, (uint32_t)frame[i & 1]);
		cr0_write(cr0_read() ^ (PG | NE));
		EXPECT_EQ("window", window[0], frame[i & 1][0]);
		cr0_write(cr0_read() ^ NE);
		EXPECT_EQ("window", window[0], frame[i & 1][0]);
		paging_off();
	}
}

/*
 * CR3 is another one by the time that paging comes on, and its PDPTEs have not been loaded
 * yet; one of them shows the window elsewhere, and with a reserved bit it is #GP.
 */
static void check_pdptes(void)
{
	static uint64_t pointers[4] __attribute__((aligned(32)));
	static uint64_t directory[512] __attribute__((aligned(4096)));
	uint32_t cr3;

	*(volatile uint32_t *)REGION = 0x33333333;
	paging_on(PAGING_PAE);
	cr0_write(cr0_read() ^ (PG | NE));
	asm volatile("mov %%cr3, %0" : "=r"(cr3));
	memcpy(pointers, (const void *)cr3, sizeof(pointers));
	directory[0] = REGION | LARGE_PAGE;
	pointers[WINDOW / GIB] = (uint32_t)directory | 1;
	asm volatile("mov %0, %%cr3" ::"r"(pointers) : "memory");
	cr0_write(cr0_read() ^ (PG | NE));
	EXPECT_EQ("window", *(volatile uint32_t *)WINDOW, 0x33333333);
	cr0_write(cr0_read() ^ (PG | NE));
	pointers[3] |= PDPTE_RESERVED;
	refuse("reserved bit in a PDPTE", cr0_read() ^ (PG | NE), state_for(mov_cr0_eax), run);
	paging_off();
}

/* In 32-bit code of a compatibility segment: CR0.PG and NE change at once. EFER, after it. */
static uint32_t efer_after_write(uint32_t cr0)
{
	uint32_t efer;

	asm volatile("mov %1, %%cr0; rdmsr"
		     : "=a"(efer)
		     : "r"(cr0), "c"(MSR_EFER)
		     : "edx", "memory");
	return efer;
}

static void check_long_mode(void)
{
	uint32_t cr0 = cr0_read();

	cr4_write(cr4_read() | (uint32_t)CR4_PAE);
	asm volatile("mov %0, %%cr3" ::"r"(paging_long_root()) : "memory");
	EXPECT_EQ("WRMSR", msr_write(MSR_EFER, EFER_LME), DONE);
	for (unsigned int i = 0; i < 2; i++) {
		say_same("on: EFER %x", efer_after_write(cr0 ^ (PG | NE)));
		say_same("off: EFER %x", efer_after_write(cr0));
	}
	EXPECT_EQ("WRMSR", msr_write(MSR_EFER, 0), DONE);
	cr4_write(cr4_read() & ~(uint32_t)CR4_PAE);
}

/* Without a jump CS stays what it was, so the next instruction is fetched as before. */
static void check_protection(void)
{
	uint32_t cr0 = cr0_read(), seen;

	asm volatile("mov %2, %%cr0; mov %%cr0, %0; mov %1, %%cr0"
		     : "=&r"(seen)
		     : "r"(cr0), "r"(cr0 ^ (PE | NE))
		     : "memory");
	EXPECT_EQ("CR0 in real mode", seen, cr0 ^ (PE | NE));
	EXPECT_EQ("CR0", cr0_read(), cr0);
}

static uint32_t after_lmsw(uint16_t value)
{
	asm volatile("lmsw %0" ::"r"(value) : "memory");
	return cr0_read();
}

static void check_lmsw(void)
{
	uint64_t before = control_exits();
	uint32_t cr0 = cr0_read();

	EXPECT_EQ("LMSW", after_lmsw(CR0_TS | CR0_MP), cr0 | CR0_TS | CR0_MP); /* PE stays */
	EXPECT_EQ("LMSW", after_lmsw(0xfff0), cr0);
	EXPECT_EQ("LMSW", after_lmsw(CR0_TS), cr0 | CR0_TS);
	asm volatile("clts");
	EXPECT_EQ("CLTS", cr0_read(), cr0);
	expect_exits(before, 0);
}

void guest_main(void)
{
	check_bits();
	check_refused();
	check_paging(PAGING_4M);
	check_paging(PAGING_4K);
	check_paging(PAGING_PAE);
	check_pdptes();
	check_long_mode();
	check_protection();
	check_lmsw();
}
