/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every present entry is on one list: one that points to a table on its child's "parents",
 * one that maps a frame for writing on the frame's "writers". The lists are linked through
 * arrays beside the tables, a link for each entry, so an entry leaves its list without a
 * search. Entries of direct pages are on none: which direct pages show a frame is known from
 * their keys. Entries that only read a frame are on none either: nobody ever looks for them.
 */
#include "mm/shadow_pool.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/physmap.h"

#define NOTHING		 UINT32_MAX
#define HEAD_WRITERS	 BIT(31) /* prev of the first on a list: whose it is */
#define HEAD_PARENTS	 (BIT(31) | BIT(30))
#define HEAD_NUMBER	 (BIT(30) - 1)
#define WRITERS_PER_PAGE 16
#define HASH_FACTOR	 0x9e3779b97f4a7c15ull /* 2^64 over the golden ratio */

struct link {
	uint32_t next, prev;
};

uint64_t (*shadow_entries)[SHADOW_ENTRIES];
static struct link (*links)[SHADOW_ENTRIES];
struct shadow_page *shadow_pages;
static uint16_t *buckets; /* by the frame that a page shadows; 0: none */
static uint32_t *writers; /* by the frame that an entry maps */
static unsigned int page_count, bucket_bits, writer_bits;
static uint16_t first_free, first_out_of_sync;
static unsigned int used, most_used, hand;
static uint32_t now;
static bool flush_needed;

static unsigned int hash(uint64_t frame, unsigned int bits)
{
	return (unsigned int)(frame * HASH_FACTOR >> (64 - bits));
}

static unsigned int log2_up(unsigned int value)
{
	unsigned int bits = 1;

	while (BIT(bits) < value)
		bits++;
	return bits;
}

static void *allocate(uint64_t size)
{
	hpa_t frame;
	unsigned int count = (unsigned int)(align_up(size, PAGE_SIZE) / PAGE_SIZE);

	return frames_allocate(count, 1, &frame) ? NULL : phys_to_virt(frame);
}

static void make_lists(void)
{
	first_out_of_sync = 0;
	used = most_used = hand = 0;
	now = 1;
	memset(writers, 0xff, BIT(writer_bits) * sizeof(*writers));
	memset(shadow_pages, 0, page_count * sizeof(*shadow_pages));
	for (unsigned int i = 1; i < page_count; i++)
		shadow_pages[i].chain = (uint16_t)(i + 1 < page_count ? i + 1 : 0);
	first_free = 1;
}

int shadow_pool_init(unsigned int count)
{
	page_count = count;
	bucket_bits = log2_up(count);
	writer_bits = log2_up(count * WRITERS_PER_PAGE);
	shadow_entries = allocate(count * sizeof(*shadow_entries));
	links = allocate(count * sizeof(*links));
	shadow_pages = allocate(count * sizeof(*shadow_pages));
	buckets = allocate(BIT(bucket_bits) * sizeof(*buckets));
	writers = allocate(BIT(writer_bits) * sizeof(*writers));
	if (!shadow_entries || !links || !shadow_pages || !buckets || !writers)
		return -ENOMEM;
	make_lists();
	return 0;
}

struct shadow_page *shadow_pool_roots(void)
{
	return &shadow_pages[0];
}

unsigned int shadow_pool_used(void)
{
	return used;
}

unsigned int shadow_pool_most_used(void)
{
	return most_used;
}

bool shadow_take_flush(void)
{
	bool needed = flush_needed;

	flush_needed = false;
	return needed;
}

void shadow_need_flush(void)
{
	flush_needed = true;
}

/* ---- entries and their lists ----------------------------------------------------  */

hpa_t shadow_page_address(const struct shadow_page *page)
{
	return virt_to_phys(shadow_entries[shadow_page_number(page)]);
}

static uint64_t *entry_at(shadow_slot_t slot)
{
	return &shadow_entries[slot >> SHADOW_INDEX_BITS][slot % SHADOW_ENTRIES];
}

static struct link *link_at(shadow_slot_t slot)
{
	return &links[slot >> SHADOW_INDEX_BITS][slot % SHADOW_ENTRIES];
}

static struct shadow_page *page_at(shadow_slot_t slot)
{
	return &shadow_pages[slot >> SHADOW_INDEX_BITS];
}

static uint32_t *head_of(uint32_t owner)
{
	if ((owner & HEAD_PARENTS) == HEAD_PARENTS)
		return &shadow_pages[owner & HEAD_NUMBER].parents;
	return &writers[owner & HEAD_NUMBER];
}

static void link_in(shadow_slot_t slot, uint32_t owner)
{
	uint32_t *head = head_of(owner);

	*link_at(slot) = (struct link){*head, owner};
	if (*head != NOTHING)
		link_at(*head)->prev = slot;
	*head = slot;
}

static void link_out(shadow_slot_t slot)
{
	struct link link = *link_at(slot);

	if (link.prev & HEAD_WRITERS)
		*head_of(link.prev) = link.next;
	else
		link_at(link.prev)->next = link.next;
	if (link.next != NOTHING)
		link_at(link.next)->prev = link.prev;
}

/* The roots' entries and those above level 1 point to tables. */
static bool holds_tables(const struct shadow_page *page)
{
	return !page->key || shadow_page_level(page) > 1;
}

static bool is_linked(const struct shadow_page *page, uint64_t entry)
{
	return holds_tables(page) || (!shadow_page_is_direct(page) && (entry & SPTE_WRITE));
}

static void store(shadow_slot_t slot, uint64_t entry)
{
	unsigned int index = slot % SHADOW_ENTRIES;
	uint64_t *word = &page_at(slot)->present[index / 64];

	*entry_at(slot) = entry;
	if (entry)
		*word |= BIT(index % 64);
	else
		*word &= ~BIT(index % 64);
}

void shadow_clear(shadow_slot_t slot)
{
	uint64_t entry = *entry_at(slot);

	if (!entry)
		return;
	if (is_linked(page_at(slot), entry))
		link_out(slot);
	store(slot, 0);
	flush_needed = true;
}

void shadow_set_table(shadow_slot_t slot, struct shadow_page *child, uint64_t flags)
{
	shadow_clear(slot);
	store(slot, shadow_page_address(child).raw | flags);
	link_in(slot, (uint32_t)HEAD_PARENTS | shadow_page_number(child));
}

static uint32_t writers_of(uint64_t entry)
{
	return (uint32_t)HEAD_WRITERS | hash((entry & SPTE_FRAME) >> PAGE_SHIFT, writer_bits);
}

/* Only a page fault brings new rights, and it has dropped what was cached of the old ones. */
static bool only_adds_rights(uint64_t old, uint64_t entry)
{
	return !old || (old | SPTE_WRITE) == entry;
}

void shadow_set_leaf(shadow_slot_t slot, uint64_t entry)
{
	uint64_t old = *entry_at(slot);
	bool flush = flush_needed || !only_adds_rights(old, entry);

	if (old == entry)
		return;
	shadow_clear(slot);
	flush_needed = flush;
	store(slot, entry);
	if (is_linked(page_at(slot), entry))
		link_in(slot, writers_of(entry));
}

/* ---- pages ---------------------------------------------------------------------- */

void shadow_pool_begin(void)
{
	now++;
}

void shadow_pool_touch(struct shadow_page *page)
{
	page->stamp = now;
	page->idle = 0;
}

static uint16_t *bucket_of(uint64_t key)
{
	return &buckets[hash(key & KEY_FRAME, bucket_bits)];
}

struct shadow_page *shadow_pool_find(uint64_t key)
{
	unsigned int number = *bucket_of(key);

	while (number && shadow_pages[number].key != key)
		number = shadow_pages[number].chain;
	if (!number)
		return NULL;
	shadow_pool_touch(&shadow_pages[number]);
	return &shadow_pages[number];
}

static bool shadows(const struct shadow_page *page, uint64_t frame)
{
	return shadow_page_frame(page) == frame && !shadow_page_is_direct(page);
}

struct shadow_page *shadow_pool_next_of(uint64_t frame, struct shadow_page *page)
{
	unsigned int number = page ? page->chain : *bucket_of(frame);

	while (number && !shadows(&shadow_pages[number], frame))
		number = shadow_pages[number].chain;
	return number ? &shadow_pages[number] : NULL;
}

static void unhash(struct shadow_page *page)
{
	uint16_t *at = bucket_of(page->key);

	while (*at != shadow_page_number(page))
		at = &shadow_pages[*at].chain;
	*at = page->chain;
}

static void clear_entries(struct shadow_page *page)
{
	for (unsigned int word = 0; word < SHADOW_ENTRIES / 64; word++)
		while (page->present[word])
			shadow_clear(shadow_slot(page, word * 64 + (unsigned int)__builtin_ctzll(
									   page->present[word])));
}

void shadow_pool_drop(struct shadow_page *page)
{
	clear_entries(page);
	while (page->parents != NOTHING)
		shadow_clear(page->parents);
	if (page->out_of_sync)
		shadow_mark_in_sync(page);
	unhash(page);
	page->key = 0;
	page->chain = first_free;
	first_free = (uint16_t)shadow_page_number(page);
	used--;
}

void shadow_pool_drop_all(void)
{
	clear_entries(&shadow_pages[0]);
	for (unsigned int i = 1; i < page_count; i++)
		if (shadow_pages[i].key)
			shadow_pool_drop(&shadow_pages[i]);
	flush_needed = true;
}

/* Round and round, past those that the present walk needs. */
static void make_room(void)
{
	do
		hand = hand + 1 < page_count ? hand + 1 : 1;
	while (shadow_pages[hand].stamp == now);
	shadow_pool_drop(&shadow_pages[hand]);
}

static struct shadow_page *take_free(void)
{
	struct shadow_page *page;

	if (!first_free)
		make_room();
	page = &shadow_pages[first_free];
	first_free = page->chain;
	used++;
	if (used > most_used)
		most_used = used;
	return page;
}

struct shadow_page *shadow_pool_get(uint64_t key, bool *made)
{
	struct shadow_page *page = shadow_pool_find(key);

	*made = !page;
	if (page)
		return page;
	page = take_free();
	page->key = key;
	page->parents = NOTHING;
	page->out_of_sync = false;
	page->chain = *bucket_of(key);
	*bucket_of(key) = (uint16_t)shadow_page_number(page);
	shadow_pool_touch(page);
	return page;
}

/* ---- who may write to a frame ---------------------------------------------------- */

static void take_write(shadow_slot_t slot)
{
	uint64_t entry = *entry_at(slot);

	link_out(slot);
	*entry_at(slot) = entry & ~SPTE_WRITE;
	flush_needed = true;
}

static void protect_listed(hpa_t page)
{
	uint32_t slot = *head_of(writers_of(page.raw)), next;

	for (; slot != NOTHING; slot = next) {
		next = link_at(slot)->next;
		if ((*entry_at(slot) & SPTE_FRAME) == page.raw)
			take_write(slot);
	}
}

/* Direct pages of level 1 that show the frame are among those of its block's first frame. */
static void protect_direct(uint64_t frame)
{
	uint64_t block = align_down(frame, SHADOW_ENTRIES);
	unsigned int number = *bucket_of(block);

	for (; number; number = shadow_pages[number].chain) {
		uint64_t *entry = &shadow_entries[number][frame % SHADOW_ENTRIES];

		if (shadow_page_frame(&shadow_pages[number]) != block ||
		    !shadow_page_is_direct(&shadow_pages[number]) ||
		    shadow_page_level(&shadow_pages[number]) > 1 || !(*entry & SPTE_WRITE))
			continue;
		*entry &= ~SPTE_WRITE;
		flush_needed = true;
	}
}

void shadow_protect(uint64_t frame, hpa_t page)
{
	protect_listed(page);
	protect_direct(frame);
}

/* ---- out of sync ------------------------------------------------------------------ */

void shadow_mark_out_of_sync(struct shadow_page *page)
{
	if (page->out_of_sync)
		return;
	page->out_of_sync = true;
	page->next_out_of_sync = first_out_of_sync;
	first_out_of_sync = (uint16_t)shadow_page_number(page);
}

struct shadow_page *shadow_first_out_of_sync(void)
{
	return first_out_of_sync ? &shadow_pages[first_out_of_sync] : NULL;
}

struct shadow_page *shadow_next_out_of_sync(const struct shadow_page *page)
{
	return page->next_out_of_sync ? &shadow_pages[page->next_out_of_sync] : NULL;
}

void shadow_mark_in_sync(struct shadow_page *page)
{
	uint16_t *at = &first_out_of_sync;

	while (*at != shadow_page_number(page))
		at = &shadow_pages[*at].next_out_of_sync;
	*at = page->next_out_of_sync;
	page->out_of_sync = false;
}
