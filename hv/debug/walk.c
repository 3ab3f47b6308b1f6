/* SPDX-License-Identifier: GPL-2.0-only */
/* As guest_memory_translate(), which is the one that counts; tests hold the two together. */
#include "debug/walk.h"
#include "core/cpu.h"
#include "lib/string.h"
#include "mm/guest_walk.h"

#define PSE_SHIFT     22
#define PSE_HIGH_BITS 13 /* bits 39:32 of a 4 MiB page are bits 20:13 of its PDE */
#define SMALL_SHIFT   12
#define PAE_LEVELS    3

static const char *const table_names[WALK_LEVELS_MAX] = {"PT", "PD", "PDPT", "PML4", "PML5"};

/* What one kind of paging is made of. */
struct format {
	unsigned int levels;
	unsigned int entry_size;  /* bytes */
	unsigned int index_bits;  /* below the top level */
	unsigned int large_level; /* the highest whose entries may map pages: 1 is a PT's */
	uint64_t root;
	uint64_t frame_mask;
};

static struct format choose_format(const struct guest_paging *paging)
{
	if (!(paging->cr4 & CR4_PAE))
		return (struct format){2,
				       4,
				       10,
				       paging->cr4 & CR4_PSE ? 2 : 1,
				       paging->cr3 & GUEST_PTE_FRAME,
				       GUEST_PTE_FRAME};
	if (!(paging->efer & EFER_LMA))
		return (struct format){
			3, 8, 9, 2, paging->cr3 & GUEST_PDPT_PAE, GUEST_PTE_FRAME_64};
	return (struct format){paging->cr4 & CR4_LA57 ? 5 : 4,
			       8,
			       9,
			       3,
			       paging->cr3 & GUEST_PTE_FRAME_64,
			       GUEST_PTE_FRAME_64};
}

static unsigned int shift_of(const struct format *format, unsigned int level)
{
	return SMALL_SHIFT + format->index_bits * (level - 1);
}

static unsigned int index_of(const struct format *format, unsigned int level, uint64_t address)
{
	uint64_t index = address >> shift_of(format, level);

	return (unsigned int)(index & (BIT(format->index_bits) - 1));
}

static bool read_entry(const struct format *format, struct walk_step *step)
{
	uint64_t where = step->table + step->index * format->entry_size;
	const void *from = guest_memory_find(gpa(where), format->entry_size);

	step->entry = 0;
	if (from)
		memcpy(&step->entry, from, format->entry_size);
	return from;
}

static void set_result(const struct format *format, unsigned int level, uint64_t address,
		       struct walk *walk)
{
	uint64_t entry = walk->step[walk->count - 1].entry;
	unsigned int shift = shift_of(format, level);
	uint64_t high = 0;

	if (shift == PSE_SHIFT)
		high = (entry >> PSE_HIGH_BITS & 0xff) << 32;
	walk->page = BIT(shift);
	walk->address = gpa(high | align_down(entry & format->frame_mask, walk->page) |
			    (address & (walk->page - 1)));
}

static void walk_tables(const struct format *format, uint64_t address, struct walk *walk)
{
	uint64_t table = format->root;

	for (unsigned int level = format->levels;; level--) {
		struct walk_step *step = &walk->step[walk->count++];

		*step = (struct walk_step){table_names[level - 1],
					   table,
					   index_of(format, level, address),
					   0,
					   format->entry_size == 8,
					   false,
					   level != PAE_LEVELS || format->levels != PAE_LEVELS};
		if (!read_entry(format, step)) {
			walk->wrong = "this table is no memory of the guest's";
			return;
		}
		step->leaf = level == 1 ||
			     (level <= format->large_level && (step->entry & GUEST_PTE_LARGE));
		if (!(step->entry & GUEST_PTE_PRESENT)) {
			walk->wrong = "this entry is not present";
			return;
		}
		if (step->leaf) {
			set_result(format, level, address, walk);
			return;
		}
		table = step->entry & format->frame_mask;
	}
}

void walk_guest(const struct guest_paging *paging, uint64_t address, struct walk *walk)
{
	struct format format = choose_format(paging);

	memset(walk, 0, sizeof(*walk));
	if (!(paging->efer & EFER_LMA))
		address &= UINT32_MAX;
	if (!(paging->cr0 & CR0_PG)) {
		walk->address = gpa(address);
		walk->page = PAGE_SIZE;
	} else if (format.levels >= 4 &&
		   !is_canonical(address, shift_of(&format, format.levels + 1))) {
		walk->wrong = "this address is not canonical";
	} else {
		walk_tables(&format, address, walk);
	}
}
