/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine's memory map, in the form of BIOS call INT 15h E820 (ACPI 6.4,
 * section 15), that boot loaders hand over and Linux takes.
 */
#ifndef VELLUM_GUEST_E820_H
#define VELLUM_GUEST_E820_H

#include "lib/types.h"

enum e820_type {
	E820_RAM = 1,
	E820_RESERVED = 2,
	E820_ACPI = 3,
	E820_NVS = 4,
	E820_UNUSABLE = 5,
};

struct e820_entry {
	uint64_t base;
	uint64_t size;
	uint32_t type;
} __attribute__((packed));

/* boot_params of the Linux boot protocol holds as many (E820_MAX_ENTRIES_ZEROPAGE) */
#define E820_MAX_ENTRIES 128

struct e820_map {
	uint32_t count;
	struct e820_entry entry[E820_MAX_ENTRIES];
};

/*
 * Adds a range; an empty one is ignored, one that wraps is cut at the top of
 * the address space. Type 0, which ACPI leaves undefined, becomes E820_RESERVED.
 * -ENOMEM if the map is full.
 */
int e820_add(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type);

/*
 * Sorts by base, resolves overlaps (the type with the higher number wins), joins
 * neighbours of one type. -ENOMEM if the result has too many entries: the map is
 * unchanged then. All functions below want a normalized map.
 */
int e820_normalize(struct e820_map *map);

/*
 * Changes the type of what lies in [base, base+size) and is in the map, splitting
 * entries as needed; the map stays normalized. -ENOMEM if it is full: the map is
 * unchanged then.
 */
int e820_set_type(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type);

/* True if [base, base+size) lies wholly in ranges of this type. */
bool e820_covers(const struct e820_map *map, uint64_t base, uint64_t size, uint32_t type);

/*
 * The highest align-ed base at which size bytes of RAM are free below limit (first
 * byte not allowed) and not below floor; 0 if there is none. align is a power of two.
 */
uint64_t e820_find_top(const struct e820_map *map, uint64_t size, uint64_t align, uint64_t floor,
		       uint64_t limit);

/*
 * The lowest align-ed base, not below floor, at which size bytes of RAM end at or
 * below limit; UINT64_MAX if there is none. align is a power of two.
 */
uint64_t e820_find_bottom(const struct e820_map *map, uint64_t size, uint64_t align, uint64_t floor,
			  uint64_t limit);

/* Bytes of the largest piece of RAM within [floor, limit). */
uint64_t e820_largest_ram(const struct e820_map *map, uint64_t floor, uint64_t limit);

/* Bytes of RAM from base to the first hole; 0 if there is none at base. */
uint64_t e820_ram_from(const struct e820_map *map, uint64_t base);

/* First address above all RAM. */
uint64_t e820_ram_end(const struct e820_map *map);

/* Bytes of RAM in all. */
uint64_t e820_ram_size(const struct e820_map *map);

#endif
