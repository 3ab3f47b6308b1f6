/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/guest_space.h"
#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/guest_memory.h"
#include "mm/mtrr.h"
#include "mm/physmap.h"

#define MORE_SIZE	  (1 * GIB)
#define MORE_FRAMES	  (2 + 512) /* tables for a GiB in the smallest pages */
#define ENTRIES_PER_TABLE 512	    /* each page size is as many of the next smaller one */
#define NOTHING_THERE	  0xff	    /* what a bus without a device reads as */

static struct kept_memory kept;
static uint64_t mapped_end; /* where guest_space_map() stops */
static hpa_t sink;
static struct mtrr_state mtrr;
static struct {
	uint64_t start, size;
	hpa_t pages;
	enum memory_type type;
} overlay[OVERLAYS_MAX];
static unsigned int overlay_count;

int guest_space_init(const struct kept_memory *keep, uint64_t ram_end)
{
	void *page = frame_allocate();

	if (!page)
		return -ENOMEM;
	memset(page, NOTHING_THERE, PAGE_SIZE);
	sink = virt_to_phys(page);
	kept = *keep;
	mapped_end = align_up(max_u64(ram_end, 4 * GIB), MORE_SIZE);
	mtrr_read(&mtrr);
	return 0;
}

int guest_space_overlay(gpa_t start, uint64_t size, hpa_t pages, enum memory_type type)
{
	if (overlay_count == OVERLAYS_MAX)
		return -ENOMEM;
	overlay[overlay_count].start = start.raw;
	overlay[overlay_count].size = size;
	overlay[overlay_count].pages = pages;
	overlay[overlay_count++].type = type;
	return guest_memory_overlay(start, size, type == MEMORY_WB ? phys_to_virt(pages) : NULL);
}

bool guest_space_is_kept(gpa_t address, uint64_t size)
{
	return address.raw < kept.base + kept.size && address.raw + size > kept.base;
}

hpa_t guest_space_find(gpa_t page)
{
	for (unsigned int i = 0; i < overlay_count; i++)
		if (page.raw - overlay[i].start < overlay[i].size)
			return hpa(overlay[i].pages.raw + (page.raw - overlay[i].start));
	return guest_space_is_kept(page, PAGE_SIZE) ? sink : hpa(page.raw);
}

bool guest_space_types_changed(void)
{
	struct mtrr_state now;

	mtrr_read(&now);
	if (!memcmp(&now, &mtrr, sizeof(now)))
		return false;
	mtrr = now;
	return true;
}

static bool one_page_can_map(uint64_t from, uint64_t to, uint64_t size)
{
	return is_aligned(from, size) && size <= to - from && mtrr_is_uniform(&mtrr, from, size);
}

/* The largest block in [from, to) that one page may map and that has one memory type. */
static uint64_t uniform_size(const struct page_table *table, uint64_t from, uint64_t to)
{
	uint64_t size = table->largest_page;

	while (size > PAGE_SIZE && !one_page_can_map(from, to, size))
		size /= ENTRIES_PER_TABLE;
	return size;
}

static int map_range(struct page_table *table, uint64_t from, uint64_t to, nested_flags_t flags)
{
	while (from < to) {
		uint64_t size = uniform_size(table, from, to);
		int error =
			page_table_map(table, from, size, hpa(from), flags(mtrr_type(&mtrr, from)));

		if (error)
			return error;
		from += size;
	}
	return 0;
}

/*
 * Every kept page looks like one and the same page of no meaning. Accesses then need
 * neither an exit nor an instruction emulator (docs/architecture.md).
 */
static int map_sink(struct page_table *table, nested_flags_t flags)
{
	int error = 0;

	for (uint64_t page = kept.base; page < kept.base + kept.size && !error; page += PAGE_SIZE)
		error = page_table_map(table, page, PAGE_SIZE, sink, flags(MEMORY_WB));
	return error;
}

static int map_overlays(struct page_table *table, nested_flags_t flags)
{
	int error = 0;

	for (unsigned int i = 0; i < overlay_count && !error; i++)
		error = page_table_map(table, overlay[i].start, overlay[i].size, overlay[i].pages,
				       flags(overlay[i].type));
	return error;
}

/*
 * No step maps kept memory to itself, not even for the next one to replace it: the last
 * frame may be gone in between, or the guest be running on another processor.
 */
int guest_space_map(struct page_table *table, nested_flags_t flags)
{
	int error = map_sink(table, flags);

	page_table_unmap_from(table, mapped_end); /* it comes back when it is touched */
	if (!error)
		error = map_range(table, 0, kept.base, flags);
	if (!error)
		error = map_range(table, kept.base + kept.size, mapped_end, flags);
	return error ? error : map_overlays(table, flags);
}

static int map_gigabyte(struct page_table *table, uint64_t address, nested_flags_t flags)
{
	uint64_t from = align_down(address, MORE_SIZE);

	return map_range(table, from, from + MORE_SIZE, flags);
}

int guest_space_map_more(struct page_table *table, gpa_t address, nested_flags_t flags,
			 bool *forgotten)
{
	uint64_t bits = cpuid(CPUID_EXT_ADDRESS_SIZES, 0).eax & 0xff;

	*forgotten = false;
	bits = min_u64(bits, PAGE_TABLE_ADDRESS_BITS);
	if (address.raw < mapped_end || address.raw >> bits)
		return -EINVAL;
	if (frames_free_count() < MORE_FRAMES) {
		page_table_unmap_from(table, mapped_end);
		*forgotten = true;
	}
	return map_gigabyte(table, address.raw, flags);
}
