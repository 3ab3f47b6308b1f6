/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Four-level page tables, 512 entries of 8 bytes a table: the hypervisor's own, AMD's
 * nested ones and Intel's EPT differ only in their entries' flags.
 */
#ifndef VELLUM_MM_PAGE_TABLE_H
#define VELLUM_MM_PAGE_TABLE_H

#include "lib/types.h"

/* Of x86 and NPT entries: APM volume 2, 5.4 and 15.25.5 */
#define PAGE_PRESENT BIT(0)
#define PAGE_WRITE   BIT(1)
#define PAGE_USER    BIT(2)
#define PAGE_NX	     BIT(63)

/* "This entry maps a page, it is no table": the same bit in all three formats. */
#define PAGE_LARGE BIT(7)

#define PAGE_TABLE_ADDRESS_BITS 48 /* what four levels can tell apart */

struct page_table {
	hpa_t root;
	uint64_t table_flags;  /* of an entry that points to a table */
	uint64_t largest_page; /* PAGE_SIZE, 2 MiB or 1 GiB: never map with larger ones */
};

/* An empty root. -ENOMEM. */
int page_table_init(struct page_table *table, uint64_t table_flags, uint64_t largest_page);

/*
 * Maps [from, from+size) to the physical addresses that start at to, flags in each
 * entry, with the largest pages that alignment and largest_page allow. All three are
 * page aligned. What was mapped there before is replaced: large pages in the way are
 * split, and a table below a new large page is given back. -ENOMEM leaves a part mapped.
 */
int page_table_map(struct page_table *table, uint64_t from, uint64_t size, hpa_t to,
		   uint64_t flags);

/* Takes everything from the address on (a multiple of 2 MiB) away, and its tables back. */
void page_table_unmap_from(struct page_table *table, uint64_t from);

/*
 * The table of this level (1 to 3; 1 maps 4 KiB an entry) whose entries map address and what
 * is around it. It must be there.
 */
hpa_t page_table_below(const struct page_table *table, uint64_t address, unsigned int level);

/* The entry that maps address, and in *size how much it maps; 0 if nothing does. */
uint64_t page_table_lookup(const struct page_table *table, uint64_t address, uint64_t *size);

#define PAGE_TABLE_LEVELS 4

/* The entries on the way to address, from the root's on; how many there are: 1 to 4. */
unsigned int page_table_walk(const struct page_table *table, uint64_t address,
			     uint64_t entry[PAGE_TABLE_LEVELS]);

#endif
