/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest finds where: guest-physical is host-physical, but for the ROM's
 * private copy and for what Vellum keeps.
 */
#ifndef VELLUM_CORE_GUEST_SPACE_H
#define VELLUM_CORE_GUEST_SPACE_H

#include "lib/types.h"
#include "mm/image.h"
#include "mm/mtrr.h"
#include "mm/page_table.h"

/*
 * Notes the kept memory and the highest RAM address; reads the MTRRs; takes the page
 * that all of the kept memory looks like to the guest. -ENOMEM.
 */
int guest_space_init(const struct kept_memory *kept, uint64_t ram_end);

/*
 * Shows the guest other pages at [start, start+size), all page aligned: memory of type
 * write-back, or a device's of another one. -ENOMEM: too many.
 */
int guest_space_overlay(gpa_t start, uint64_t size, hpa_t pages, enum memory_type type);

/* The flags of a nested page-table entry for memory of this type. */
typedef uint64_t (*nested_flags_t)(enum memory_type type);

/*
 * Fills a nested page table with all of the above. No entry covers memory of more than
 * one type. -ENOMEM.
 */
int guest_space_map(struct page_table *table, nested_flags_t flags);

/* Reads the MTRRs again. True if they have changed: then guest_space_map() is due. */
bool guest_space_types_changed(void);

/*
 * Maps what lies around an address above those that guest_space_map() mapped: devices
 * with 64-bit BARs. When frames run short all other such mappings go first; *forgotten
 * says so, and the caller must drop cached translations then. -EINVAL if the address is
 * below, or the processor or four levels of tables have no such one; -ENOMEM.
 */
int guest_space_map_more(struct page_table *table, gpa_t address, nested_flags_t flags,
			 bool *forgotten);

/* Where the guest's page really lies: at the same address, but for the above. */
hpa_t guest_space_find(gpa_t page);

/* True if any of [address, address+size) is Vellum's. */
bool guest_space_is_kept(gpa_t address, uint64_t size);

#endif
