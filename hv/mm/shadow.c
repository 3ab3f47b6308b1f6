/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual TLB that is kept across address spaces. Shadow entries are made by page faults,
 * and stand for what the guest's processor may have cached: at all times the guest sees what
 * it would see with some TLB.
 *
 * Invariants
 * 1. A present shadow entry was allowed by the guest's tables at some time since the guest
 *    last had to flush it. All entries from the root to it had their accessed bit set then;
 *    it is writable only if the leaf's dirty bit was.
 * 2. Rights are added up in the leaf. Shadow entries above level 1 allow everything, and a
 *    page's key says what the guest's entries above it allow.
 * 3. A guest table that has shadow pages is either *in sync*: no entry lets the guest write
 *    to it; or *out of sync*: all its shadow pages are on the list, and may differ from it.
 *    The first write to a table in sync faults, and puts it on the list.
 * 4. shadow_load() empties the list: what differs goes, and the tables are protected again.
 *    So each shadow page of each cached address space is right when the guest returns to it,
 *    and a switch costs what was changed, not what is mapped.
 * 5. Tables that the guest has announced (VMI) are neither: it may write to them, and tells of
 *    each change. shadow_entry_changed() then drops what differs. What has been told late is
 *    as what a TLB holds until the flush; so whoever flushes tells first.
 * 6. Direct pages (parts of large pages) map memory as it lies. They depend on nothing but
 *    their key and are never out of sync.
 * 7. The processor always runs with CR0.WP and EFER.NXE set, and without global pages.
 *
 * Vellum's own stores to guest tables only set accessed and dirty bits, which takes nothing
 * from any entry's right to be there.
 */
#include "mm/shadow.h"
#include "core/guest_space.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/announced.h"
#include "mm/frames.h"
#include "mm/guest_walk.h"
#include "mm/page_table.h"
#include "mm/physmap.h"

#define TABLE_FLAGS    (SPTE_PRESENT | SPTE_WRITE | SPTE_USER | SPTE_ACCESSED)
#define LEAF_FLAGS     (SPTE_PRESENT | SPTE_ACCESSED | SPTE_DIRTY)
#define CACHE_BITS     (BIT(3) | BIT(4)) /* PWT, PCD */
#define CACHE_SHIFT    3
#define CACHE_PAT      BIT(2) /* of a key's three */
#define PAT_SMALL      BIT(7)
#define PAT_LARGE      BIT(12)
#define TOP_LEVEL      3 /* of PAE's four entries */
#define IDLE_SYNCS     8
#define GUEST_FRAME_32 0xfffff000u /* of CR3 */
#define GUEST_PDPT_32  0xffffffe0u /* of CR3 with PAE: the four entries fill 32 bytes */

/* The bits of a key's mode */
#define MODE_FORMAT(format) ((uint64_t)(format))
#define MODE_WP		    BIT(2)
#define MODE_PSE	    BIT(3)
#define MODE_NXE	    BIT(4)
#define MODE_SMEP	    BIT(5)

static uint64_t root_of[SHADOW_ROOTS]; /* whose top entries these four are; 0: nobody's */
static hpa_t unpaged_root;

/* ---- keys ------------------------------------------------------------------------ */

static uint64_t mode_bits(const struct paging_mode *mode)
{
	return MODE_FORMAT(mode->format) | (mode->wp ? MODE_WP : 0) | (mode->pse ? MODE_PSE : 0) |
	       (mode->nxe ? MODE_NXE : 0) | (mode->smep ? MODE_SMEP : 0);
}

static enum paging_format format_of(const struct shadow_page *page)
{
	return page->key >> KEY_MODE_SHIFT & 3;
}

static struct paging_mode mode_of(const struct shadow_page *page)
{
	uint64_t bits = page->key >> KEY_MODE_SHIFT;

	return (struct paging_mode){
		.format = format_of(page),
		.wp = bits & MODE_WP,
		.pse = bits & MODE_PSE,
		.nxe = bits & MODE_NXE,
		.smep = bits & MODE_SMEP,
	};
}

static uint64_t level_bits(unsigned int level)
{
	return (uint64_t)(level - 1) << KEY_LEVEL_SHIFT;
}

/* A shadow of the guest's table; 32-bit ones have two or four. */
static uint64_t table_key(const struct paging_mode *mode, unsigned int level, gpa_t table,
			  unsigned int rights, unsigned int quadrant)
{
	return KEY_VALID | table.raw >> PAGE_SHIFT | level_bits(level) |
	       (uint64_t)quadrant << KEY_QUADRANT_SHIFT | (uint64_t)rights << KEY_RIGHTS_SHIFT |
	       mode_bits(mode) << KEY_MODE_SHIFT;
}

static uint64_t direct_key(unsigned int level, uint64_t frame, unsigned int rights,
			   unsigned int cache)
{
	return KEY_VALID | KEY_DIRECT | frame | level_bits(level) |
	       (uint64_t)rights << KEY_RIGHTS_SHIFT | (uint64_t)cache << KEY_CACHE_SHIFT;
}

static unsigned int cache_bits(unsigned int level, uint64_t leaf)
{
	return (unsigned int)((leaf & CACHE_BITS) >> CACHE_SHIFT) |
	       (leaf & (level > 1 ? PAT_LARGE : PAT_SMALL) ? (unsigned int)CACHE_PAT : 0);
}

/* Frames that an entry of a shadow page of this level covers. */
static uint64_t frames_below(unsigned int level)
{
	return BIT(9 * (level - 1));
}

static uint64_t direct_child_key(const struct shadow_page *page, unsigned int index)
{
	unsigned int level = shadow_page_level(page);

	return direct_key(level - 1, shadow_page_frame(page) + index * frames_below(level),
			  shadow_page_rights(page), page->key >> KEY_CACHE_SHIFT & 7);
}

/*
 * The page below entry index of page, which shadows the guest's entry. rights are all the
 * guest's up to and with it; those of a leaf, as leaf_rights() has them.
 */
static uint64_t child_key(const struct shadow_page *page, unsigned int index,
			  const struct paging_mode *mode, uint64_t entry, unsigned int rights)
{
	unsigned int level = shadow_page_level(page);
	gpa_t target = paging_target(mode, level, entry);
	unsigned int half = mode->format == PAGING_32BIT ? index & 1 : 0;

	if (!paging_is_leaf(mode, level, entry))
		return table_key(mode, level - 1, target, rights, half);
	return direct_key(level - 1, (target.raw >> PAGE_SHIFT) + half * SHADOW_ENTRIES, rights,
			  cache_bits(level, entry));
}

/* ---- leaves ---------------------------------------------------------------------- */

/*
 * What a shadow leaf may allow: no write before the guest's entry is dirty. Without CR0.WP the
 * guest's kernel writes wherever it reads, but the processor has WP set.
 */
static unsigned int leaf_rights(const struct paging_mode *mode, unsigned int rights, uint64_t leaf)
{
	if (!mode->wp && !(rights & RIGHT_USER))
		rights |= RIGHT_WRITE;
	return leaf & PTE_DIRTY ? rights : rights & ~(unsigned int)RIGHT_WRITE;
}

static bool needs_supervisor_write(const struct paging_mode *mode,
				   const struct guest_access *access, unsigned int rights)
{
	return !mode->wp && access->write && !access->user && !(rights & RIGHT_WRITE);
}

/*
 * The kernel writes to a read-only page of the user's: it becomes the kernel's alone, until
 * the user's next access faults. The kernel still must not run it where SMEP forbids that; but
 * SMAP, if that is on without WP, does not see that it is the user's (docs/caveats.md).
 */
static unsigned int access_rights(const struct paging_mode *mode, const struct guest_access *access,
				  const struct guest_walk *walk)
{
	uint64_t leaf = walk->entry[walk->leaf];
	unsigned int rights = leaf_rights(mode, walk->rights[walk->leaf], leaf);

	if (!needs_supervisor_write(mode, access, rights))
		return rights;
	rights = (rights | RIGHT_WRITE) & ~(unsigned int)RIGHT_USER;
	return mode->smep ? rights & ~(unsigned int)RIGHT_EXECUTE : rights;
}

/* Where the guest's page is on the machine; in main RAM, where nearly all are, without a search. */
static hpa_t machine_page(uint64_t frame)
{
	uint64_t address = frame << PAGE_SHIFT;

	return guest_main_ram_has(address) ? hpa(address) : guest_space_find(gpa(address));
}

static uint64_t leaf_entry(uint64_t frame, unsigned int rights, unsigned int cache)
{
	uint64_t entry = machine_page(frame).raw | LEAF_FLAGS;

	entry |= (uint64_t)(cache << CACHE_SHIFT) & CACHE_BITS;
	if (cache & CACHE_PAT)
		entry |= PAT_SMALL;
	if (rights & RIGHT_WRITE)
		entry |= SPTE_WRITE;
	if (rights & RIGHT_USER)
		entry |= SPTE_USER;
	return rights & RIGHT_EXECUTE ? entry : entry | SPTE_NX;
}

/* ---- tables in sync and out ------------------------------------------------------- */

static void mark_out_of_sync(uint64_t frame)
{
	struct shadow_page *page = NULL;

	while ((page = shadow_pool_next_of(frame, page)))
		shadow_mark_out_of_sync(page);
}

/* Whether an entry may let the guest write to a frame; if it does so now, a table is not in sync.
 */
static bool may_write(uint64_t frame, bool now)
{
	const struct shadow_page *page = shadow_pool_next_of(frame, NULL);

	if (!page || page->out_of_sync || announced_has(frame))
		return true;
	if (now)
		mark_out_of_sync(frame);
	return now;
}

static void protect(uint64_t frame)
{
	shadow_protect(frame, machine_page(frame));
}

static const struct shadow_page *sibling_of(const struct shadow_page *page)
{
	uint64_t frame = shadow_page_frame(page);
	struct shadow_page *other = shadow_pool_next_of(frame, NULL);

	return other == page ? shadow_pool_next_of(frame, other) : other;
}

static struct shadow_page *get_page(uint64_t key)
{
	bool made;
	struct shadow_page *page = shadow_pool_get(key, &made);
	const struct shadow_page *sibling;

	if (!made || shadow_page_is_direct(page) || announced_has(shadow_page_frame(page)))
		return page;
	sibling = sibling_of(page);
	if (!sibling)
		protect(shadow_page_frame(page));
	else if (sibling->out_of_sync)
		shadow_mark_out_of_sync(page);
	return page;
}

/* The guest's entry that entry index of a shadow page stands for. */
static uint64_t guest_entry(const struct shadow_page *page, const struct paging_mode *mode,
			    const void *table, unsigned int index)
{
	unsigned int quadrant = shadow_page_quadrant(page);

	if (mode->format != PAGING_32BIT)
		return ((const uint64_t *)table)[index];
	if (shadow_page_level(page) == 2)
		return ((const uint32_t *)table)[quadrant * (SHADOW_ENTRIES / 2) + index / 2];
	return ((const uint32_t *)table)[quadrant * SHADOW_ENTRIES + index];
}

/* Whether a fault would make the same leaf now, or one that allows more. */
static bool leaf_holds(const struct paging_mode *mode, uint64_t shadow, uint64_t entry,
		       unsigned int rights)
{
	uint64_t fresh = leaf_entry(paging_target(mode, 1, entry).raw >> PAGE_SHIFT,
				    leaf_rights(mode, rights, entry), cache_bits(1, entry));

	return shadow == fresh || (shadow | SPTE_WRITE) == fresh;
}

static bool entry_holds(const struct shadow_page *page, const struct paging_mode *mode,
			unsigned int index, uint64_t entry)
{
	unsigned int level = shadow_page_level(page);
	unsigned int rights = shadow_page_rights(page) & paging_rights(mode, entry);
	shadow_slot_t slot = shadow_slot(page, index);

	if (!(entry & PTE_PRESENT) || !(entry & PTE_ACCESSED) ||
	    (entry & paging_reserved_bits(mode, level, entry)))
		return false;
	if (level == 1)
		return leaf_holds(mode, shadow_entry(slot), entry, rights);
	if (paging_is_leaf(mode, level, entry))
		rights = leaf_rights(mode, rights, entry);
	return shadow_child(slot)->key == child_key(page, index, mode, entry, rights);
}

static void check_word(struct shadow_page *page, const struct paging_mode *mode, const void *table,
		       unsigned int word)
{
	for (uint64_t left = page->present[word]; left; left &= left - 1) {
		unsigned int index = word * 64 + (unsigned int)__builtin_ctzll(left);

		if (!table ||
		    !entry_holds(page, mode, index, guest_entry(page, mode, table, index)))
			shadow_clear(shadow_slot(page, index));
	}
}

/* Drops what the guest's table does not say any more. True if something is left. */
static bool check_page(struct shadow_page *page)
{
	struct paging_mode mode = mode_of(page);
	const void *table = guest_table(gpa(shadow_page_frame(page) << PAGE_SHIFT));
	uint64_t left = 0;

	for (unsigned int word = 0; word < SHADOW_ENTRIES / 64; word++) {
		check_word(page, &mode, table, word);
		left |= page->present[word];
	}
	return left;
}

/* True if something is left. */
static bool bring_in_sync(struct shadow_page *page)
{
	protect(shadow_page_frame(page));
	shadow_mark_in_sync(page);
	return check_page(page);
}

/*
 * A page that is empty now, or has long not been walked through although its table is written
 * to, is a table no more, most likely: then each write to it costs a fault for nothing.
 */
static void sync_page(struct shadow_page *page)
{
	if (!bring_in_sync(page) || page->idle++ == IDLE_SYNCS)
		shadow_pool_drop(page);
}

static void sync_all(void)
{
	struct shadow_page *page;

	while ((page = shadow_first_out_of_sync()))
		sync_page(page);
}

/* ---- tables that the guest tells of -------------------------------------------------- */

static void drop_shadows(uint64_t frame)
{
	struct shadow_page *page;

	while ((page = shadow_pool_next_of(frame, NULL)))
		shadow_pool_drop(page);
}

void shadow_announce(gpa_t table)
{
	drop_shadows(table.raw >> PAGE_SHIFT);
	announced_add(table.raw >> PAGE_SHIFT);
}

/* One that has not been announced is protected, and what is cached of it is right. */
void shadow_release(gpa_t table)
{
	if (!announced_has(table.raw >> PAGE_SHIFT))
		return;
	drop_shadows(table.raw >> PAGE_SHIFT);
	announced_remove(table.raw >> PAGE_SHIFT);
}

/* Something that is done with a shadow page's entry. */
typedef void (*visit_t)(const struct shadow_page *page, unsigned int index);

/* A 32-bit table has several pages, and an entry of level 2 has two places in one. */
static inline void visit_32bit(const struct shadow_page *page, unsigned int index, visit_t visit)
{
	unsigned int level = shadow_page_level(page), here = SHADOW_ENTRIES / level;

	if (index / here != shadow_page_quadrant(page))
		return;
	visit(page, index % here * level);
	if (level > 1)
		visit(page, index % here * level + 1);
}

/* All places of one of the guest's entries. */
static inline void for_each_place(gpa_t entry, visit_t visit)
{
	uint64_t frame = entry.raw >> PAGE_SHIFT, offset = entry.raw & (PAGE_SIZE - 1);
	struct shadow_page *page = NULL;

	while ((page = shadow_pool_next_of(frame, page)))
		if (format_of(page) == PAGING_32BIT)
			visit_32bit(page, (unsigned int)offset / 4, visit);
		else
			visit(page, (unsigned int)offset / 8);
}

/*
 * What a fault would make of an entry of level 1 that has its accessed bit; 0 if it would not
 * be hidden, or set a bit.
 */
static uint64_t fresh_leaf(const struct shadow_page *page, const struct paging_mode *mode,
			   uint64_t entry)
{
	uint64_t frame = paging_target(mode, 1, entry).raw >> PAGE_SHIFT;
	unsigned int rights = shadow_page_rights(page) & paging_rights(mode, entry);

	if (!(entry & PTE_PRESENT) || !(entry & PTE_ACCESSED) ||
	    (entry & paging_reserved_bits(mode, 1, entry)))
		return 0;
	rights = leaf_rights(mode, rights, entry);
	if ((rights & RIGHT_WRITE) && !may_write(frame, false))
		rights &= ~(unsigned int)RIGHT_WRITE;
	return leaf_entry(frame, rights, cache_bits(1, entry));
}

/* Makes a shadow entry what the guest's is now. */
static void refresh(const struct shadow_page *page, unsigned int index)
{
	struct paging_mode mode = mode_of(page);
	const void *table = guest_table(gpa(shadow_page_frame(page) << PAGE_SHIFT));
	uint64_t entry = table ? guest_entry(page, &mode, table, index) : 0;
	shadow_slot_t slot = shadow_slot(page, index);
	uint64_t leaf;

	if (shadow_page_level(page) > 1) {
		if (shadow_entry(slot) && !entry_holds(page, &mode, index, entry))
			shadow_clear(slot);
		return;
	}
	leaf = fresh_leaf(page, &mode, entry);
	if (leaf)
		shadow_set_leaf(slot, leaf);
	else
		shadow_clear(slot);
}

static void check(const struct shadow_page *page, unsigned int index)
{
	if (shadow_entry(shadow_slot(page, index)))
		refresh(page, index);
}

void shadow_entry_changed(gpa_t entry)
{
	for_each_place(entry, check);
}

static void drop(const struct shadow_page *page, unsigned int index)
{
	if (shadow_entry(shadow_slot(page, index)))
		shadow_clear(shadow_slot(page, index));
}

void shadow_forget(void)
{
	memset(root_of, 0, sizeof(root_of));
	shadow_pool_drop_all();
}

/* PAE's four top entries are never told of: they count when they are loaded. */
bool shadow_is_untold(const struct shadow_context *context)
{
	return context->mode.format != PAGING_32BIT || shadow_first_out_of_sync();
}

/* ---- address spaces ---------------------------------------------------------------- */

static void clear_root(unsigned int first)
{
	for (unsigned int i = 0; i < PDPTE_COUNT; i++)
		shadow_clear(shadow_slot(shadow_pool_roots(), first + i));
}

/* Four top entries for each of the last address spaces; two of one hash take turns. */
static unsigned int find_root(const struct shadow_context *context)
{
	uint64_t cr3 = context->guest.cr3 & UINT32_MAX;
	uint64_t whose = KEY_VALID | cr3 >> 5 << 6 | mode_bits(&context->mode);
	unsigned int number = (unsigned int)(cr3 >> 12 ^ cr3 >> 5) % SHADOW_ROOTS;

	if (root_of[number] != whose)
		clear_root(number * PDPTE_COUNT);
	root_of[number] = whose;
	return number * PDPTE_COUNT;
}

static gpa_t top_table(const struct shadow_context *context, unsigned int top)
{
	if (context->mode.format == PAGING_PAE)
		return gpa(context->pdpte[top] & SPTE_FRAME);
	return gpa(context->guest.cr3 &
		   (context->mode.format == PAGING_LONG ? SPTE_FRAME : GUEST_FRAME_32));
}

static uint64_t top_key(const struct shadow_context *context, unsigned int top)
{
	return table_key(&context->mode, TOP_LEVEL - 1, top_table(context, top), RIGHTS_ALL,
			 context->mode.format == PAGING_32BIT ? top : 0);
}

/* PAE reads its top entries with CR3 only; what they pointed to before may be cached. */
static void check_tops(const struct shadow_context *context)
{
	for (unsigned int i = 0; i < PDPTE_COUNT; i++) {
		shadow_slot_t slot = shadow_slot(context->root, context->first_top + i);

		if (shadow_entry(slot) && shadow_child(slot)->key != top_key(context, i))
			shadow_clear(slot);
	}
}

static void choose_root_pae(struct shadow_context *context)
{
	context->root = shadow_pool_roots();
	context->first_top = find_root(context);
	context->hardware_root =
		hpa(shadow_page_address(context->root).raw + context->first_top * sizeof(uint64_t));
	check_tops(context);
}

static void choose_root_long(struct shadow_context *context)
{
	context->root = get_page(
		table_key(&context->mode, GUEST_LEVELS, top_table(context, 0), RIGHTS_ALL, 0));
	context->first_top = 0;
	context->hardware_root = shadow_page_address(context->root);
}

static void choose_root(struct shadow_context *context)
{
	shadow_pool_begin();
	if (context->mode.format == PAGING_LONG)
		choose_root_long(context);
	else
		choose_root_pae(context);
}

bool shadow_load_pdptes(struct shadow_context *context, const struct guest_paging *guest)
{
	const uint64_t *entry =
		guest_memory_find(gpa(guest->cr3 & GUEST_PDPT_32), sizeof(context->pdpte));
	uint64_t copy[PDPTE_COUNT] = {0};

	if (entry)
		memcpy(copy, entry, sizeof(copy));
	for (unsigned int i = 0; i < PDPTE_COUNT; i++)
		if (!paging_pdpte_is_valid(copy[i]))
			return false;
	memcpy(context->pdpte, copy, sizeof(copy));
	return true;
}

void shadow_load(struct shadow_context *context, const struct guest_paging *guest)
{
	bool was_paged = context->mode.format != PAGING_NONE;

	context->guest = *guest;
	paging_mode_read(&context->mode, guest);
	context->wanted = gpa(0);
	shadow_need_flush();
	if (context->mode.format == PAGING_NONE) {
		announced_forget();
		context->hardware_root = unpaged_root;
		return;
	}
	if (!was_paged)
		shadow_forget(); /* it wrote to its tables, and no fault told */
	sync_all();
	choose_root(context);
}

/* ---- faults ------------------------------------------------------------------------- */

static unsigned int index_of(gva_t address, unsigned int level)
{
	return address.raw >> (PAGE_SHIFT + 9 * (level - 1)) & (SHADOW_ENTRIES - 1);
}

/* The key of the page below a slot, on the way to what the walk has found. */
static uint64_t key_below(const struct shadow_context *context, const struct guest_walk *walk,
			  const struct shadow_page *page, unsigned int index, unsigned int rights)
{
	unsigned int level;

	if (!page->key)
		return top_key(context, index % PDPTE_COUNT);
	if (shadow_page_is_direct(page))
		return direct_child_key(page, index);
	level = shadow_page_level(page);
	return child_key(page, index, &context->mode, walk->entry[level],
			 level == walk->leaf ? rights : walk->rights[level]);
}

static struct shadow_page *step(struct shadow_page *page, unsigned int index, uint64_t key)
{
	shadow_slot_t slot = shadow_slot(page, index);
	struct shadow_page *child = shadow_entry(slot) ? shadow_child(slot) : NULL;

	if (child && child->key == key) {
		shadow_pool_touch(child);
		return child;
	}
	child = get_page(key);
	shadow_set_table(slot, child, page->key ? TABLE_FLAGS : SPTE_PRESENT);
	if (!page->key)
		shadow_need_flush(); /* these are read with CR3 only */
	return child;
}

static unsigned int top_level(const struct shadow_context *context)
{
	return context->mode.format == PAGING_LONG ? GUEST_LEVELS : TOP_LEVEL;
}

static unsigned int top_index(const struct shadow_context *context, gva_t address)
{
	if (context->mode.format == PAGING_LONG)
		return index_of(address, GUEST_LEVELS);
	return context->first_top + (address.raw >> 30 & (PDPTE_COUNT - 1));
}

static void set_leaf(const struct shadow_context *context, const struct guest_access *access,
		     const struct guest_walk *walk, shadow_slot_t slot, unsigned int rights)
{
	uint64_t leaf = walk->entry[walk->leaf];
	uint64_t offset = access->address.raw & (paging_level_size(&context->mode, walk->leaf) - 1);
	uint64_t target = paging_target(&context->mode, walk->leaf, leaf).raw;
	uint64_t frame = (target + offset) >> PAGE_SHIFT;

	if ((rights & RIGHT_WRITE) && !may_write(frame, access->write))
		rights &= ~(unsigned int)RIGHT_WRITE;
	shadow_set_leaf(slot, leaf_entry(frame, rights, cache_bits(walk->leaf, leaf)));
}

static void map(struct shadow_context *context, const struct guest_access *access,
		const struct guest_walk *walk)
{
	unsigned int rights = access_rights(&context->mode, access, walk);
	struct shadow_page *page = context->root;
	unsigned int index = top_index(context, access->address);

	shadow_pool_begin();
	shadow_pool_touch(page);
	for (unsigned int level = top_level(context); level > 1; level--) {
		page = step(page, index, key_below(context, walk, page, index, rights));
		index = index_of(access->address, level - 1);
	}
	set_leaf(context, access, walk, shadow_slot(page, index), rights);
	if (walk->leaf == 1 && walk->at[1].raw == context->wanted.raw)
		context->wanted = gpa(0);
}

/*
 * The fault drops what is cached of the entry (SDM volume 3A, 4.10.4.1): the guest need not
 * tell how it changes it then.
 */
static void want(struct shadow_context *context, const struct guest_walk *walk)
{
	context->wanted = gpa(0);
	if (walk->leaf > 1 || !announced_has(walk->at[1].raw >> PAGE_SHIFT))
		return;
	for_each_place(walk->at[1], drop);
	context->wanted = walk->at[1];
}

bool shadow_fault(struct shadow_context *context, const struct guest_access *access,
		  uint32_t *error_code)
{
	gpa_t root = top_table(context, 0);
	struct guest_walk walk;

	do {
		if (guest_walk(&context->mode, root, context->pdpte, access, &walk))
			continue;
		*error_code = walk.error_code;
		want(context, &walk);
		return false;
	} while (!guest_walk_finish(&context->mode, access, &walk));
	map(context, access, &walk);
	return true;
}

/* If its table is mapped; if not, the access will fault and find it all. */
void shadow_fill_wanted(struct shadow_context *context)
{
	gpa_t entry = context->wanted;

	context->wanted = gpa(0);
	if (entry.raw)
		for_each_place(entry, refresh);
}

/* ---- INVLPG -------------------------------------------------------------------------- */

static struct shadow_page *first_upper_out_of_sync(void)
{
	struct shadow_page *page = shadow_first_out_of_sync();

	while (page && shadow_page_level(page) == 1)
		page = shadow_next_out_of_sync(page);
	return page;
}

/* All pages of a frame, as they are in sync together. */
static void bring_frame_in_sync(uint64_t frame)
{
	struct shadow_page *page = NULL;

	while ((page = shadow_pool_next_of(frame, page)))
		if (page->out_of_sync)
			bring_in_sync(page);
}

/*
 * It drops all that the processor has cached of the tables above, whatever the address. They
 * are written far less often than INVLPG comes, so in sync they cost least.
 */
static void sync_upper_tables(void)
{
	struct shadow_page *page;

	while ((page = first_upper_out_of_sync()))
		bring_frame_in_sync(shadow_page_frame(page));
}

/* The entry that maps the address: one of level 1, or one above a direct page. */
static bool find_entry(const struct shadow_context *context, gva_t address, shadow_slot_t *slot)
{
	unsigned int level = top_level(context);

	*slot = shadow_slot(context->root, top_index(context, address));
	for (; shadow_entry(*slot); level--) {
		struct shadow_page *child;

		if (level == 1)
			return true;
		child = shadow_child(*slot);
		if (shadow_page_is_direct(child))
			return true;
		*slot = shadow_slot(child, index_of(address, level - 1));
	}
	return false;
}

static void invalidate(const struct shadow_context *context, gva_t address)
{
	shadow_slot_t slot;

	if (find_entry(context, address, &slot))
		shadow_clear(slot);
}

/* A 4 MiB page of the guest's has two entries. */
void shadow_invalidate(struct shadow_context *context, gva_t address)
{
	if (context->mode.format == PAGING_NONE)
		return;
	sync_upper_tables();
	invalidate(context, address);
	if (context->mode.format == PAGING_32BIT)
		invalidate(context, gva(address.raw ^ 2 * MIB));
}

/* ---- the start ------------------------------------------------------------------------ */

static uint64_t unpaged_flags(enum memory_type type)
{
	(void)type;
	return SPTE_PRESENT | SPTE_WRITE | SPTE_USER;
}

/* PAE's top entries have no rights: so they are copied from a table of a table that has. */
static int make_unpaged_root(void)
{
	struct page_table all;
	uint64_t *tops = frame_allocate();
	int error = tops ? page_table_init(&all, unpaged_flags(MEMORY_WB), 2 * MIB) : -ENOMEM;

	if (!error)
		error = guest_space_map(&all, unpaged_flags);
	if (error)
		return error;
	for (unsigned int i = 0; i < PDPTE_COUNT; i++)
		tops[i] = page_table_below(&all, i * GIB, 2).raw | SPTE_PRESENT;
	unpaged_root = virt_to_phys(tops);
	return 0;
}

int shadow_init(unsigned int pages)
{
	int error = shadow_pool_init(pages);

	memset(root_of, 0, sizeof(root_of));
	if (!error)
		error = announced_init();
	return error ? error : make_unpaged_root();
}
