// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checked view of guest memory. The guest owns CR3, the tables and all they point at,
 * so every place that an entry can name is tried: holes, Vellum's memory, the end of RAM,
 * addresses that the hypervisor does not map (a touch there crashes the test).
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "lib/errno.h"
#include "mm/guest_memory.h"
#include "mm/guest_walk.h"

/*
 * Low RAM, a hole with the BIOS area, main RAM, Vellum's memory, RAM at the end of the
 * physmap, and RAM that goes on behind it.
 */
#define LOW_END	 0x9f000
#define MAIN	 (1 * MIB)
#define KEPT	 (12 * MIB)
#define KEPT_END (14 * MIB)
#define LIMIT	 (16 * MIB)
#define RAM_END	 (24 * MIB)

/* Page tables, each in a page of main RAM */
#define TABLE(n) (2 * MIB + (n)*PAGE_SIZE)
#define DATA	 (4 * MIB)

#define P     GUEST_PTE_PRESENT
#define LARGE GUEST_PTE_LARGE
#define NX    BIT(63)

static struct e820_map map;
static struct guest_paging paging;

static int make_memory(void **state)
{
	(void)state;
	console_clear();
	arena_create(LIMIT);
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, LOW_END, E820_RAM);
	e820_add(&map, MAIN, KEPT - MAIN, E820_RAM);
	e820_add(&map, KEPT, KEPT_END - KEPT, E820_RESERVED);
	e820_add(&map, KEPT_END, RAM_END - KEPT_END, E820_RAM);
	guest_memory_init(&map);
	guest_memory_forget_overlays();
	paging = (struct guest_paging){.cr0 = CR0_PE | CR0_PG, .cr3 = TABLE(0)};
	return 0;
}

static void set32(uint64_t table, unsigned int index, uint32_t entry)
{
	memcpy(arena_at(table + index * 4), &entry, sizeof(entry));
}

static void set64(uint64_t table, unsigned int index, uint64_t entry)
{
	memcpy(arena_at(table + index * 8), &entry, sizeof(entry));
}

static void assert_leads_to(uint64_t address, uint64_t expected)
{
	gpa_t found = gpa(0);

	assert_int_equal(guest_memory_translate(&paging, gva(address), &found), 0);
	assert_int_equal(found.raw, expected);
}

static void assert_unmapped(uint64_t address)
{
	gpa_t found;

	assert_int_equal(guest_memory_translate(&paging, gva(address), &found), -EFAULT);
}

/* ---- which memory may be read ---- */

static void assert_found(uint64_t address, uint64_t size)
{
	assert_ptr_equal(guest_memory_find(gpa(address), size), arena_at(address));
}

static void assert_refused(uint64_t address, uint64_t size)
{
	assert_null(guest_memory_find(gpa(address), size));
}

static void ram_is_found_up_to_its_last_byte(void **state)
{
	(void)state;
	assert_found(0, LOW_END);
	assert_found(LOW_END - 1, 1);
	assert_refused(LOW_END - 1, 2);
	assert_refused(LOW_END, 1);
	assert_found(MAIN, KEPT - MAIN);
	assert_refused(MAIN - 1, 0x1002);
}

static void what_vellum_keeps_is_not_found(void **state)
{
	(void)state;
	assert_found(KEPT - 8, 8);
	assert_refused(KEPT - 4, 8);
	assert_refused(KEPT, 1);
	assert_refused(KEPT_END - 1, 1);
	assert_refused(KEPT_END - 1, 2);
	assert_refused(MAIN, RAM_END - MAIN);
	assert_found(KEPT_END, 1);
}

static void what_the_hypervisor_does_not_map_is_not_found(void **state)
{
	(void)state;
	assert_found(LIMIT - 1, 1);
	assert_refused(LIMIT - 1, 2);
	assert_refused(LIMIT, 1);
	assert_refused(RAM_END - 1, 1);
}

static void the_bios_area_is_found_though_it_is_no_ram(void **state)
{
	(void)state;
	assert_found(0xc0000, 0x40000);
	assert_refused(0xc0000 - 1, 1);
	assert_refused(0xc0000 - 1, 2);
	assert_found(0xfffff, 1);
	assert_refused(0xfffff, 2); /* though the next byte is RAM */
}

static void wrapping_ranges_are_refused(void **state)
{
	(void)state;
	assert_refused(UINT64_MAX, 1);
	assert_refused(UINT64_MAX - 3, 8);
	assert_refused(MAIN, UINT64_MAX);
	assert_refused(MAIN, UINT64_MAX - MAIN + 1);
	assert_refused(0, UINT64_MAX);
	assert_refused(BIT(63) + MAIN, 8);
}

static void the_overlay_stands_before_what_it_hides(void **state)
{
	static uint8_t pages[2 * PAGE_SIZE];

	(void)state;
	guest_memory_overlay(gpa(0xc8000), sizeof(pages), pages);
	assert_ptr_equal(guest_memory_find(gpa(0xc8000), sizeof(pages)), pages);
	assert_ptr_equal(guest_memory_find(gpa(0xc9fff), 1), pages + sizeof(pages) - 1);
	assert_found(0xc7fff, 1);
	assert_found(0xca000, 1);
}

/* One pointer can't show both, and what is hidden is not the guest's to see. */
static void a_range_half_in_the_overlay_is_refused(void **state)
{
	static uint8_t pages[PAGE_SIZE];

	(void)state;
	guest_memory_overlay(gpa(0xc8000), sizeof(pages), pages);
	assert_refused(0xc7ffc, 8);
	assert_refused(0xc8ffc, 8);
	assert_refused(0xc7000, 3 * PAGE_SIZE);
}

static void a_device_in_an_overlay_is_no_memory(void **state)
{
	static uint8_t pages[PAGE_SIZE];

	(void)state;
	assert_int_equal(guest_memory_overlay(gpa(0xc8000), sizeof(pages), pages), 0);
	assert_int_equal(guest_memory_overlay(gpa(0xc9000), PAGE_SIZE, NULL), 0);
	assert_ptr_equal(guest_memory_find(gpa(0xc8fff), 1), pages + PAGE_SIZE - 1);
	assert_refused(0xc9000, 1);
	assert_refused(0xc8fff, 2);
	assert_found(0xca000, 1);
}

static void overlays_are_counted(void **state)
{
	static uint8_t pages[PAGE_SIZE];

	(void)state;
	for (uint64_t i = 0; i < OVERLAYS_MAX; i++)
		assert_int_equal(guest_memory_overlay(gpa(0xc8000 + i * PAGE_SIZE), 1, pages), 0);
	assert_int_equal(guest_memory_overlay(gpa(0xd0000), 1, pages), -ENOMEM);
	assert_found(0xd0000, 1);
}

/* ---- the paging modes ---- */

static void without_paging_addresses_are_32_bits_of_their_own(void **state)
{
	(void)state;
	paging = (struct guest_paging){.cr3 = KEPT};
	assert_leads_to(0x12345678, 0x12345678);
	assert_leads_to(0x100000010, 0x10); /* wraps, as the processor does */
}

static void small_pages_of_32_bits(void **state)
{
	(void)state;
	set32(TABLE(0), 1, TABLE(1) | P);
	set32(TABLE(1), 2, DATA | P);
	set32(TABLE(1), 1023, 0xfffff000 | P);
	assert_leads_to(0x00402345, DATA + 0x345);
	assert_leads_to(0x007fffff, 0xffffffff);
	assert_leads_to(0x100402345, DATA + 0x345);
	assert_unmapped(0x00403000);
	assert_unmapped(0x00802000);
	paging.cr3 |= 0xfff; /* PCD, PWT and what is ignored */
	assert_leads_to(0x00402345, DATA + 0x345);
	paging.cr3 |= BIT(40); /* no bit of a 32-bit CR3 */
	assert_leads_to(0x00402345, DATA + 0x345);
}

static void large_pages_of_32_bits_reach_40_bits(void **state)
{
	(void)state;
	paging.cr4 = CR4_PSE;
	set32(TABLE(0), 0, 0x00c00000 | LARGE | P);
	set32(TABLE(0), 1, 0x00c00000 | 0xff << 13 | LARGE | P);
	set32(TABLE(0), 2, 0xffc00000 | 1 << 13 | LARGE | P);
	assert_leads_to(0x003abcde, 0x00fabcde);
	assert_leads_to(0x00412345, 0xff00c12345);
	assert_leads_to(0x00bfffff, 0x1ffffffff);
}

static void without_pse_the_large_bit_means_nothing(void **state)
{
	(void)state;
	set32(TABLE(0), 0, TABLE(1) | LARGE | P);
	set32(TABLE(1), 0, DATA | LARGE | P); /* PAT here */
	assert_leads_to(0x123, DATA + 0x123);
	paging.cr4 = CR4_PSE;
	assert_leads_to(0x123, align_down(TABLE(1), 4 * MIB) + 0x123);
}

static void pae_has_a_32_byte_table_on_top(void **state)
{
	(void)state;
	paging.cr4 = CR4_PAE;
	paging.cr3 = TABLE(0) + 0xfe0 + 0x1f; /* the last place, and ignored bits */
	set64(TABLE(0) + 0xfe0, 3, TABLE(1) | P);
	set64(TABLE(1), 511, TABLE(2) | P);
	set64(TABLE(2), 1, 0x000ffffffffff000 | P | NX);
	set64(TABLE(1), 2, 0x0000123400000000 | LARGE | P | BIT(12)); /* PAT */
	assert_leads_to(0xffe01abc, 0x000ffffffffffabc);
	assert_leads_to(0xc0512345, 0x0000123400112345);
	assert_unmapped(0xffe02abc);
	assert_unmapped(0x00001abc);
	set64(TABLE(0) + 0xfe0, 0, TABLE(1) | P | LARGE); /* reserved: no page of 1 GiB here */
	assert_leads_to(0x00512345, 0x0000123400112345);
}

static void long_mode_has_pages_of_three_sizes(void **state)
{
	(void)state;
	paging.cr4 = CR4_PAE | CR4_PSE;
	paging.efer = EFER_LMA;
	paging.cr3 = TABLE(0) | 0xfff | BIT(63); /* PCID, and "no flush" */
	set64(TABLE(0), 256, TABLE(1) | P);
	set64(TABLE(1), 0, 0x40000000 | LARGE | P | BIT(12) | NX);
	set64(TABLE(1), 1, TABLE(2) | P);
	set64(TABLE(2), 3, 0x40200000 | LARGE | P);
	set64(TABLE(2), 4, TABLE(3) | P);
	set64(TABLE(3), 5, DATA | P | NX);
	assert_leads_to(0xffff80003fffffff, 0x7fffffff);
	assert_leads_to(0xffff800040612345, 0x40212345);
	assert_leads_to(0xffff800040805678, DATA + 0x678);
	assert_unmapped(0xffff800040806678);
	assert_unmapped(0x0000000040805678);
}

static void five_levels_have_one_more(void **state)
{
	(void)state;
	paging.cr4 = CR4_PAE | CR4_LA57;
	paging.efer = EFER_LMA;
	set64(TABLE(0), 511, TABLE(1) | P | LARGE); /* reserved there and in the next: ignored */
	set64(TABLE(1), 1, TABLE(2) | P | LARGE);
	set64(TABLE(2), 0, TABLE(3) | P);
	set64(TABLE(3), 0, TABLE(4) | P);
	set64(TABLE(4), 0, DATA | P);
	assert_leads_to(0xffff008000000010, DATA + 0x10);
	assert_unmapped(0x0000008000000010);
	paging.cr4 = CR4_PAE;
	assert_unmapped(0xffff008000000010);
}

/* A huge entry in any table of any mode must neither crash nor be followed. */
static void tables_outside_of_ram_map_nothing(void **state)
{
	static const uint64_t bad[] = {LOW_END, 0xa0000, KEPT,	     KEPT_END - PAGE_SIZE,
				       LIMIT,	RAM_END, 0xfffff000, BIT(32),
				       BIT(36), BIT(51)};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		paging = (struct guest_paging){.cr0 = CR0_PG, .cr3 = bad[i]};
		if (bad[i] < BIT(32)) {
			assert_unmapped(0);
			paging.cr3 = TABLE(0);
			set32(TABLE(0), 0, (uint32_t)bad[i] | P);
			assert_unmapped(0x3ff000);
		}
		paging = (struct guest_paging){CR0_PG, bad[i], CR4_PAE, EFER_LMA};
		assert_unmapped(0);
		paging.cr3 = TABLE(0);
		for (unsigned int level = 0; level < 3; level++) {
			set64(TABLE(level), 0, bad[i] | P);
			assert_unmapped(0x1ff000);
			set64(TABLE(level), 0, TABLE(level + 1) | P);
		}
	}
}

static void a_table_in_the_last_page_of_ram_works(void **state)
{
	(void)state;
	paging.cr3 = LOW_END - PAGE_SIZE;
	set32(paging.cr3, 1023, (KEPT - PAGE_SIZE) | P);
	set32(KEPT - PAGE_SIZE, 1023, DATA | P);
	assert_leads_to(0xfffff123, DATA + 0x123);
}

static void the_last_bytes_before_the_physmap_ends_can_hold_a_table(void **state)
{
	(void)state;
	paging.cr3 = LIMIT - PAGE_SIZE;
	set32(paging.cr3, 1023, TABLE(1) | P);
	set32(TABLE(1), 1023, DATA | P);
	assert_leads_to(0xfffff123, DATA + 0x123);
}

/* Half a page of RAM: what is behind it is not. */
static void a_table_that_ram_holds_half_of_is_half_there(void **state)
{
	(void)state;
	map.entry[0].size = LOW_END - PAGE_SIZE / 2;
	guest_memory_init(&map);
	paging.cr3 = LOW_END - PAGE_SIZE;
	set32(paging.cr3, 511, TABLE(1) | P);
	set32(paging.cr3, 512, TABLE(1) | P);
	set32(TABLE(1), 0, DATA | P);
	assert_leads_to(511u << 22, DATA);
	assert_unmapped(512u << 22);
}

/* ---- reading ---- */

static void map_32bit(uint32_t address, uint32_t to)
{
	set32(TABLE(0), address >> 22, TABLE(1) | P);
	set32(TABLE(1), address >> 12 & 0x3ff, to | P);
}

static void a_read_follows_each_page_by_itself(void **state)
{
	char text[9] = {0};

	(void)state;
	map_32bit(0x5000, DATA + 0x9000);
	map_32bit(0x6000, DATA);
	memcpy(arena_at(DATA + 0x9ffc), "abcd", 4);
	memcpy(arena_at(DATA), "efgh", 4);
	assert_int_equal(guest_memory_read(&paging, gva(0x5ffc), text, 8), 0);
	assert_string_equal(text, "abcdefgh");
	assert_int_equal(guest_memory_read(&paging, gva(0x6ffc), text, 4), 0);
	assert_int_equal(guest_memory_read(&paging, gva(0x6ffc), text, 5), -EFAULT);
	assert_int_equal(guest_memory_read(&paging, gva(0x9000), text, 0), 0);
}

static void a_read_of_three_pages(void **state)
{
	static uint8_t bytes[2 * PAGE_SIZE];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		map_32bit(0x5000 + i * 0x1000, (uint32_t)(DATA + (7 - i) * PAGE_SIZE));
		memset(arena_at(DATA + (7 - i) * PAGE_SIZE), (int)i + 1, PAGE_SIZE);
	}
	assert_int_equal(guest_memory_read(&paging, gva(0x5fff), bytes, PAGE_SIZE + 2), 0);
	assert_int_equal(bytes[0], 1);
	assert_int_equal(bytes[1], 2);
	assert_int_equal(bytes[PAGE_SIZE], 2);
	assert_int_equal(bytes[PAGE_SIZE + 1], 3);
}

static void a_read_into_vellums_memory_fails(void **state)
{
	uint8_t byte = 0x77;

	(void)state;
	memset(arena_at(KEPT), 0xcc, KEPT_END - KEPT);
	map_32bit(0x5000, KEPT);
	map_32bit(0x6000, LIMIT);
	assert_int_equal(guest_memory_read(&paging, gva(0x5000), &byte, 1), -EFAULT);
	assert_int_equal(guest_memory_read(&paging, gva(0x6000), &byte, 1), -EFAULT);
	paging.cr0 = 0;
	assert_int_equal(guest_memory_read(&paging, gva(KEPT), &byte, 1), -EFAULT);
	assert_int_equal(byte, 0x77);
}

static void a_write_follows_each_page_by_itself(void **state)
{
	(void)state;
	map_32bit(0x5000, DATA + 0x9000);
	map_32bit(0x6000, DATA);
	assert_int_equal(guest_memory_write(&paging, gva(0x5ffc), "abcdefgh", 8), 0);
	assert_memory_equal(arena_at(DATA + 0x9ffc), "abcd", 4);
	assert_memory_equal(arena_at(DATA), "efgh\0", 5);
	assert_int_equal(guest_memory_write(&paging, gva(0x6ffc), "abcde", 5), -EFAULT);
}

static void a_write_into_vellums_memory_fails(void **state)
{
	(void)state;
	map_32bit(0x5000, KEPT);
	map_32bit(0x6000, KEPT_END - PAGE_SIZE);
	assert_int_equal(guest_memory_write(&paging, gva(0x5000), "a", 1), -EFAULT);
	assert_int_equal(guest_memory_write(&paging, gva(0x6fff), "a", 1), -EFAULT);
	assert_int_equal(*(uint8_t *)arena_at(KEPT), 0);
	assert_int_equal(*(uint8_t *)arena_at(KEPT_END - 1), 0);
}

static void a_read_over_the_end_of_the_address_space_goes_on_at_its_start(void **state)
{
	char text[5] = {0};

	(void)state;
	map_32bit(0xfffff000, DATA);
	memcpy(arena_at(DATA + 0xffe), "ab", 2);
	set32(TABLE(0), 0, TABLE(2) | P);
	set32(TABLE(2), 0, (DATA + PAGE_SIZE) | P);
	memcpy(arena_at(DATA + PAGE_SIZE), "cd", 2);
	assert_int_equal(guest_memory_read(&paging, gva(0xfffffffe), text, 4), 0);
	assert_string_equal(text, "abcd");
}

static void the_overlay_is_read_through_page_tables(void **state)
{
	static uint8_t pages[PAGE_SIZE] = "overlay";
	char text[8];

	(void)state;
	guest_memory_overlay(gpa(0xc8000), sizeof(pages), pages);
	map_32bit(0x5000, 0xc8000);
	assert_int_equal(guest_memory_read(&paging, gva(0x5000), text, 8), 0);
	assert_string_equal(text, "overlay");
}

/* ---- the fast walk ---- */

static void the_fast_walk_stays_in_main_ram(void **state)
{
	(void)state;
	assert_int_equal(guest_main_ram.start, MAIN);
	assert_int_equal(guest_main_ram.last, KEPT - MAIN - 8);
	assert_true(guest_main_ram_has(KEPT - 8));
	assert_false(guest_main_ram_has(KEPT - 7));
	assert_false(guest_main_ram_has(MAIN - 1));
	assert_false(guest_main_ram_has(UINT64_MAX));
}

static void a_map_without_ram_has_no_main_ram(void **state)
{
	(void)state;
	map.count = 0;
	guest_memory_init(&map);
	for (uint64_t address = 0; address < BIT(32); address += 64 * KIB)
		assert_false(guest_main_ram_has(address));
	assert_false(guest_code_is_32bit(TABLE(0), 0, 0));
}

/* Main RAM is whole pages, and never what the physmap lacks, however large. */
static void main_ram_is_the_largest_piece_that_can_be_read(void **state)
{
	(void)state;
	map.count = 0;
	e820_add(&map, 0x1234, 64 * KIB, E820_RAM);
	e820_add(&map, 2 * MIB + 1, 4 * MIB, E820_RAM);
	e820_add(&map, 8 * MIB, 1 * GIB, E820_RAM);
	e820_add(&map, UINT64_MAX - 0xffe, 0xfff, E820_RAM);
	guest_memory_init(&map);
	assert_int_equal(guest_main_ram.start, 2 * MIB + PAGE_SIZE);
	assert_int_equal(guest_main_ram.start + guest_main_ram.last + 8, 6 * MIB);
}

static void the_fast_walk_reads_code(void **state)
{
	(void)state;
	map_32bit(0x5000, DATA);
	memcpy(arena_at(DATA + 0x10), "\x0f", 1);
	assert_true(guest_code_is_32bit(TABLE(0), 0x5010, 0x0f));
	assert_true(guest_code_is_32bit(TABLE(0) | 0xfff | BIT(40), 0x5010, 0x0f));
	assert_false(guest_code_is_32bit(TABLE(0), 0x5010, 0x0e));
	assert_false(guest_code_is_32bit(TABLE(0), 0x6010, 0));
	map_32bit(0x5000, KEPT);
	assert_false(guest_code_is_32bit(TABLE(0), 0x5010, 0));
	map_32bit(0x5000, DATA);
	set32(TABLE(0), 0, TABLE(1) | LARGE | P); /* may be a page of 4 MiB */
	assert_false(guest_code_is_32bit(TABLE(0), 0x5010, 0x0f));
}

/* What the top bits of a 2 MiB page's entry say besides its address does not count. */
static void the_fast_walk_reads_code_in_large_pages(void **state)
{
	(void)state;
	set64(TABLE(0), 3, TABLE(1) | P);
	set64(TABLE(1), 5, (2 * MIB) | BIT(12) | BIT(63) | LARGE | P);
	memcpy(arena_at(2 * MIB + 0x12345), "\x0f", 1);
	assert_true(guest_code_is_pae(TABLE(0), 0xc0a12345, 0x0f));
	assert_false(guest_code_is_pae(TABLE(0), 0xc0a12345, 0x0e));
	set64(TABLE(2), 0x1ff, TABLE(0) | P);
	assert_true(guest_code_is_64bit(TABLE(2), 39, 0xffffff80c0a12345, 0x0f));
	set64(TABLE(0), 3, LARGE | P);
	assert_true(guest_code_is_64bit(TABLE(2), 39, 0xffffff80c0212345, 0x0f));
}

/* An entry that points into one of the places that matter, often a good one. */
static uint32_t random_entry(uint64_t *random)
{
	static const uint64_t places[] = {
		LOW_END - PAGE_SIZE,
		LOW_END,
		0xa0000,
		0xc8000,
		MAIN,
		KEPT - PAGE_SIZE,
		KEPT,
		KEPT_END - PAGE_SIZE,
		KEPT_END,
		LIMIT - PAGE_SIZE,
		LIMIT,
		RAM_END,
		0xfffff000,
	};
	uint32_t flags = (uint32_t)random_next(random) & 0xfff;

	if (random_below(random, 4) != 0)
		return (uint32_t)TABLE(random_below(random, 4)) | (flags & ~(uint32_t)LARGE) |
		       (uint32_t)P;
	return (uint32_t)places[random_below(random, ARRAY_SIZE(places))] | flags | (uint32_t)P;
}

/* One of the entries that the addresses below go through. */
static unsigned int random_index(uint64_t *random, unsigned int entries)
{
	unsigned int indexes[] = {0, 1, 2, entries - 2, entries - 1};

	return indexes[random_below(random, ARRAY_SIZE(indexes))];
}

/* The byte that the general walk finds, -1 for none. */
static int general_byte(const struct guest_paging *mode, uint64_t address)
{
	const uint8_t *byte;
	gpa_t where;

	if (guest_memory_translate(mode, gva(address), &where))
		return -1;
	byte = guest_memory_find(where, 1);
	return byte ? *byte : -1;
}

static bool fast_walk_finds(const struct guest_paging *mode, uint64_t address, int byte)
{
	if (!(mode->cr4 & CR4_PAE))
		return guest_code_is_32bit(mode->cr3, (uint32_t)address, (uint8_t)byte);
	if (!(mode->efer & EFER_LMA))
		return guest_code_is_pae(mode->cr3, (uint32_t)address, (uint8_t)byte);
	return guest_code_is_64bit(mode->cr3 & GUEST_PTE_FRAME_64, 39, address, (uint8_t)byte);
}

static uint64_t random_address(const struct guest_paging *mode, uint64_t *random)
{
	uint64_t address = random_next(random) & 0xfff;

	if (!(mode->cr4 & CR4_PAE))
		return address | (uint64_t)random_index(random, 1024) << 22 |
		       (uint64_t)random_index(random, 1024) << 12;
	for (unsigned int shift = 12; shift <= 39; shift += 9)
		address |= (uint64_t)random_index(random, 512) << shift;
	return mode->efer & EFER_LMA ? address : (uint32_t)address;
}

static void change_entry(const struct guest_paging *mode, uint64_t *random)
{
	uint64_t table = TABLE(random_below(random, 4));

	if (!(mode->cr4 & CR4_PAE))
		set32(table, random_index(random, 1024), random_entry(random));
	else
		set64(table, random_index(random, 512),
		      random_entry(random) | (uint64_t)(random_below(random, 64) == 0) << 40);
}

/* Every entry is present: the fast walk takes that for granted. */
static void fill_memory(void)
{
	for (uint64_t at = 0; at < LIMIT; at += 8)
		*(uint64_t *)arena_at(at) = (at * 0x9e3779b97f4a7c15) | P | P << 32;
	for (uint64_t at = TABLE(0); at < TABLE(4); at += 8)
		*(uint64_t *)arena_at(at) &= ~(LARGE | LARGE << 32);
}

static void assert_fast_walk_agrees(struct guest_paging mode)
{
	uint64_t random = 5;
	unsigned int answers = 0;

	fill_memory();
	for (int step = 0; step < 200000; step++) {
		uint64_t address = random_address(&mode, &random);
		int byte;

		change_entry(&mode, &random);
		change_entry(&mode, &random);
		mode.cr3 = TABLE(random_below(&random, 4));
		if (mode.cr4 & CR4_PAE &&
		    *(uint64_t *)arena_at(mode.cr3 + (address >> 39) * 8) & LARGE)
			continue; /* no processor takes that at the top */
		byte = general_byte(&mode, address);
		if (byte != -1 && fast_walk_finds(&mode, address, byte))
			answers++;
		assert_false(fast_walk_finds(&mode, address, byte ^ 1));
		if (byte == -1)
			assert_false(fast_walk_finds(&mode, address, 0x0f));
	}
	assert_in_range(answers, 20000, 200000);
}

static void the_fast_walk_agrees_with_the_general_one_or_passes(void **state)
{
	static uint8_t pages[PAGE_SIZE];

	(void)state;
	memset(pages, 0x5a, sizeof(pages));
	guest_memory_overlay(gpa(0xc8000), sizeof(pages), pages);
	assert_fast_walk_agrees((struct guest_paging){.cr0 = CR0_PG, .cr4 = CR4_PSE});
	assert_fast_walk_agrees((struct guest_paging){.cr0 = CR0_PG, .cr4 = CR4_PAE});
	assert_fast_walk_agrees(
		(struct guest_paging){.cr0 = CR0_PG, .cr4 = CR4_PAE, .efer = EFER_LMA});
}

/* Page tables of random numbers: no byte of Vellum's is read through them, or written. */
static void random_tables_of_every_mode_never_reach_vellums_memory(void **state)
{
	static const struct guest_paging modes[] = {
		{CR0_PG, 0, 0, 0},
		{CR0_PG, 0, CR4_PSE, 0},
		{CR0_PG, 0, CR4_PAE, 0},
		{CR0_PG, 0, CR4_PAE, EFER_LMA},
		{CR0_PG, 0, CR4_PAE | CR4_LA57, EFER_LMA},
	};
	uint64_t random = 9;
	unsigned int reads = 0;

	(void)state;
	for (uint64_t at = 0; at < LIMIT; at += 8)
		*(uint64_t *)arena_at(at) = (random_next(&random) & 0xd50f0f) | P;
	memset(arena_at(KEPT), 0xee, KEPT_END - KEPT);
	for (int step = 0; step < 200000; step++) {
		struct guest_paging mode = modes[step % 5];
		uint8_t byte = 0;

		mode.cr3 = random_next(&random) % BIT(25);
		if (guest_memory_read(&mode, gva(random_next(&random)), &byte, 1) == 0)
			reads++;
		assert_int_not_equal(byte, 0xee);
		mode.cr3 = random_next(&random) % BIT(25);
		guest_memory_write(&mode, gva(random_next(&random)), "\x01", 1);
	}
	for (uint64_t at = KEPT; at < KEPT_END; at++)
		assert_int_equal(*(uint8_t *)arena_at(at), 0xee);
	assert_in_range(reads, 10000, 200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_memory)
		T(ram_is_found_up_to_its_last_byte),
		T(what_vellum_keeps_is_not_found),
		T(what_the_hypervisor_does_not_map_is_not_found),
		T(the_bios_area_is_found_though_it_is_no_ram),
		T(wrapping_ranges_are_refused),
		T(the_overlay_stands_before_what_it_hides),
		T(a_range_half_in_the_overlay_is_refused),
		T(a_device_in_an_overlay_is_no_memory),
		T(overlays_are_counted),
		T(without_paging_addresses_are_32_bits_of_their_own),
		T(small_pages_of_32_bits),
		T(large_pages_of_32_bits_reach_40_bits),
		T(without_pse_the_large_bit_means_nothing),
		T(pae_has_a_32_byte_table_on_top),
		T(long_mode_has_pages_of_three_sizes),
		T(five_levels_have_one_more),
		T(tables_outside_of_ram_map_nothing),
		T(a_table_in_the_last_page_of_ram_works),
		T(the_last_bytes_before_the_physmap_ends_can_hold_a_table),
		T(a_table_that_ram_holds_half_of_is_half_there),
		T(a_read_follows_each_page_by_itself),
		T(a_read_of_three_pages),
		T(a_read_into_vellums_memory_fails),
		T(a_write_follows_each_page_by_itself),
		T(a_write_into_vellums_memory_fails),
		T(a_read_over_the_end_of_the_address_space_goes_on_at_its_start),
		T(the_overlay_is_read_through_page_tables),
		T(the_fast_walk_stays_in_main_ram),
		T(a_map_without_ram_has_no_main_ram),
		T(main_ram_is_the_largest_piece_that_can_be_read),
		T(the_fast_walk_reads_code),
		T(the_fast_walk_reads_code_in_large_pages),
		T(the_fast_walk_agrees_with_the_general_one_or_passes),
		T(random_tables_of_every_mode_never_reach_vellums_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
