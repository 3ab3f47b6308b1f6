/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From guest-physical to host-physical memory. The vendors' folders know only the format of
 * an entry, which root to load, and when to flush; what is mapped where is decided here.
 */
#ifndef VELLUM_MM_MMU_H
#define VELLUM_MM_MMU_H

#include "core/guest_space.h"
#include "lib/types.h"

/* A vendor's nested page tables: NPT, EPT. */
struct mmu_format {
	nested_flags_t flags;  /* of an entry that maps memory of a type */
	uint64_t table_flags;  /* of one that points to a table */
	uint64_t largest_page; /* in bytes: PAGE_SIZE, 2 MiB or 1 GiB */
};

/* Nested page tables for all that guest_space.h knows. Once. -ENOMEM. */
int mmu_init(const struct mmu_format *format);

/* Their root, the same for all processors. */
hpa_t mmu_nested_root(void);

/* The entries on the way to an address, as page_table_walk() has them; 0: no nested paging. */
unsigned int mmu_nested_walk(gpa_t address, uint64_t entry[PAGE_TABLE_LEVELS]);

/*
 * Maps one page where it is, with flags of the caller's: its writes shall exit, or no longer.
 * What is taken away is still there in processors' translations. -ENOMEM.
 */
int mmu_map_page(gpa_t page, uint64_t flags);

/*
 * The guest has met an address that is not mapped. False if it can't be mapped. With *flush
 * other mappings have gone, and the caller drops what the processor has cached.
 */
bool mmu_map_more(gpa_t address, bool *flush);

/*
 * The guest has written an MTRR: entries that hold memory types follow. The caller then
 * drops what its processor has cached.
 */
void mmu_follow_memory_types(void);

#endif
