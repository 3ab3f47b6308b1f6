/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's own page tables, read as its processor would: presence, reserved bits, rights,
 * and the accessed and dirty bits that it sets. APM volume 2, chapter 5; SDM volume 3A,
 * chapter 4. Levels count from 1 for the entries that map 4 KiB.
 */
#ifndef VELLUM_MM_GUEST_TABLES_H
#define VELLUM_MM_GUEST_TABLES_H

#include "lib/types.h"
#include "mm/guest_memory.h"

/* Of entries, in all formats */
#define PTE_PRESENT  BIT(0)
#define PTE_WRITE    BIT(1)
#define PTE_USER     BIT(2)
#define PTE_ACCESSED BIT(5)
#define PTE_DIRTY    BIT(6)
#define PTE_LARGE    BIT(7)
#define PTE_NX	     BIT(63)

/* Of a #PF's error code */
#define FAULT_PRESENT  BIT(0)
#define FAULT_WRITE    BIT(1)
#define FAULT_USER     BIT(2)
#define FAULT_RESERVED BIT(3)
#define FAULT_FETCH    BIT(4)

/* What the entries of a walk allow all together */
enum {
	RIGHT_WRITE = 1,
	RIGHT_USER = 2,
	RIGHT_EXECUTE = 4,
	RIGHTS_ALL = 7,
};

enum paging_format { PAGING_NONE, PAGING_32BIT, PAGING_PAE, PAGING_LONG };

/* How the guest's control registers tell the processor to read its tables. */
struct paging_mode {
	enum paging_format format;
	bool wp, pse, nxe, smep, smap;
};

/* One access, as a #PF's error code describes it. */
struct guest_access {
	gva_t address;
	bool write, user, fetch;
	bool smap; /* SMAP applies: EFLAGS.AC does not lift it */
};

#define GUEST_LEVELS 4
#define PDPTE_COUNT  4u

/* What a walk has met; the arrays are indexed by level, 0 is unused. */
struct guest_walk {
	unsigned int leaf; /* level of the entry that maps the page */
	gpa_t at[GUEST_LEVELS + 1];
	uint64_t entry[GUEST_LEVELS + 1];
	unsigned int rights[GUEST_LEVELS + 1]; /* of all entries from the top to this one */
	uint32_t error_code;		       /* of the #PF, if the walk failed */
};

/* What the processor can: bits of a physical address, 1 GiB pages. Once. */
void paging_init(unsigned int address_bits, bool gigabyte_pages);

void paging_mode_read(struct paging_mode *mode, const struct guest_paging *paging);

/* Level of the entries in the table that CR3 names, or that a PDPTE does with PAE. */
unsigned int paging_top_level(const struct paging_mode *mode);

/* How many bytes an entry of this level maps. */
uint64_t paging_level_size(const struct paging_mode *mode, unsigned int level);

static inline unsigned int paging_entry_size(const struct paging_mode *mode)
{
	return mode->format == PAGING_32BIT ? 4 : 8;
}

bool paging_is_leaf(const struct paging_mode *mode, unsigned int level, uint64_t entry);

/* The bits of an entry that have to be 0, its address's included. */
uint64_t paging_reserved_bits(const struct paging_mode *mode, unsigned int level, uint64_t entry);

/* RIGHT_*, of one entry. */
unsigned int paging_rights(const struct paging_mode *mode, uint64_t entry);

/* Where the page of a leaf, or the table of another entry, begins. */
gpa_t paging_target(const struct paging_mode *mode, unsigned int level, uint64_t entry);

/* The guest's page at an address, to read and write; NULL if it is no memory. */
void *guest_table(gpa_t page);

/* Whether the processor has such a physical address, as CR3 of long mode must be one. */
bool paging_address_is_valid(uint64_t address);

/* A PDPTE that loading CR3 or CR0 refuses with #GP (APM volume 2, 5.3.4: bits that are 0). */
bool paging_pdpte_is_valid(uint64_t entry);

/*
 * Walks the tables from the one at root for an access; pdpte are the four that PAE has
 * loaded. False: walk->error_code is what the #PF says. Nothing is written.
 */
bool guest_walk(const struct paging_mode *mode, gpa_t root, const uint64_t pdpte[PDPTE_COUNT],
		const struct guest_access *access, struct guest_walk *walk);

/*
 * Sets the accessed bits of all entries that a successful walk met, and the leaf's dirty bit
 * for a write. False if one of them has changed since: walk again.
 */
bool guest_walk_finish(const struct paging_mode *mode, const struct guest_access *access,
		       struct guest_walk *walk);

#endif
