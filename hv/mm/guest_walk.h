/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The usual case of guest_memory_translate(), inline and without a call: an exit on a
 * processor that does not save the next RIP has to look at the guest's code, and the
 * walk is then a third of what the exit costs. Guest-physical is host-physical here.
 */
#ifndef VELLUM_MM_GUEST_WALK_H
#define VELLUM_MM_GUEST_WALK_H

#include "mm/physmap.h"

/* Page-table entries: APM volume 2, 5.2 (32-bit, PAE) and 5.3 (long mode) */
#define GUEST_PTE_PRESENT BIT(0)
#define GUEST_PTE_LARGE	  BIT(7)
#define GUEST_PTE_FRAME	  0xfffff000u /* of a 32-bit entry, and of CR3 */

/* Whole pages of RAM; last: offset of their last word. */
#define GUEST_WORD 8u
struct guest_main_ram {
	uint64_t start, last;
};

extern struct guest_main_ram guest_main_ram;

static inline bool guest_in_main_ram(uint64_t address)
{
	return address - guest_main_ram.start <= guest_main_ram.last;
}

/* The entry of a 32-bit page table; 0, which is "not present", outside main RAM. */
static inline uint32_t guest_entry_32bit(uint32_t table, uint32_t index)
{
	uint64_t address = (table & GUEST_PTE_FRAME) + index * 4;

	return guest_in_main_ram(address) ? *(const uint32_t *)phys_to_virt(hpa(address)) : 0;
}

/*
 * Reads a byte of code through 32-bit page tables, if all of that is in main RAM and
 * the page is a small one; -1 if not: then guest_memory.h knows more.
 */
static inline int guest_code_byte_32bit(uint64_t cr3, uint32_t address)
{
	uint32_t entry = guest_entry_32bit((uint32_t)cr3, address >> 22);

	if (!(entry & GUEST_PTE_PRESENT) || (entry & GUEST_PTE_LARGE))
		return -1;
	entry = guest_entry_32bit(entry, address >> 12 & 0x3ff);
	address = (entry & GUEST_PTE_FRAME) | (address & ~GUEST_PTE_FRAME);
	if (!(entry & GUEST_PTE_PRESENT) || !guest_in_main_ram(address))
		return -1;
	return *(const uint8_t *)phys_to_virt(hpa(address));
}

#endif
