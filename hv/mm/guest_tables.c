/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/guest_tables.h"
#include "core/cpu.h"
#include "mm/guest_walk.h"

#define ENTRY_FRAME	 0x000ffffffffff000ull
#define PSE_ADDRESS_BITS 40 /* of a 4 MiB page, whatever the processor has more */
#define PSE_HIGH_BITS	 13 /* bits 39:32 of a 4 MiB page are bits 20:13 of its entry */
#define PSE_HIGH	 (0xffull << PSE_HIGH_BITS)
#define PSE_RESERVED	 BIT(21)
#define PSE_FRAME	 0xffc00000u
#define LARGE_PAT	 BIT(12)
#define PAE_RESERVED	 0x7ff0000000000000ull /* bits 62:52 */
#define PDPTE_RESERVED	 0x1e6ull

static unsigned int address_bits;
static bool gigabyte_pages;

void paging_init(unsigned int bits, bool gigabyte)
{
	address_bits = bits;
	gigabyte_pages = gigabyte;
}

void paging_mode_read(struct paging_mode *mode, const struct guest_paging *paging)
{
	bool pae = paging->cr4 & CR4_PAE;

	mode->format = !(paging->cr0 & CR0_PG)	 ? PAGING_NONE
		       : !pae			 ? PAGING_32BIT
		       : paging->efer & EFER_LMA ? PAGING_LONG
						 : PAGING_PAE;
	mode->wp = paging->cr0 & CR0_WP;
	mode->pse = pae || (paging->cr4 & CR4_PSE);
	mode->nxe = pae && (paging->efer & EFER_NXE);
	mode->smep = paging->cr4 & CR4_SMEP;
	mode->smap = paging->cr4 & CR4_SMAP;
}

unsigned int paging_top_level(const struct paging_mode *mode)
{
	return mode->format == PAGING_LONG ? 4 : 2;
}

static unsigned int index_bits(const struct paging_mode *mode)
{
	return mode->format == PAGING_32BIT ? 10 : 9;
}

uint64_t paging_level_size(const struct paging_mode *mode, unsigned int level)
{
	return PAGE_SIZE << index_bits(mode) * (level - 1);
}

bool paging_is_leaf(const struct paging_mode *mode, unsigned int level, uint64_t entry)
{
	if (level == 1)
		return true;
	return (entry & PTE_LARGE) && (level == 2 || level == 3) && mode->pse;
}

static uint64_t reserved_32bit(bool large)
{
	unsigned int bits = (unsigned int)min_u64(address_bits, PSE_ADDRESS_BITS);
	uint64_t high = ((uint64_t)0xff << (bits - 32) & 0xff) << PSE_HIGH_BITS;

	return large ? PSE_RESERVED | high : 0;
}

/* Address bits below a large page's alignment, but for the one that is PAT. */
static uint64_t reserved_below(const struct paging_mode *mode, unsigned int level)
{
	return (paging_level_size(mode, level) - 1) & ENTRY_FRAME & ~LARGE_PAT;
}

uint64_t paging_reserved_bits(const struct paging_mode *mode, unsigned int level, uint64_t entry)
{
	bool large = level > 1 && paging_is_leaf(mode, level, entry);
	uint64_t bits = ENTRY_FRAME & ~(BIT(address_bits) - 1);

	if (mode->format == PAGING_32BIT)
		return reserved_32bit(large);
	if (mode->format == PAGING_PAE)
		bits |= PAE_RESERVED;
	if (!mode->nxe)
		bits |= PTE_NX;
	if (level == 4 || (level == 3 && !gigabyte_pages))
		bits |= PTE_LARGE;
	return large ? bits | reserved_below(mode, level) : bits;
}

unsigned int paging_rights(const struct paging_mode *mode, uint64_t entry)
{
	return (entry & PTE_WRITE ? RIGHT_WRITE : 0) | (entry & PTE_USER ? RIGHT_USER : 0) |
	       (mode->nxe && (entry & PTE_NX) ? 0 : RIGHT_EXECUTE);
}

gpa_t paging_target(const struct paging_mode *mode, unsigned int level, uint64_t entry)
{
	bool large = level > 1 && paging_is_leaf(mode, level, entry);

	if (!large)
		return gpa(entry & ENTRY_FRAME);
	if (mode->format == PAGING_32BIT)
		return gpa((entry & PSE_FRAME) | (entry & PSE_HIGH) << (32 - PSE_HIGH_BITS));
	return gpa(align_down(entry & ENTRY_FRAME, paging_level_size(mode, level)));
}

/* Guest-physical is host-physical where guest_main_ram has it; the rest is looked up. */
void *guest_table(gpa_t page)
{
	if (guest_main_ram_has(page.raw))
		return (void *)guest_main_ram_at(page.raw);
	return (void *)guest_memory_find(page, PAGE_SIZE);
}

bool paging_address_is_valid(uint64_t address)
{
	return !(address >> address_bits);
}

bool paging_pdpte_is_valid(uint64_t entry)
{
	return !(entry & PTE_PRESENT) || !(entry & PDPTE_RESERVED || entry >> address_bits);
}

static uint64_t read_entry(const struct paging_mode *mode, gpa_t at)
{
	const uint8_t *page = guest_table(gpa(align_down(at.raw, PAGE_SIZE)));

	if (!page)
		return 0;
	page += at.raw & (PAGE_SIZE - 1);
	return paging_entry_size(mode) == 4 ? *(const uint32_t *)page : *(const uint64_t *)page;
}

/* The fetch bit is there only where the guest can forbid fetches. */
static bool fails(const struct paging_mode *mode, const struct guest_access *access,
		  struct guest_walk *walk, uint64_t why)
{
	if (access->write)
		why |= FAULT_WRITE;
	if (access->user)
		why |= FAULT_USER;
	if (access->fetch && (mode->nxe || mode->smep))
		why |= FAULT_FETCH;
	walk->error_code = (uint32_t)why;
	return false;
}

static bool allows_user(const struct guest_access *access, unsigned int rights)
{
	return (rights & RIGHT_USER) && (!access->write || (rights & RIGHT_WRITE)) &&
	       (!access->fetch || (rights & RIGHT_EXECUTE));
}

static bool allows_supervisor(const struct paging_mode *mode, const struct guest_access *access,
			      unsigned int rights)
{
	bool user_page = rights & RIGHT_USER;

	if (access->fetch)
		return (rights & RIGHT_EXECUTE) && !(user_page && mode->smep);
	if (user_page && mode->smap && access->smap)
		return false;
	return !access->write || (rights & RIGHT_WRITE) || !mode->wp;
}

static bool allows(const struct paging_mode *mode, const struct guest_access *access,
		   unsigned int rights)
{
	return access->user ? allows_user(access, rights) : allows_supervisor(mode, access, rights);
}

static gpa_t entry_address(const struct paging_mode *mode, gpa_t table, unsigned int level,
			   gva_t address)
{
	uint64_t index = address.raw / paging_level_size(mode, level);

	index &= BIT(index_bits(mode)) - 1;
	return gpa(table.raw + index * paging_entry_size(mode));
}

/* Notes an entry, and says of it whether the walk goes on. */
static bool visit(const struct paging_mode *mode, const struct guest_access *access,
		  struct guest_walk *walk, unsigned int level, unsigned int rights)
{
	uint64_t entry = read_entry(mode, walk->at[level]);

	walk->leaf = level;
	walk->entry[level] = entry;
	walk->rights[level] = rights & paging_rights(mode, entry);
	if (!(entry & PTE_PRESENT))
		return fails(mode, access, walk, 0);
	if (entry & paging_reserved_bits(mode, level, entry))
		return fails(mode, access, walk, FAULT_PRESENT | FAULT_RESERVED);
	return true;
}

static bool descend(const struct paging_mode *mode, gpa_t table, const struct guest_access *access,
		    struct guest_walk *walk)
{
	unsigned int rights = RIGHTS_ALL;

	for (unsigned int level = paging_top_level(mode);; level--) {
		walk->at[level] = entry_address(mode, table, level, access->address);
		if (!visit(mode, access, walk, level, rights))
			return false;
		rights = walk->rights[level];
		if (paging_is_leaf(mode, level, walk->entry[level]))
			break;
		table = paging_target(mode, level, walk->entry[level]);
	}
	return allows(mode, access, rights) || fails(mode, access, walk, FAULT_PRESENT);
}

bool guest_walk(const struct paging_mode *mode, gpa_t root, const uint64_t pdpte[PDPTE_COUNT],
		const struct guest_access *access, struct guest_walk *walk)
{
	if (mode->format == PAGING_PAE) {
		uint64_t entry = pdpte[access->address.raw >> 30 & (PDPTE_COUNT - 1)];

		if (!(entry & PTE_PRESENT))
			return fails(mode, access, walk, 0);
		root = gpa(entry & ENTRY_FRAME);
	}
	return descend(mode, root, access, walk);
}

/* As the processor does, in one step that another one can't come between. */
static bool replace_entry(const struct paging_mode *mode, gpa_t at, uint64_t old, uint64_t new)
{
	uint8_t *page = guest_table(gpa(align_down(at.raw, PAGE_SIZE)));
	uint8_t *entry = page + (at.raw & (PAGE_SIZE - 1));

	if (!page)
		return true;
	if (paging_entry_size(mode) == 4)
		return __sync_bool_compare_and_swap((uint32_t *)entry, (uint32_t)old,
						    (uint32_t) new);
	return __sync_bool_compare_and_swap((uint64_t *)entry, old, new);
}

static bool set_bits(const struct paging_mode *mode, struct guest_walk *walk, unsigned int level,
		     uint64_t bits)
{
	uint64_t old = walk->entry[level];

	if ((old & bits) == bits)
		return true;
	walk->entry[level] |= bits;
	return replace_entry(mode, walk->at[level], old, old | bits);
}

bool guest_walk_finish(const struct paging_mode *mode, const struct guest_access *access,
		       struct guest_walk *walk)
{
	for (unsigned int level = paging_top_level(mode); level > walk->leaf; level--)
		if (!set_bits(mode, walk, level, PTE_ACCESSED))
			return false;
	return set_bits(mode, walk, walk->leaf,
			access->write ? PTE_ACCESSED | PTE_DIRTY : PTE_ACCESSED);
}
