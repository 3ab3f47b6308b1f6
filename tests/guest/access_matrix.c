/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an access that page tables allow and that faults, one that they forbid and that does
 * not, a wrong error code or CR2, and accessed and dirty bits that are not set, or set too early:
 * each access to each kind of page under each setting of the processor. With shadow paging it is
 * Vellum that reads the tables; the native run says what the processor makes of them.
 * Manual: APM volume 2, 5.4 to 5.6, 8.4.2; SDM volume 3A, 4.6 to 4.8.
 * Vendors: SMEP and SMAP are there where CPUID says so.
 * Cannot tell apart: what is cached for longer than two accesses; four levels; the
 * accessed bits above the leaf of an access that fails, which processors may set or not; the P
 * of an error code that says "reserved", which QEMU leaves 0.
 * When a line differs: with the guest's word "list" each access is said, with its outcome.
 */
#include "guest.h"

const char guest_name[] = "access_matrix";

#define P	   BIT(0)
#define W	   BIT(1)
#define U	   BIT(2)
#define A	   BIT(5)
#define D	   BIT(6)
#define LARGE	   BIT(7)
#define NX	   BIT(63)
#define CPUID_1_NX BIT(20) /* of 80000001h EDX */

/* Of a #PF's error code */
#define FAULT_PRESENT  BIT(0)
#define FAULT_RESERVED BIT(3)

/* Two linear addresses, each with a directory entry of its own; and where large pages lead. */
#define SMALL_AT  0x50000000u
#define LARGE_AT  0x58000000u
#define LARGE_RAM 0x00800000u
#define DATA	  0x40u /* behind the code in a page */

enum access { READ, WRITE, EXECUTE, ACCESSES };

struct page {
	uint32_t address;
	uint64_t leaf, above; /* above: 0 for a large page */
};

static uint8_t target[4096] __attribute__((aligned(4096)));
static uint8_t user_code[4096] __attribute__((aligned(4096)));
static uint64_t table64[512] __attribute__((aligned(4096)));
static uint32_t table32[1024] __attribute__((aligned(4096)));

static const uint8_t snippets[ACCESSES][8] = {
	[READ] = {0x8b, 0x03, INT_DONE},  /* MOV EAX, [EBX] */
	[WRITE] = {0x89, 0x03, INT_DONE}, /* MOV [EBX], EAX */
	[EXECUTE] = {INT_DONE},
};

static enum paging paging;
static bool has_nx, lists;
static uint32_t hash, accesses, faults;

static void put(void *entry, uint64_t value)
{
	if (paging == PAGING_PAE)
		*(volatile uint64_t *)entry = value;
	else
		*(volatile uint32_t *)entry = (uint32_t)value;
}

static uint64_t get(const void *entry)
{
	return paging == PAGING_PAE ? *(const volatile uint64_t *)entry
				    : *(const volatile uint32_t *)entry;
}

static void *table(void)
{
	return paging == PAGING_PAE ? (void *)table64 : (void *)table32;
}

/* FNV-1a, a word at a time */
static void mix(uint64_t value)
{
	hash = (hash ^ (uint32_t)value) * 16777619u;
	hash = (hash ^ (uint32_t)(value >> 32)) * 16777619u;
}

static void set_page(const struct page *page)
{
	void *above = paging_directory_entry(paging, page->address);

	if (page->above)
		put(table(), page->leaf);
	put(above, page->above ? page->above : page->leaf);
	asm volatile("invlpg (%0)" ::"r"(page->address) : "memory");
}

static uint64_t leaf_of(const struct page *page)
{
	return get(page->above ? table() : paging_directory_entry(paging, page->address));
}

static struct state access_state(enum access access, bool user, uint32_t address)
{
	const void *code =
		user ? (void *)(WINDOW + (uint32_t)access * sizeof(snippets[0])) : snippets[access];
	struct state state;

	if (access == EXECUTE)
		code = (void *)address;
	state = user ? state_for_user(code) : state_for(code);
	state.rbx = address + DATA;
	return state;
}

static void note(const struct page *page, const struct state *end)
{
	bool fault = end->vector == VECTOR_PF;
	uint64_t leaf = leaf_of(page), above = 0;

	if (!fault && page->above)
		above = get(paging_directory_entry(paging, page->address));
	mix(end->vector);
	mix(leaf);
	mix(above);
	if (fault) {
		mix(end->error & FAULT_RESERVED ? end->error | FAULT_PRESENT : end->error);
		mix(end->cr2);
		faults++;
	}
	accesses++;
	if (lists)
		say_same("  %llx/%llx: %llu %llx, then %llx/%llx", page->above, page->leaf,
			 end->vector, fault ? end->error : 0, above, leaf);
}

static void make(const struct page *page, enum access access, bool user, uint64_t rflags)
{
	struct state state = access_state(access, user, page->address);

	state.rflags |= rflags;
	run(&state);
	EXPECT(state.vector == DONE || state.vector == VECTOR_PF);
	note(page, &state);
}

static void try(const struct page *page, enum access access, bool user, uint64_t rflags)
{
	set_page(page);
	make(page, access, user, rflags);
}

/* The second one may find what the first has left behind: it is not flushed. */
static void try_pairs(const struct page *page)
{
	for (unsigned int n = 0; n < 2 * ACCESSES; n++) {
		for (unsigned int then = 0; then < 2 * ACCESSES; then++) {
			try(page, n / 2, n & 1, 0);
			make(page, then / 2, then & 1, 0);
		}
	}
}

static void try_all(const struct page *page)
{
	for (enum access access = READ; access < ACCESSES; access++) {
		try(page, access, false, 0);
		try(page, access, true, 0);
		if (access != EXECUTE && (cr4_read() & CR4_SMAP))
			try(page, access, false, RFLAGS_AC);
	}
}

/* What a page that is not there says beside that is nobody's business. */
static bool is_worth_it(uint64_t flags)
{
	return (flags & P) || !(flags & (A | D | NX));
}

static uint64_t flags_of(unsigned int number)
{
	static const uint64_t bits[] = {P, W, U, A, D, NX};
	uint64_t flags = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++)
		if (number & 1u << i)
			flags |= bits[i];
	return flags;
}

static unsigned int kinds(void)
{
	return paging == PAGING_PAE && has_nx ? 64 : 32;
}

static void try_small(void)
{
	static const uint64_t above[] = {P | W | U, P | W, P | U, P | W | U | NX, W | U};

	for (unsigned int i = 0; i < ARRAY_SIZE(above); i++) {
		if ((above[i] & NX) && kinds() == 32)
			continue;
		for (unsigned int n = 0; n < kinds(); n++) {
			struct page page = {SMALL_AT, flags_of(n) | (uint32_t)target,
					    above[i] | (uint32_t)table()};

			if (is_worth_it(flags_of(n)))
				try_all(&page);
		}
	}
}

static void try_large(void)
{
	for (unsigned int n = 0; n < kinds(); n++) {
		struct page page = {LARGE_AT, flags_of(n) | LARGE | LARGE_RAM, 0};

		if (is_worth_it(flags_of(n)))
			try_all(&page);
	}
}

static void try_two_accesses(void)
{
	for (unsigned int n = 0; n < kinds(); n++) {
		struct page page = {SMALL_AT, flags_of(n) | (uint32_t)target,
				    P | W | U | (uint32_t)table()};

		if ((flags_of(n) & P) && !(flags_of(n) & A))
			try_pairs(&page);
	}
}

/* A bit of the address that no page of this size has. */
static void try_reserved(void)
{
	uint64_t all = P | W | U | A | D;
	struct page small = {SMALL_AT, all | (uint32_t)target | BIT(51), all | (uint32_t)table()};
	struct page large = {LARGE_AT, all | LARGE | LARGE_RAM | BIT(21), 0};

	if (paging == PAGING_PAE) {
		large.leaf ^= BIT(21) | BIT(13);
		try_all(&small);
	}
	try_all(&large);
}

static void try_pages(const char *what, void (*all)(void))
{
	hash = 2166136261u;
	accesses = faults = 0;
	all();
	say_same("%s %s, CR0.WP %u, SMEP %u, SMAP %u, NXE %u: %u of %u fault, %x",
		 paging == PAGING_PAE ? "PAE" : "32-bit", what, !!(cr0_read() & CR0_WP),
		 !!(cr4_read() & CR4_SMEP), !!(cr4_read() & CR4_SMAP), has_nx, faults, accesses,
		 hash);
}

static void try_setting(uint32_t wp, uint32_t guards)
{
	paging_on(paging);
	cr0_write((cr0_read() & ~(uint32_t)CR0_WP) | wp);
	cr4_write(cr4_read() | guards);
	try_pages("4 KiB", try_small);
	try_pages("large", try_large);
	try_pages("reserved", try_reserved);
	if (!(guards & CR4_SMAP))
		try_pages("pairs", try_two_accesses);
	cr4_write(cr4_read() & ~guards);
}

static bool set_nxe(bool on)
{
	uint64_t efer;

	if (!(leaf_read(CPUID_EXT_FEATURES, 0).edx & CPUID_1_NX) ||
	    msr_read(MSR_EFER, &efer) != DONE)
		return false;
	return msr_write(MSR_EFER, on ? efer | EFER_NXE : efer & ~EFER_NXE) == DONE && on;
}

/* CR4's guards that this processor has: all of their combinations. */
static void try_guards(uint32_t wp)
{
	uint32_t ebx =
		leaf_read(0, 0).eax < CPUID_STRUCTURED ? 0 : leaf_read(CPUID_STRUCTURED, 0).ebx;

	for (unsigned int n = 0; n < 4; n++) {
		uint32_t guards =
			(n & 1 ? (uint32_t)CR4_SMEP : 0) | (n & 2 ? (uint32_t)CR4_SMAP : 0);

		if ((n & 1 && !(ebx & BIT(7))) || (n & 2 && !(ebx & BIT(20))))
			continue;
		try_setting(wp, guards);
	}
}

static void fill_pages(void)
{
	static const uint8_t end[] = {INT_DONE};

	memcpy(target, end, sizeof(end));
	memcpy((void *)LARGE_RAM, end, sizeof(end));
	memcpy(user_code, snippets, sizeof(snippets));
	paging_map_window(0, (uint32_t)user_code);
	paging_hide_from_user();
}

void guest_main(void)
{
	lists = told("list");
	fill_pages();
	paging = PAGING_4K;
	try_guards((uint32_t)CR0_WP);
	try_guards(0);
	paging = PAGING_PAE;
	has_nx = set_nxe(true);
	try_guards((uint32_t)CR0_WP);
	try_guards(0);
	has_nx = set_nxe(false);
	try_setting((uint32_t)CR0_WP, 0);
}
