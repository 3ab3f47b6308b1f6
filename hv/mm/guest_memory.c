/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/guest_memory.h"
#include "mm/guest_walk.h"
#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

#define PSE_PAGE_SIZE (4 * MIB)
#define PSE_HIGH_BITS 13 /* bits 39:32 of a 4 MiB page are bits 20:13 of its PDE */

/* BIOS, option ROMs and their shadow RAM: no RAM by the e820, but guests run code there. */
#define LEGACY_ROM_START 0xc0000u
#define LEGACY_ROM_SIZE	 0x40000u

static const struct e820_map *guest_map;
static struct overlay {
	uint64_t start, size;
	const uint8_t *pages;
} overlays[OVERLAYS_MAX];
static unsigned int overlay_count;

struct guest_main_ram guest_main_ram;

static void set_main_ram(uint64_t start, uint64_t last)
{
	guest_main_ram = (struct guest_main_ram){start, last, phys_to_virt(hpa(start))};
}

void guest_memory_init(const struct e820_map *map)
{
	guest_map = map;
	guest_main_ram = (struct guest_main_ram){UINT64_MAX, 0, NULL};
	for (uint32_t i = 0; i < map->count; i++) {
		const struct e820_entry *entry = &map->entry[i];
		uint64_t start = align_up(entry->base, PAGE_SIZE);
		uint64_t end = align_down(entry->base + entry->size, PAGE_SIZE);

		if (entry->type != E820_RAM || end > physmap_limit || end < start + PAGE_SIZE ||
		    end - start < guest_main_ram.last)
			continue;
		set_main_ram(start, end - start - GUEST_WORD);
	}
}

/* Overlays lie near the start of memory, if they are in main RAM at all. */
static void shrink_main_ram(uint64_t overlay_end)
{
	uint64_t start = guest_main_ram.start, last = start + guest_main_ram.last;

	if (start < overlay_end && overlay_end <= last)
		set_main_ram(overlay_end, last - overlay_end);
}

int guest_memory_overlay(gpa_t start, uint64_t size, const void *pages)
{
	if (overlay_count == OVERLAYS_MAX)
		return -ENOMEM;
	overlays[overlay_count++] = (struct overlay){start.raw, size, pages};
	shrink_main_ram(start.raw + size);
	return 0;
}

void guest_memory_forget_overlays(void)
{
	overlay_count = 0;
}

static bool within(uint64_t address, uint64_t size, uint64_t start, uint64_t length)
{
	return size <= length && address - start <= length - size;
}

static bool in_some_ram(uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < guest_map->count; i++) {
		const struct e820_entry *entry = &guest_map->entry[i];

		if (entry->type == E820_RAM && within(address, size, entry->base, entry->size))
			return true;
	}
	return false;
}

/* The overlay that any of [address, address+size) is in; NULL if there is none. */
static const struct overlay *overlay_at(uint64_t address, uint64_t size)
{
	for (const struct overlay *one = overlays; one < overlays + overlay_count; one++)
		if (address - one->start < one->size || one->start - address < size)
			return one;
	return NULL;
}

static const void *find_in_overlay(const struct overlay *one, uint64_t address, uint64_t size)
{
	if (!one->pages || !within(address, size, one->start, one->size))
		return NULL; /* a device; or no one pointer shows both */
	return one->pages + (address - one->start);
}

/* Nearly all that exits look at, and in no overlay: so it is found without a search. */
static bool in_main_ram(uint64_t address, uint64_t size)
{
	uint64_t offset = address - guest_main_ram.start;

	return offset <= guest_main_ram.last && size <= guest_main_ram.last + GUEST_WORD - offset;
}

const void *guest_memory_find(gpa_t address, uint64_t size)
{
	uint64_t start = address.raw;
	const struct overlay *one;

	if (in_main_ram(start, size))
		return guest_main_ram_at(start);
	one = overlay_at(start, size);
	if (one)
		return find_in_overlay(one, start, size);
	if (!within(start, size, LEGACY_ROM_START, LEGACY_ROM_SIZE) && !in_some_ram(start, size))
		return NULL;
	return within(start, size, 0, physmap_limit) ? phys_to_virt(hpa(start)) : NULL;
}

static uint64_t entry32(uint64_t table, unsigned int index)
{
	const uint32_t *entry = guest_memory_find(gpa(table + index * 4), 4);

	return entry ? *entry : 0;
}

static uint64_t entry64(uint64_t table, unsigned int index)
{
	const uint64_t *entry = guest_memory_find(gpa(table + index * 8), 8);

	return entry ? *entry : 0;
}

static int walk_32bit(const struct guest_paging *paging, uint32_t address, gpa_t *out)
{
	uint64_t entry = entry32(paging->cr3 & GUEST_PTE_FRAME, address >> 22);

	if (!(entry & GUEST_PTE_PRESENT))
		return -EFAULT;
	if ((entry & GUEST_PTE_LARGE) && (paging->cr4 & CR4_PSE)) {
		uint64_t high = (entry >> PSE_HIGH_BITS & 0xff) << 32;

		*out = gpa(high | align_down(entry, PSE_PAGE_SIZE) |
			   (address & (PSE_PAGE_SIZE - 1)));
		return 0;
	}
	entry = entry32(entry & GUEST_PTE_FRAME, address >> 12 & 0x3ff);
	if (!(entry & GUEST_PTE_PRESENT))
		return -EFAULT;
	*out = gpa((entry & GUEST_PTE_FRAME) | (address & (PAGE_SIZE - 1)));
	return 0;
}

/* Tables of 512 8-byte entries, the one named by table being of this level (1: PTEs). */
static int walk_64bit(uint64_t table, unsigned int level, uint64_t address, gpa_t *out)
{
	for (;; level--) {
		unsigned int shift = PAGE_SHIFT + 9 * (level - 1);
		uint64_t entry = entry64(table, address >> shift & 0x1ff);

		if (!(entry & GUEST_PTE_PRESENT))
			return -EFAULT;
		table = entry & GUEST_PTE_FRAME_64;
		if (level == 1 || (level <= 3 && (entry & GUEST_PTE_LARGE))) {
			uint64_t size = BIT(shift);

			*out = gpa(align_down(table, size) | (address & (size - 1)));
			return 0;
		}
	}
}

static int walk_pae(const struct guest_paging *paging, uint32_t address, gpa_t *out)
{
	uint64_t entry = entry64(paging->cr3 & GUEST_PDPT_PAE, address >> 30);

	if (!(entry & GUEST_PTE_PRESENT))
		return -EFAULT;
	return walk_64bit(entry & GUEST_PTE_FRAME_64, 2, address, out);
}

int guest_memory_translate(const struct guest_paging *paging, gva_t address, gpa_t *out)
{
	if (!(paging->cr0 & CR0_PG)) {
		*out = gpa(address.raw & UINT32_MAX);
		return 0;
	}
	if (!(paging->cr4 & CR4_PAE))
		return walk_32bit(paging, (uint32_t)address.raw, out);
	if (!(paging->efer & EFER_LMA))
		return walk_pae(paging, (uint32_t)address.raw, out);
	return walk_64bit(paging->cr3 & GUEST_PTE_FRAME_64, paging->cr4 & CR4_LA57 ? 5 : 4,
			  address.raw, out);
}

/* The piece of [address, address+*size) up to the page's end: where it is, and its size. */
static void *next_piece(const struct guest_paging *paging, gva_t address, uint64_t *size)
{
	gpa_t where;

	*size = min_u64(*size, PAGE_SIZE - (address.raw & (PAGE_SIZE - 1)));
	if (guest_memory_translate(paging, address, &where))
		return NULL;
	return (void *)guest_memory_find(where, *size);
}

int guest_memory_read(const struct guest_paging *paging, gva_t address, void *out, uint64_t size)
{
	uint8_t *to = out;

	while (size) {
		uint64_t piece = size;
		const void *from = next_piece(paging, address, &piece);

		if (!from)
			return -EFAULT;
		memcpy(to, from, piece);
		to += piece;
		size -= piece;
		address.raw += piece;
	}
	return 0;
}

int guest_memory_write(const struct guest_paging *paging, gva_t address, const void *data,
		       uint64_t size)
{
	const uint8_t *from = data;

	while (size) {
		uint64_t piece = size;
		void *to = next_piece(paging, address, &piece);

		if (!to)
			return -EFAULT;
		memcpy(to, from, piece);
		from += piece;
		size -= piece;
		address.raw += piece;
	}
	return 0;
}
