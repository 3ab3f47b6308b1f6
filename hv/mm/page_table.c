/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/page_table.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/physmap.h"

#define ENTRY_ADDRESS 0x000ffffffffff000ull
#define ENTRIES	      512
#define ROOT_LEVEL    4

static uint64_t level_size(unsigned int level)
{
	return PAGE_SIZE << 9 * (level - 1);
}

static uint64_t *table_at(uint64_t entry)
{
	return phys_to_virt(hpa(entry & ENTRY_ADDRESS));
}

static bool is_leaf(uint64_t entry, unsigned int level)
{
	return level == 1 || (entry & PAGE_LARGE);
}

static unsigned int index_of(uint64_t address, unsigned int level)
{
	return (unsigned int)(address / level_size(level) % ENTRIES);
}

int page_table_init(struct page_table *table, uint64_t table_flags, uint64_t largest_page)
{
	table->table_flags = table_flags;
	table->largest_page = largest_page;
	return frames_allocate(1, 1, &table->root);
}

/* Gives back the tables below an entry that is about to be replaced. */
static void free_tables(uint64_t entry, unsigned int level)
{
	if (!entry || is_leaf(entry, level))
		return;
	for (unsigned int i = 0; i < ENTRIES; i++)
		free_tables(table_at(entry)[i], level - 1);
	frames_free(hpa(entry & ENTRY_ADDRESS), 1);
}

/* Replaces a large page by a table of the next smaller ones that maps the same. */
static void split(uint64_t *children, uint64_t entry, unsigned int level)
{
	uint64_t large = level - 1 > 1 ? PAGE_LARGE : 0;

	for (unsigned int i = 0; i < ENTRIES; i++)
		children[i] = ((entry & ~PAGE_LARGE) | large) + i * level_size(level - 1);
}

/* The table below *entry, made if need be; NULL without memory. */
static uint64_t *descend(const struct page_table *table, uint64_t *entry, unsigned int level)
{
	uint64_t *children;

	if (*entry && !is_leaf(*entry, level))
		return table_at(*entry);
	children = frame_allocate();
	if (!children)
		return NULL;
	if (*entry)
		split(children, *entry, level);
	*entry = virt_to_phys(children).raw | table->table_flags;
	return children;
}

static unsigned int choose_level(const struct page_table *table, uint64_t from, uint64_t size,
				 uint64_t to)
{
	unsigned int level = ROOT_LEVEL - 1;

	while (level > 1 && (level_size(level) > table->largest_page || level_size(level) > size ||
			     !is_aligned(from | to, level_size(level))))
		level--;
	return level;
}

static int map_page(struct page_table *table, uint64_t from, uint64_t leaf, unsigned int leaf_level)
{
	uint64_t *entries = phys_to_virt(table->root);
	unsigned int level = ROOT_LEVEL;

	for (; level > leaf_level; level--) {
		entries = descend(table, &entries[index_of(from, level)], level);
		if (!entries)
			return -ENOMEM;
	}
	free_tables(entries[index_of(from, level)], level);
	entries[index_of(from, level)] = leaf;
	return 0;
}

int page_table_map(struct page_table *table, uint64_t from, uint64_t size, hpa_t to, uint64_t flags)
{
	while (size) {
		unsigned int level = choose_level(table, from, size, to.raw);
		uint64_t large = level > 1 ? PAGE_LARGE : 0;
		int error = map_page(table, from, to.raw | flags | large, level);

		if (error)
			return error;
		from += level_size(level);
		to.raw += level_size(level);
		size -= level_size(level);
	}
	return 0;
}

/* In the table of this level whose first entry maps start; [from, ...) goes. */
static void unmap_from(uint64_t *entries, unsigned int level, uint64_t start, uint64_t from)
{
	for (unsigned int i = 0; i < ENTRIES; i++, start += level_size(level)) {
		if (!entries[i] || start + level_size(level) <= from)
			continue;
		if (start < from && !is_leaf(entries[i], level)) {
			unmap_from(table_at(entries[i]), level - 1, start, from);
			continue;
		}
		free_tables(entries[i], level);
		entries[i] = 0;
	}
}

void page_table_unmap_from(struct page_table *table, uint64_t from)
{
	unmap_from(phys_to_virt(table->root), ROOT_LEVEL, 0, from);
}

hpa_t page_table_below(const struct page_table *table, uint64_t address, unsigned int level)
{
	uint64_t entry = table->root.raw;

	for (unsigned int above = ROOT_LEVEL; above > level; above--)
		entry = table_at(entry)[index_of(address, above)];
	return hpa(entry & ENTRY_ADDRESS);
}

uint64_t page_table_lookup(const struct page_table *table, uint64_t address, uint64_t *size)
{
	const uint64_t *entries = phys_to_virt(table->root);

	for (unsigned int level = ROOT_LEVEL;; level--) {
		uint64_t entry = entries[index_of(address, level)];

		*size = level_size(level);
		if (!entry || is_leaf(entry, level))
			return entry;
		entries = table_at(entry);
	}
}

unsigned int page_table_walk(const struct page_table *table, uint64_t address,
			     uint64_t entry[PAGE_TABLE_LEVELS])
{
	const uint64_t *entries = phys_to_virt(table->root);
	unsigned int count = 0;

	for (unsigned int level = ROOT_LEVEL;; level--) {
		uint64_t one = entries[index_of(address, level)];

		entry[count++] = one;
		if (!one || is_leaf(one, level))
			return count;
		entries = table_at(one);
	}
}
