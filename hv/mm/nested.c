/* SPDX-License-Identifier: GPL-2.0-only */
/* The MMU with nested paging: the guest's own page tables run, on top of these. */
#include "core/lock.h"
#include "debug/console.h"
#include "mm/mmu.h"
#include "mm/page_table.h"

static struct page_table nested;
static nested_flags_t entry_flags;

int mmu_init(const struct mmu_format *format)
{
	int error = page_table_init(&nested, format->table_flags, format->largest_page);

	entry_flags = format->flags;
	return error ? error : guest_space_map(&nested, entry_flags);
}

hpa_t mmu_nested_root(void)
{
	return nested.root;
}

unsigned int mmu_nested_walk(gpa_t address, uint64_t entry[PAGE_TABLE_LEVELS])
{
	return nested.root.raw ? page_table_walk(&nested, address.raw, entry) : 0;
}

int mmu_map_page(gpa_t page, uint64_t flags)
{
	int error;

	lock_take();
	error = page_table_map(&nested, page.raw, PAGE_SIZE, hpa(page.raw), flags);
	lock_release();
	return error;
}

bool mmu_map_more(gpa_t address, bool *flush)
{
	int error;

	lock_take();
	error = guest_space_map_more(&nested, address, entry_flags, flush);
	lock_release();
	return !error;
}

/*
 * All processors' MTRRs are alike, so each of the guest's writes the same ones, and only the
 * first finds them changed.
 */
void mmu_follow_memory_types(void)
{
	lock_take();
	if (guest_space_types_changed() && guest_space_map(&nested, entry_flags))
		pr_warn_once("the guest's MTRRs could not be followed everywhere: no memory left; "
			     "no more such lines");
	lock_release();
}
