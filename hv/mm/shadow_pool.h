/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that shadow page tables are made of: found by what they shadow, linked to who
 * points at them, and taken away from the oldest when all are in use. Nothing here knows how
 * the guest's entries look; shadow.c does.
 */
#ifndef VELLUM_MM_SHADOW_POOL_H
#define VELLUM_MM_SHADOW_POOL_H

#include "lib/types.h"
#include "mm/physmap.h"

#define SHADOW_ENTRIES	  512
#define SHADOW_POOL_LEAST 16	/* pages: enough for any one walk */
#define SHADOW_POOL_MOST  32768 /* a page's number has 15 bits */
#define SHADOW_ROOTS	  (SHADOW_ENTRIES / 4)

/* Of a shadow entry, which the processor reads: APM volume 2, 5.3 and 5.4 */
#define SPTE_PRESENT  BIT(0)
#define SPTE_WRITE    BIT(1)
#define SPTE_USER     BIT(2)
#define SPTE_ACCESSED BIT(5)
#define SPTE_DIRTY    BIT(6)
#define SPTE_NX	      BIT(63)
#define SPTE_FRAME    0x000ffffffffff000ull

/*
 * What a shadow page stands for, in one word: the guest's frame, and all that the entries made
 * from it depend on. Two pages with one key would be alike.
 */
#define KEY_FRAME	   (BIT(40) - 1) /* guest-physical >> 12, of the table or, direct, of the memory */
#define KEY_LEVEL_SHIFT	   40		 /* level - 1 */
#define KEY_DIRECT	   BIT(42) /* maps memory as it lies: a part of a large page */
#define KEY_QUADRANT_SHIFT 43	   /* which part of a table that has 1024 entries */
#define KEY_RIGHTS_SHIFT   45	   /* RIGHT_* of all entries above */
#define KEY_CACHE_SHIFT	   48	   /* direct: PWT, PCD, PAT of the large page's entry */
#define KEY_MODE_SHIFT	   51
#define KEY_VALID	   BIT(63)

struct shadow_page {
	uint64_t key;	  /* 0: free */
	uint32_t parents; /* the list of entries that point here */
	uint32_t stamp;	  /* when a walk last came through */
	uint16_t chain;	  /* the next page of the same hash; of the free ones */
	uint16_t next_out_of_sync;
	bool out_of_sync;
	uint8_t idle;			       /* syncs since a walk last came through */
	uint64_t present[SHADOW_ENTRIES / 64]; /* a bit for each entry that is */
};

static inline uint64_t shadow_page_frame(const struct shadow_page *page)
{
	return page->key & KEY_FRAME;
}

static inline unsigned int shadow_page_level(const struct shadow_page *page)
{
	return (page->key >> KEY_LEVEL_SHIFT & 3) + 1;
}

static inline bool shadow_page_is_direct(const struct shadow_page *page)
{
	return page->key & KEY_DIRECT;
}

static inline unsigned int shadow_page_quadrant(const struct shadow_page *page)
{
	return page->key >> KEY_QUADRANT_SHIFT & 3;
}

static inline unsigned int shadow_page_rights(const struct shadow_page *page)
{
	return page->key >> KEY_RIGHTS_SHIFT & 7;
}

/* One entry: the page's number and the index in it. */
typedef uint32_t shadow_slot_t;

/* All page 0 is: the top entries of PAE's address spaces, four each. It has no key. */
struct shadow_page *shadow_pool_roots(void);

/*
 * pages of 4 KiB for tables, and as many for their links; at least SHADOW_POOL_LEAST, at most
 * SHADOW_POOL_MOST. -ENOMEM.
 */
int shadow_pool_init(unsigned int pages);

/* A new walk: what it comes through is not taken away before the next one. */
void shadow_pool_begin(void);

/* A walk comes through a page. */
void shadow_pool_touch(struct shadow_page *page);

/* The page with this key, NULL if there is none. */
struct shadow_page *shadow_pool_find(uint64_t key);

/* That page, made if need be; *made says so. Others may have to go for it. */
struct shadow_page *shadow_pool_get(uint64_t key, bool *made);

/* Takes a page away, and all that points to it. */
void shadow_pool_drop(struct shadow_page *page);
void shadow_pool_drop_all(void);

/* The next page, behind page or from the first on, that shadows this table; NULL ends it. */
struct shadow_page *shadow_pool_next_of(uint64_t frame, struct shadow_page *page);

/* The pool's own: its pages, and their tables. */
#define SHADOW_INDEX_BITS 9
extern struct shadow_page *shadow_pages;
extern uint64_t (*shadow_entries)[SHADOW_ENTRIES];

static inline unsigned int shadow_page_number(const struct shadow_page *page)
{
	return (unsigned int)(page - shadow_pages);
}

hpa_t shadow_page_address(const struct shadow_page *page);

static inline shadow_slot_t shadow_slot(const struct shadow_page *page, unsigned int index)
{
	return shadow_page_number(page) << SHADOW_INDEX_BITS | index;
}

static inline uint64_t shadow_entry(shadow_slot_t slot)
{
	return shadow_entries[slot >> SHADOW_INDEX_BITS][slot % SHADOW_ENTRIES];
}

/* The page that an entry above level 1 points to. The entry is present. */
static inline struct shadow_page *shadow_child(shadow_slot_t slot)
{
	uint64_t(*table)[SHADOW_ENTRIES] = phys_to_virt(hpa(shadow_entry(slot) & SPTE_FRAME));

	return &shadow_pages[table - shadow_entries];
}

void shadow_clear(shadow_slot_t slot);

/* Makes an entry point to a page. */
void shadow_set_table(shadow_slot_t slot, struct shadow_page *child, uint64_t flags);

/* Makes an entry of level 1 map memory. */
void shadow_set_leaf(shadow_slot_t slot, uint64_t entry);

/*
 * No entry lets the guest write to this frame any more; page is the same one as the machine
 * sees it.
 */
void shadow_protect(uint64_t frame, hpa_t page);

/* The list of pages that differ from the guest's tables, perhaps. */
void shadow_mark_out_of_sync(struct shadow_page *page);
struct shadow_page *shadow_first_out_of_sync(void);
struct shadow_page *shadow_next_out_of_sync(const struct shadow_page *page);
void shadow_mark_in_sync(struct shadow_page *page);

/* True once after entries have gone or lost rights: the processor's cached ones have to go. */
bool shadow_take_flush(void);
void shadow_need_flush(void);

/* Pages in use, and the most that ever were. */
unsigned int shadow_pool_used(void);
unsigned int shadow_pool_most_used(void);

#endif
