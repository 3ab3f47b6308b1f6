/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The usual case of guest_memory_translate(), inline and without a call: an exit on a
 * processor that does not save the next RIP has to look at the guest's code, and the
 * walk is then a third of what the exit costs. Guest-physical is host-physical here.
 *
 * Every table and the code itself are looked up in main RAM only. Whether an entry is
 * present is not asked: the processor has just fetched the instruction through it.
 */
#ifndef VELLUM_MM_GUEST_WALK_H
#define VELLUM_MM_GUEST_WALK_H

#include "lib/types.h"

/* Page-table entries: APM volume 2, 5.2 (32-bit, PAE) and 5.3 (long mode) */
#define GUEST_PTE_PRESENT  BIT(0)
#define GUEST_PTE_LARGE	   BIT(7)
#define GUEST_PTE_FRAME	   0xfffff000u /* of a 32-bit entry, and of CR3 */
#define GUEST_PTE_FRAME_64 0x000ffffffffff000ull
#define GUEST_PDPT_PAE	   0xffffffe0u /* CR3 in PAE mode: a 32-byte table */
#define GUEST_PAGE_OFFSET  0xfffu

/* The largest piece of RAM, in whole pages; nearly every address is in it. */
#define GUEST_WORD 8u
struct guest_main_ram {
	uint64_t start, last; /* last: offset of the last word */
	const uint8_t *bytes; /* where start is mapped */
};

extern struct guest_main_ram guest_main_ram;

/* Whether the 8 bytes at address, or the page that it begins, are in main RAM. */
static inline bool guest_main_ram_has(uint64_t address)
{
	return address - guest_main_ram.start <= guest_main_ram.last;
}

static inline const void *guest_main_ram_at(uint64_t address)
{
	return guest_main_ram.bytes + (address - guest_main_ram.start);
}

static inline bool guest_main_ram_has_byte(uint64_t page, uint64_t offset, uint8_t byte)
{
	return guest_main_ram_has(page) &&
	       ((const uint8_t *)guest_main_ram_at(page))[offset] == byte;
}

/* True if the code at address, behind 32-bit page tables and in a small page, starts with byte. */
static inline bool guest_code_is_32bit(uint64_t cr3, uint32_t address, uint8_t byte)
{
	uint64_t table = cr3 & GUEST_PTE_FRAME;
	uint32_t entry;

	if (!guest_main_ram_has(table))
		return false;
	entry = ((const uint32_t *)guest_main_ram_at(table))[address >> 22];
	table = entry & GUEST_PTE_FRAME;
	if ((entry & GUEST_PTE_LARGE) || !guest_main_ram_has(table))
		return false;
	entry = ((const uint32_t *)guest_main_ram_at(table))[address >> 12 & 0x3ff];
	return guest_main_ram_has_byte(entry & GUEST_PTE_FRAME, address & GUEST_PAGE_OFFSET, byte);
}

/*
 * The same behind tables of 512 8-byte entries, in a page of any size. The first one
 * translates 9 bits of address from shift on: 39 in long mode.
 */
static inline bool guest_code_is_64bit(uint64_t table, unsigned int shift, uint64_t address,
				       uint8_t byte)
{
	uint64_t entry, size;

	for (;; shift -= 9) {
		if (!guest_main_ram_has(table))
			return false;
		entry = ((const uint64_t *)guest_main_ram_at(table))[address >> shift & 0x1ff];
		table = entry & GUEST_PTE_FRAME_64;
		if (shift == 12 || (entry & GUEST_PTE_LARGE))
			break;
	}
	size = BIT(shift);
	table = align_down(table, size) | (address & (size - 1) & ~(uint64_t)GUEST_PAGE_OFFSET);
	return guest_main_ram_has_byte(table, address & GUEST_PAGE_OFFSET, byte);
}

/* The same in PAE mode: four entries in 32 bytes, then two tables or one. */
static inline bool guest_code_is_pae(uint64_t cr3, uint32_t address, uint8_t byte)
{
	uint64_t entry = (cr3 & GUEST_PDPT_PAE) + (address >> 30) * 8;

	if (!guest_main_ram_has(entry))
		return false;
	entry = *(const uint64_t *)guest_main_ram_at(entry);
	return guest_code_is_64bit(entry & GUEST_PTE_FRAME_64, 21, address, byte);
}

#endif
