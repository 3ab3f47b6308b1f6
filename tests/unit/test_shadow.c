// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow paging against a machine without it. Two machines run the same guest: the reference
 * walks the guest's tables for each access; the other one has a TLB and walks shadow tables,
 * and each of its page faults goes to the engine. The guest edits its tables at random, through
 * its own mapping of them, flushes as the manuals ask for, and makes random accesses. Both have
 * to see the same addresses, the same faults and error codes, and the same memory to the last
 * accessed and dirty bit. A guest with the ROM announces its tables and tells of its stores, by
 * the ROM's queue, and takes that back from time to time.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "core/guest_space.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/page_table.h"
#include "mm/physmap.h"
#include "mm/announced.h"
#include "mm/shadow.h"
#include "vmi/mmu.h"

#define RAM_PAGES    64u
#define RAM_SIZE     (RAM_PAGES * PAGE_SIZE)
#define POOL_START   (8 * MIB)
#define ARENA_SIZE   (16 * MIB)
#define FIRST_TABLE  8u /* frames of tables that the guest edits; roots come first */
#define ROOTS	     3u
#define TABLES	     16u
#define FIRST_KEPT   40u /* frames of tables that map all of RAM for the guest's kernel */
#define ADDRESS_BITS 40
#define TLB_SIZE     8u
#define RETRIES	     4u

static struct e820_map map;
static struct shadow_context context;
static uint8_t *reference; /* the reference machine's RAM */
static uint64_t seed;
static struct {
	bool valid;
	uint64_t page, entry;
	bool user;
} tlb[TLB_SIZE];
static unsigned long faults, hidden_faults, fills;
static struct vmi_rom_queue queue;
static bool told[RAM_PAGES]; /* as the guest believes */

/* ---- what the engine asks for ------------------------------------------------------- */

hpa_t guest_space_find(gpa_t page)
{
	return hpa(page.raw);
}

int guest_space_map(struct page_table *table, nested_flags_t flags)
{
	return page_table_map(table, 0, 4 * GIB, hpa(0), flags(MEMORY_WB));
}

/* ---- the machine with shadow tables --------------------------------------------------- */

static void tlb_flush(void)
{
	memset(tlb, 0, sizeof(tlb));
}

/* Whenever the guest runs again after an exit. */
static void enter(void)
{
	if (shadow_take_flush())
		tlb_flush();
	vmi_mmu_tell(&context);
}

static bool hardware_allows(uint64_t entry, const struct guest_access *access)
{
	bool user_page = entry & PTE_USER;

	if (access->fetch && (entry & PTE_NX))
		return false;
	if (access->write && !(entry & PTE_WRITE))
		return false;
	if (access->user)
		return user_page;
	if (access->fetch)
		return !(user_page && context.mode.smep);
	return !(user_page && context.mode.smap && access->smap);
}

/* Walks the shadow tables: rights of all levels in the leaf; 0 if not present. */
static uint64_t hardware_walk(gva_t address)
{
	bool is_long = context.mode.format == PAGING_LONG;
	uint64_t table = context.hardware_root.raw, rights = PTE_WRITE | PTE_USER;

	for (unsigned int level = is_long ? 4 : 3;; level--) {
		unsigned int index = address.raw >> (12 + 9 * (level - 1)) & 511;
		uint64_t entry;

		if (!is_long && level == 3)
			index &= 3;
		entry = ((uint64_t *)arena_at(table))[index];
		if (!(entry & PTE_PRESENT))
			return 0;
		if (is_long || level < 3)
			rights &= entry;
		if (level == 1)
			return (entry & ~(PTE_WRITE | PTE_USER)) |
			       (rights & (PTE_WRITE | PTE_USER));
		table = entry & SPTE_FRAME;
	}
}

static uint64_t *tlb_entry(uint64_t page)
{
	for (unsigned int i = 0; i < TLB_SIZE; i++)
		if (tlb[i].valid && tlb[i].page == page)
			return &tlb[i].entry;
	return NULL;
}

static void tlb_drop(uint64_t page)
{
	for (unsigned int i = 0; i < TLB_SIZE; i++)
		if (tlb[i].page == page)
			tlb[i].valid = false;
}

static bool hardware_access(const struct guest_access *access, uint64_t *address)
{
	uint64_t page = access->address.raw >> 12, *cached = tlb_entry(page), entry;

	if (!cached || !hardware_allows(*cached, access)) {
		entry = hardware_walk(access->address);
		tlb_drop(page);
		if (!entry || !hardware_allows(entry, access))
			return false;
		tlb[random_below(&seed, TLB_SIZE)] = (typeof(tlb[0])){true, page, entry, false};
		cached = &entry;
	}
	*address = (*cached & SPTE_FRAME) | (access->address.raw & 0xfff);
	return true;
}

/* True with the address, or false with the guest's error code. */
static bool shadow_access(const struct guest_access *access, uint64_t *address, uint32_t *code)
{
	for (unsigned int i = 0; i < RETRIES; i++) {
		enter();
		if (hardware_access(access, address))
			return true;
		faults++;
		vmi_mmu_read_queue(&context);
		if (!shadow_fault(&context, access, code))
			return false;
		hidden_faults++;
	}
	fail_msg("%lx faults again and again", (unsigned long)access->address.raw);
	return false;
}

/* ---- the reference: SDM volume 3A, chapter 4, in other words than the engine's ---------- */

static uint64_t reference_read(uint64_t at, unsigned int size)
{
	uint64_t value = 0;

	if (at + size <= RAM_SIZE)
		memcpy(&value, reference + at, size);
	return value;
}

static void reference_set(uint64_t at, uint64_t bits)
{
	if (at < RAM_SIZE)
		reference[at] |= (uint8_t)bits;
}

struct reference_walk {
	uint64_t at[5], address;
	unsigned int count;
	bool w, u, x;
};

static uint32_t refuse(const struct guest_access *access, uint32_t why)
{
	bool says_fetch = (context.guest.efer & EFER_NXE && context.guest.cr4 & CR4_PAE) ||
			  context.guest.cr4 & CR4_SMEP;

	return why | (access->write ? 2 : 0) | (access->user ? 4 : 0) |
	       (access->fetch && says_fetch ? 16 : 0);
}

static bool reserved(unsigned int level, uint64_t entry, bool leaf)
{
	bool pae = context.guest.cr4 & CR4_PAE, is_long = context.guest.efer & EFER_LMA;

	if (!pae)
		return leaf && level == 2 && (entry & BIT(21));
	if (entry & 0xfff0000000000ull & ~(BIT(ADDRESS_BITS) - 1))
		return true;
	if (!is_long && (entry & 0x7ff0000000000000ull))
		return true;
	if ((entry & PTE_NX) && !(context.guest.efer & EFER_NXE))
		return true;
	if (level == 4 && (entry & PTE_LARGE))
		return true;
	return leaf && level > 1 && (entry & ((level == 2 ? 0x1fe000 : 0x3fffe000)));
}

static int reference_step(const struct guest_access *access, struct reference_walk *walk,
			  unsigned int level, uint64_t *table)
{
	bool pae = context.guest.cr4 & CR4_PAE;
	unsigned int bits = pae ? 9 : 10, size = pae ? 8 : 4, shift = 12 + bits * (level - 1);
	uint64_t at = *table + (access->address.raw >> shift & (BIT(bits) - 1)) * size;
	uint64_t entry = reference_read(at, size), offset = access->address.raw & (BIT(shift) - 1);
	bool leaf = level == 1 ||
		    (level < 4 && (entry & PTE_LARGE) && (pae || context.guest.cr4 & CR4_PSE));

	if (!(entry & PTE_PRESENT))
		return (int)refuse(access, 0);
	if (reserved(level, entry, leaf))
		return (int)refuse(access, 9);
	walk->at[walk->count++] = at;
	walk->w &= !!(entry & PTE_WRITE);
	walk->u &= !!(entry & PTE_USER);
	walk->x &= !(pae && (context.guest.efer & EFER_NXE) && (entry & PTE_NX));
	*table = entry & 0xffffffffff000ull;
	if (leaf && level > 1 && !pae)
		*table = (entry & 0xffc00000) | (entry >> 13 & 0xff) << 32;
	if (leaf)
		walk->address = (*table & ~(BIT(shift) - 1)) + offset;
	return leaf ? -1 : -2;
}

static bool reference_allows(const struct guest_access *access, const struct reference_walk *walk)
{
	bool wp = context.guest.cr0 & CR0_WP;

	if (access->user)
		return walk->u && (!access->write || walk->w) && (!access->fetch || walk->x);
	if (access->fetch)
		return walk->x && !(walk->u && context.guest.cr4 & CR4_SMEP);
	if (walk->u && (context.guest.cr4 & CR4_SMAP) && access->smap)
		return false;
	return !access->write || walk->w || !wp;
}

static void reference_mark(const struct guest_access *access, const struct reference_walk *walk)
{
	for (unsigned int i = 0; i < walk->count; i++)
		reference_set(walk->at[i], PTE_ACCESSED);
	if (access->write)
		reference_set(walk->at[walk->count - 1], PTE_DIRTY);
}

static bool reference_access(const struct guest_access *access, uint64_t *address, uint32_t *code)
{
	struct reference_walk walk = {.w = true, .u = true, .x = true};
	bool pae = context.guest.cr4 & CR4_PAE, is_long = context.guest.efer & EFER_LMA;
	uint64_t table = context.guest.cr3 & ~(uint64_t)0xfff;
	int result = -2;

	if (pae && !is_long) {
		table = context.pdpte[access->address.raw >> 30 & 3];
		if (!(table & PTE_PRESENT)) {
			*code = refuse(access, 0);
			return false;
		}
		table &= 0xffffffffff000ull;
	}
	for (unsigned int level = is_long ? 4 : 2; result == -2; level--)
		result = reference_step(access, &walk, level, &table);
	if (result == -1 && !reference_allows(access, &walk))
		result = (int)refuse(access, 1);
	*code = (uint32_t)result;
	*address = walk.address;
	if (result == -1)
		reference_mark(access, &walk);
	return result == -1;
}

/* ---- the guest ------------------------------------------------------------------------- */

static bool is_pae(void)
{
	return context.guest.cr4 & CR4_PAE;
}

static bool is_long(void)
{
	return context.guest.efer & EFER_LMA;
}

static unsigned int entry_size(void)
{
	return is_pae() ? 8 : 4;
}

static void poke(uint64_t at, uint64_t value, unsigned int size)
{
	memcpy(arena_at(at), &value, size);
	memcpy(reference + at, &value, size);
}

/* Where the kernel sees all of RAM. */
static uint64_t linear(uint64_t address)
{
	return (is_long() ? 0xffff800000000000ull : 0xc0000000ull) + address;
}

static void assert_same_memory(void)
{
	if (!memcmp(arena_at(0), reference, RAM_SIZE))
		return;
	for (unsigned int i = 0; i < RAM_SIZE; i += 8)
		if (memcmp(arena_at(i), reference + i, 8))
			fail_msg("memory differs at %x: %lx, and %lx on the reference", i,
				 *(unsigned long *)arena_at(i), *(unsigned long *)(reference + i));
}

/* The same access on both machines. True if it succeeds. */
static bool access_both(const struct guest_access *access, uint64_t *address)
{
	uint64_t expected = 0;
	uint32_t expected_code = 0, code = 0;
	bool allowed = reference_access(access, &expected, &expected_code);
	bool done = shadow_access(access, address, &code);

	if (allowed != done || (allowed && expected != *address) ||
	    (!allowed && code != expected_code))
		fail_msg("%lx %s%s%s: %s %lx error %x, on the reference %s %lx error %x",
			 (unsigned long)access->address.raw, access->user ? "u" : "s",
			 access->write ? "w" : "", access->fetch ? "x" : "", done ? "to" : "no",
			 (unsigned long)*address, code, allowed ? "to" : "no",
			 (unsigned long)expected, expected_code);
	assert_same_memory();
	return allowed;
}

static bool one_in(unsigned int n)
{
	return !random_below(&seed, n);
}

/* The ROM, as vmirom/shadow.asm is: a word for the hypervisor, */
static void append(uint64_t item)
{
	queue.item[queue.count++] = (uint32_t)item;
	if (queue.count < VMI_QUEUE_ITEMS)
		return;
	vmi_mmu_read_queue(&context);
	enter();
}

/* SetPxE, or with an old entry of all ones UpdatePxE, */
static void tell(uint64_t at, uint64_t old)
{
	bool is_wanted = queue.wanted && queue.wanted == linear(at);

	if (is_wanted && old != UINT64_MAX) {
		vmi_mmu_read_queue(&context);
		shadow_fill_wanted(&context);
		enter();
		fills++;
	} else if (!is_wanted && (~old & (PTE_PRESENT | PTE_ACCESSED)) == 0) {
		append(linear(at));
	}
}

/* and whether InvalPage and FlushTLB are hypercalls. */
static bool is_flush_needed(void)
{
	return !vmi_mmu_queue || queue.count || queue.untold;
}

/* The guest stores a table entry. */
static void edit(uint64_t at, uint64_t value)
{
	struct guest_access access = {.address = gva(linear(at)), .write = true, .smap = true};
	uint64_t address, old = reference_read(at, entry_size());

	assert_true(access_both(&access, &address));
	assert_int_equal(address, at);
	poke(at, value, entry_size());
	if (told[at >> 12])
		tell(at, one_in(2) ? old : UINT64_MAX);
}

static uint64_t random_frame(void)
{
	return FIRST_TABLE + ROOTS + random_below(&seed, 21); /* tables and others */
}

static uint64_t random_table(void)
{
	return FIRST_TABLE + ROOTS + random_below(&seed, TABLES - ROOTS);
}

static uint64_t random_flags(void)
{
	uint64_t flags = 0;

	flags |= one_in(8) ? 0 : PTE_PRESENT;
	flags |= one_in(3) ? 0 : PTE_WRITE;
	flags |= one_in(3) ? 0 : PTE_USER;
	flags |= one_in(2) ? PTE_ACCESSED : 0;
	flags |= one_in(2) ? PTE_DIRTY : 0;
	flags |= one_in(6) ? BIT(3) : 0;
	flags |= one_in(6) ? BIT(8) : 0;
	if (is_pae() && one_in(4))
		flags |= PTE_NX;
	return flags;
}

static uint64_t random_entry(void)
{
	uint64_t entry = random_flags();

	if (one_in(10)) /* large where that is one; 0 to 4 MiB */
		return entry | PTE_LARGE | (one_in(2) && is_pae() ? 2 * MIB : 0);
	if (is_pae() && one_in(30))
		entry |= BIT(ADDRESS_BITS);
	if (one_in(30))
		entry |= PTE_LARGE | BIT(is_pae() ? 13 : 21);
	return entry | (one_in(3) ? random_frame() : random_table()) << 12;
}

static const unsigned int some_indices[] = {0, 1, 2, 3, 255, 256, 257, 511};

static uint64_t random_index(void)
{
	uint64_t index = some_indices[random_below(&seed, ARRAY_SIZE(some_indices))];

	return !is_pae() && one_in(2) ? index + 512 : index;
}

/* Of the tables that the guest edits; never what maps its kernel. */
static uint64_t random_entry_address(void)
{
	uint64_t frame = FIRST_TABLE + random_below(&seed, TABLES), index = random_index();
	bool root = frame < FIRST_TABLE + ROOTS;

	if (root && is_pae() && !is_long())
		return (frame + ROOTS) << 12 | index * 8;
	if (root && index == (is_long() ? 256 : 768))
		index = 1;
	return frame << 12 | index * entry_size();
}

static gva_t new_address(void)
{
	uint64_t offset = random_below(&seed, PAGE_SIZE) & ~7ull;

	if (is_long())
		return gva((random_index() & 0x7f) << 39 | (random_index() & 3) << 30 |
			   random_index() << 21 | random_index() << 12 | offset);
	if (is_pae())
		return gva(random_below(&seed, 3) << 30 | random_index() << 21 |
			   random_index() << 12 | offset);
	return gva((random_index() % 768) << 22 | random_index() << 12 | offset);
}

static void load(void)
{
	struct guest_paging guest = context.guest;

	if (is_pae() && !is_long())
		assert_true(shadow_load_pdptes(&context, &guest));
	vmi_mmu_read_queue(&context);
	shadow_load(&context, &guest);
	vmi_mmu_tell(&context);
}

static void load_root(unsigned int number)
{
	context.guest.cr3 = (FIRST_TABLE + number) << 12;
	load();
}

/*
 * Shadow tables that have been kept are as a TLB that fills itself: the guest has to flush all
 * that its change is about. So the addresses are few.
 */
static gva_t addresses[48];

static void choose_addresses(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(addresses); i++)
		addresses[i] = new_address();
}

static void invalidate_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(addresses); i++) {
		shadow_invalidate(&context, addresses[i]);
		tlb_drop(addresses[i].raw >> 12);
	}
}

/* What was told is done with the queue; the ROM makes no call if there is nothing to do. */
static bool flush_by_call(void)
{
	bool untold = queue.untold;

	if (!vmi_mmu_queue || one_in(3))
		return false;
	if (!is_flush_needed())
		return true;
	vmi_mmu_read_queue(&context);
	enter();
	return !untold;
}

static void flush_somehow(void)
{
	if (flush_by_call())
		return;
	vmi_mmu_read_queue(&context);
	if (one_in(2))
		invalidate_all();
	else
		load_root((unsigned int)random_below(&seed, ROOTS));
}

static void edit_some(void)
{
	for (uint64_t n = random_below(&seed, 4); n; n--)
		edit(random_entry_address(), random_entry());
	flush_somehow();
}

/* What was not present needs no flush. */
static void fill_one(void)
{
	uint64_t at = random_entry_address();

	if (!(reference_read(at, entry_size()) & PTE_PRESENT))
		edit(at, random_entry());
}

static void toggle_mode(void)
{
	context.guest.cr0 ^= one_in(2) ? CR0_WP : 0;
	context.guest.cr4 ^= one_in(2) ? CR4_SMEP : 0;
	context.guest.cr4 &= ~CR4_SMAP; /* not without WP: shadow.c says why */
	if (context.guest.cr0 & CR0_WP)
		context.guest.cr4 |= one_in(2) ? CR4_SMAP : 0;
	context.guest.efer ^= is_pae() && one_in(2) ? EFER_NXE : 0;
	load();
}

/* A store through a mapping that may be one of a table: then it is an edit, too. */
static void store_through(uint64_t address)
{
	if (address + 8 > RAM_SIZE || address < FIRST_TABLE << 12 || address >= FIRST_KEPT << 12 ||
	    (address >> 12 < FIRST_TABLE + ROOTS))
		return;
	poke(address & ~7ull, random_entry(), entry_size());
	if (told[address >> 12])
		tell(address & ~7ull, UINT64_MAX);
	load();
}

/* Twice, or without the other, as kernels do; and pages that are no tables. */
static void announce_or_release(void)
{
	uint64_t frame = random_frame();

	if (!vmi_mmu_queue)
		return;
	told[frame] = one_in(2);
	append(frame << 12 | (told[frame] ? VMI_QUEUE_ALLOCATED : VMI_QUEUE_RELEASED));
	if (one_in(8))
		append((uint64_t)one_in(2) << 31 | (told[frame] ? 3 : 2)); /* wild */
}

static void announce_all(void)
{
	for (uint64_t frame = FIRST_TABLE; frame < FIRST_TABLE + TABLES; frame++) {
		append(frame << 12 | VMI_QUEUE_ALLOCATED);
		told[frame] = true;
	}
}

static void access_one(void)
{
	struct guest_access access = {.address =
					      addresses[random_below(&seed, ARRAY_SIZE(addresses))],
				      .write = one_in(2),
				      .user = one_in(2),
				      .smap = one_in(2)};
	uint64_t address;

	access.fetch = !access.write && one_in(2);
	if (access_both(&access, &address) && access.write && one_in(3))
		store_through(address);
}

/* Nothing of the entry that the last fault was about is cached: so it needs no flush. */
static void mend_wanted(void)
{
	if (queue.wanted && one_in(2))
		edit(queue.wanted - linear(0), random_entry());
}

static void access_some(void)
{
	for (unsigned int i = 0; i < 12; i++) {
		access_one();
		mend_wanted();
	}
}

/* ---- the tables that stay ------------------------------------------------------------------ */

/* RAM at the kernel's address, by 4 KiB pages or one large one; supervisor, writable. */
static void map_kernel(bool large)
{
	uint64_t flags = PTE_PRESENT | PTE_WRITE, size = entry_size();
	uint64_t pt = FIRST_KEPT << 12, pd = (FIRST_KEPT + 1) << 12, pdpt = (FIRST_KEPT + 2) << 12;
	uint64_t pde = large ? flags | PTE_LARGE : pt | flags;

	for (uint64_t i = 0; i < RAM_PAGES; i++)
		poke(pt + i * size, i << 12 | flags, (unsigned int)size);
	poke(pd, pde, (unsigned int)size);
	poke(pdpt, pd | flags, 8);
	for (uint64_t root = FIRST_TABLE; root < FIRST_TABLE + ROOTS; root++) {
		if (is_long())
			poke(root << 12 | 256 * 8, pdpt | flags, 8);
		else if (is_pae())
			poke(root << 12 | 3 * 8, pd | PTE_PRESENT, 8);
		else
			poke(root << 12 | 768 * 4, pde, 4);
	}
}

/* PAE's top entries: they stay, as they are read with CR3 only. */
static void map_tops(void)
{
	if (!is_pae() || is_long())
		return;
	for (uint64_t root = FIRST_TABLE; root < FIRST_TABLE + ROOTS; root++)
		for (uint64_t i = 0; i < 3; i++)
			poke(root << 12 | i * 8, random_table() << 12 | PTE_PRESENT, 8);
}

static void make_guest(uint64_t cr4, uint64_t efer, unsigned int pool, bool large)
{
	arena_create(ARENA_SIZE);
	map.count = 1;
	map.entry[0] = (struct e820_entry){0, RAM_SIZE, E820_RAM};
	guest_memory_init(&map);
	frames_init(hpa(POOL_START), hpa(ARENA_SIZE));
	paging_init(ADDRESS_BITS, true);
	assert_int_equal(shadow_init(pool), 0);
	memset(reference, 0, RAM_SIZE);
	memset(&context, 0, sizeof(context));
	context.guest = (struct guest_paging){CR0_PE | CR0_PG | CR0_WP, 0, cr4, efer};
	map_kernel(large);
	map_tops();
	tlb_flush();
	choose_addresses();
	memset(&queue, 0, sizeof(queue));
	memset(told, 0, sizeof(told));
	queue.linear_address = (uint32_t)linear(0);
	queue.linear_pages = RAM_PAGES;
	load_root(0);
}

static void run_guest(uint64_t cr4, uint64_t efer, unsigned int pool, bool large)
{
	make_guest(cr4, efer, pool, large);
	if (vmi_mmu_queue)
		announce_all();
	for (unsigned int i = 0; i < 800; i++) {
		if (one_in(8))
			announce_or_release();
		edit_some();
		access_some();
		fill_one();
		access_some();
		if (one_in(16))
			toggle_mode();
	}
}

static void run_guests(uint64_t cr4, uint64_t efer, bool can_be_large)
{
	faults = hidden_faults = fills = 0;
	for (unsigned int i = 1; i <= 8; i++) {
		seed = i * 0x12345;
		run_guest(cr4, efer, i & 1 ? 512 : SHADOW_POOL_LEAST, can_be_large && (i & 2));
	}
	print_message("%lu faults, %lu hidden, %lu filled, %u pages\n", faults, hidden_faults,
		      fills, shadow_pool_most_used());
}

static void guests_of_two_levels(void **state)
{
	(void)state;
	run_guests(CR4_PSE, 0, true);
}

static void guests_without_large_pages(void **state)
{
	(void)state;
	run_guests(0, 0, false);
}

static void guests_with_the_rom(void **state)
{
	(void)state;
	vmi_mmu_queue = &queue;
	run_guests(CR4_PSE, 0, true);
	assert_true(fills > 100);
	vmi_mmu_queue = NULL;
}

/* Another kernel's tables are nobody's business of the old one's calls. */
static void nothing_stays_announced_without_paging(void **state)
{
	(void)state;
	vmi_mmu_queue = &queue;
	make_guest(CR4_PSE, 0, 512, false);
	announce_all();
	load();
	assert_true(announced_has(FIRST_TABLE));
	context.guest.cr0 &= ~CR0_PG;
	load();
	assert_false(announced_has(FIRST_TABLE));
	vmi_mmu_queue = NULL;
}

/* A table that is not in the linear mapping: nothing that was cached can be relied on. */
static void an_entry_out_of_sight_drops_all(void **state)
{
	struct guest_access access = {.address = gva(0xc0000000 + PAGE_SIZE)};
	uint64_t address;

	(void)state;
	vmi_mmu_queue = &queue;
	make_guest(CR4_PSE, 0, 512, false);
	assert_true(access_both(&access, &address));
	assert_true(shadow_pool_used() > 0);
	append(0xfff00000);
	vmi_mmu_read_queue(&context);
	assert_int_equal(queue.count, 0);
	assert_int_equal(shadow_pool_used(), 0);
	enter();
	assert_true(access_both(&access, &address));
	vmi_mmu_queue = NULL;
}

/* In long mode the root is one of the pages: a queue must not make it go. */
static void a_guest_in_long_mode_has_no_queue(void **state)
{
	(void)state;
	vmi_mmu_queue = &queue;
	make_guest(CR4_PAE, EFER_NXE | EFER_LME | EFER_LMA, 512, false);
	queue.item[0] = FIRST_TABLE << 12 | VMI_QUEUE_ALLOCATED;
	queue.item[1] = 0xfff00000;
	queue.count = UINT32_MAX;
	vmi_mmu_read_queue(&context);
	assert_int_equal(queue.count, 0);
	assert_false(announced_has(FIRST_TABLE));
	assert_true(context.root->key);
	vmi_mmu_queue = NULL;
}

static void guests_with_pae(void **state)
{
	(void)state;
	run_guests(CR4_PAE, EFER_NXE, true);
}

static void guests_of_four_levels(void **state)
{
	(void)state;
	run_guests(CR4_PAE, EFER_NXE | EFER_LME | EFER_LMA, true);
}

static int make_reference(void **state)
{
	(void)state;
	reference = malloc(RAM_SIZE);
	return !reference;
}

static int free_reference(void **state)
{
	(void)state;
	free(reference);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guests_of_two_levels),
		cmocka_unit_test(guests_without_large_pages),
		cmocka_unit_test(guests_with_the_rom),
		cmocka_unit_test(nothing_stays_announced_without_paging),
		cmocka_unit_test(an_entry_out_of_sight_drops_all),
		cmocka_unit_test(a_guest_in_long_mode_has_no_queue),
		cmocka_unit_test(guests_with_pae),
		cmocka_unit_test(guests_of_four_levels),
	};

	return cmocka_run_group_tests(tests, make_reference, free_reference);
}
