// SPDX-License-Identifier: GPL-2.0-only
#include "guest/e820.h"

#include "lib/errno.h"

#define NO_TYPE 0 /* of an address that no entry covers */

/* Never wraps: e820_add cuts what would. */
static uint64_t entry_end(const struct e820_entry *entry)
{
	return entry->base + entry->size;
}

int e820_add(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type)
{
	size = min_u64(size, UINT64_MAX - base);
	if (size == 0)
		return 0;
	if (map->count == E820_MAX_ENTRIES)
		return -ENOMEM;
	/* ACPI 6.4, table 15.3: an undefined type is to be treated as reserved */
	map->entry[map->count++] = (struct e820_entry){
		.base = base,
		.size = size,
		.type = type == NO_TYPE ? E820_RESERVED : type,
	};
	return 0;
}

/* As e820_add, for ranges in ascending order: one that continues the last one joins it. */
static int append(struct e820_map *map, uint64_t base, uint64_t end, uint32_t type)
{
	struct e820_entry *last = map->count > 0 ? &map->entry[map->count - 1] : NULL;

	if (base >= end)
		return 0;
	if (last != NULL && last->type == type && entry_end(last) == base) {
		last->size += end - base;
		return 0;
	}
	return e820_add(map, base, end - base, type);
}

static bool entry_contains(const struct e820_entry *entry, uint64_t address)
{
	return address >= entry->base && address < entry_end(entry);
}

/* The highest type among the entries that cover the address. */
static uint32_t type_at(const struct e820_map *map, uint64_t address)
{
	uint32_t type = NO_TYPE;

	for (uint32_t i = 0; i < map->count; i++) {
		if (entry_contains(&map->entry[i], address) && map->entry[i].type > type)
			type = map->entry[i].type;
	}
	return type;
}

/* The lowest start or end of an entry above the address; UINT64_MAX if there is none. */
static uint64_t next_boundary(const struct e820_map *map, uint64_t address)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < map->count; i++) {
		uint64_t base = map->entry[i].base;
		uint64_t end = entry_end(&map->entry[i]);

		if (base > address)
			next = min_u64(next, base);
		if (end > address)
			next = min_u64(next, end);
	}
	return next;
}

/* Between two neighbouring boundaries the type is the same everywhere. */
int e820_normalize(struct e820_map *map)
{
	struct e820_map result = {.count = 0};
	uint64_t at = 0;

	while (at != UINT64_MAX) {
		uint64_t next = next_boundary(map, at);
		uint32_t type = type_at(map, at);
		int error = type == NO_TYPE ? 0 : append(&result, at, next, type);

		if (error)
			return error;
		at = next;
	}
	*map = result;
	return 0;
}

/* Appends the parts of the entry before, inside and behind [base, end). */
static int append_retyped(struct e820_map *map, const struct e820_entry *entry, uint64_t base,
			  uint64_t end, uint32_t type)
{
	uint64_t entry_stop = entry_end(entry);
	uint64_t inside = max_u64(entry->base, base);
	int error = append(map, entry->base, min_u64(entry_stop, base), entry->type);

	if (!error)
		error = append(map, inside, min_u64(entry_stop, end), type);
	if (!error)
		error = append(map, max_u64(entry->base, end), entry_stop, entry->type);
	return error;
}

int e820_set_type(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type)
{
	struct e820_map result = {.count = 0};
	uint64_t end = base + min_u64(size, UINT64_MAX - base);

	if (base == end)
		return 0;
	for (uint32_t i = 0; i < map->count; i++) {
		int error = append_retyped(&result, &map->entry[i], base, end, type);

		if (error)
			return error;
	}
	*map = result;
	return 0;
}

/* Neighbours of one type are joined in a normalized map: one entry must hold it all. */
bool e820_covers(const struct e820_map *map, uint64_t base, uint64_t size, uint32_t type)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct e820_entry *entry = &map->entry[i];

		if (entry->type == type && entry_contains(entry, base))
			return size <= entry_end(entry) - base;
	}
	return false;
}

/* The same within one entry. */
static uint64_t find_top_in(const struct e820_entry *entry, uint64_t size, uint64_t align,
			    uint64_t floor, uint64_t limit)
{
	uint64_t bottom = max_u64(entry->base, floor);
	uint64_t top = min_u64(entry_end(entry), limit);
	uint64_t base;

	if (top < bottom || top - bottom < size)
		return 0;
	base = align_down(top - size, align);
	return base >= bottom ? base : 0;
}

uint64_t e820_find_top(const struct e820_map *map, uint64_t size, uint64_t align, uint64_t floor,
		       uint64_t limit)
{
	uint64_t best = 0;

	for (uint32_t i = 0; i < map->count; i++) {
		if (map->entry[i].type == E820_RAM)
			best = max_u64(best,
				       find_top_in(&map->entry[i], size, align, floor, limit));
	}
	return best;
}

/* The same within one entry. */
static uint64_t find_bottom_in(const struct e820_entry *entry, uint64_t size, uint64_t align,
			       uint64_t floor, uint64_t limit)
{
	uint64_t bottom = max_u64(entry->base, floor);
	uint64_t top = min_u64(entry_end(entry), limit);
	uint64_t base = align_up(bottom, align);

	if (base < bottom || base > top || top - base < size)
		return UINT64_MAX;
	return base;
}

uint64_t e820_find_bottom(const struct e820_map *map, uint64_t size, uint64_t align, uint64_t floor,
			  uint64_t limit)
{
	uint64_t best = UINT64_MAX;

	for (uint32_t i = 0; i < map->count; i++) {
		if (map->entry[i].type == E820_RAM)
			best = min_u64(best,
				       find_bottom_in(&map->entry[i], size, align, floor, limit));
	}
	return best;
}

uint64_t e820_largest_ram(const struct e820_map *map, uint64_t floor, uint64_t limit)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < map->count; i++) {
		uint64_t bottom = max_u64(map->entry[i].base, floor);
		uint64_t top = min_u64(entry_end(&map->entry[i]), limit);

		if (map->entry[i].type == E820_RAM && top > bottom)
			largest = max_u64(largest, top - bottom);
	}
	return largest;
}

uint64_t e820_ram_from(const struct e820_map *map, uint64_t base)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct e820_entry *entry = &map->entry[i];

		if (entry->type == E820_RAM && entry_contains(entry, base))
			return entry_end(entry) - base;
	}
	return 0;
}

uint64_t e820_ram_end(const struct e820_map *map)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < map->count; i++) {
		if (map->entry[i].type == E820_RAM)
			end = max_u64(end, entry_end(&map->entry[i]));
	}
	return end;
}

uint64_t e820_ram_size(const struct e820_map *map)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < map->count; i++) {
		if (map->entry[i].type == E820_RAM)
			size += map->entry[i].size;
	}
	return size;
}
