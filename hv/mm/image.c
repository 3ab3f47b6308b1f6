/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/image.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/page_table.h"
#include "mm/physmap.h"

#define BOOT_PHYSMAP_LIMIT (4 * GIB) /* long_mode.asm maps that much */
#define KEEP_ALIGN	   (2 * MIB)

extern const char image_text_end[], image_rodata_end[];
extern const char boot_start[], boot_end[];
extern const char boot_stack_guard[];

/*
 * image_switch.asm: copies the image, then makes root the page-table root. The copy
 * holds the stack as it was during the call, so nothing may run in between.
 */
void image_switch(void *to, const void *from, uint64_t size, uint64_t root);

uint64_t image_loaded_at; /* where boot_start really is: long_mode.asm */
uintptr_t physmap_base = PHYSMAP_BASE;
uint64_t physmap_limit = BOOT_PHYSMAP_LIMIT;

static struct page_table tables;

/* Where the image may not go: over itself, nor over what the boot loader brought. */
static int find_place(const struct boot_info *boot, uint64_t keep, uint64_t *base)
{
	static struct e820_map free;
	int error;

	free = boot->memory;
	error = e820_set_type(&free, image_loaded_at, (uintptr_t)boot_end - (uintptr_t)boot_start,
			      E820_RESERVED);
	for (unsigned int i = 0; i < boot->module_count && !error; i++)
		error = e820_set_type(&free, boot->module[i].start.raw, boot->module[i].size,
				      E820_RESERVED);
	if (error)
		return error;
	*base = e820_find_top(&free, keep, KEEP_ALIGN, 1 * MIB, 4 * GIB);
	return *base ? 0 : -ENOMEM;
}

static int map_part(const char *from, const char *to, uint64_t base, uint64_t flags)
{
	uint64_t offset = (uintptr_t)from - (uintptr_t)image_start;

	return page_table_map(&tables, (uintptr_t)from, (uintptr_t)to - (uintptr_t)from,
			      hpa(base + offset), PAGE_PRESENT | flags);
}

/* The image's parts with their rights; the page below the stack is left out. */
static int map_image(uint64_t base)
{
	const char *after_guard = boot_stack_guard + PAGE_SIZE;
	int error = map_part(image_start, image_text_end, base, 0);

	if (!error)
		error = map_part(image_text_end, image_rodata_end, base, PAGE_NX);
	if (!error)
		error = map_part(image_rodata_end, boot_stack_guard, base, PAGE_WRITE | PAGE_NX);
	if (!error)
		error = map_part(after_guard, image_end, base, PAGE_WRITE | PAGE_NX);
	return error;
}

static int build_tables(uint64_t base, uint64_t limit)
{
	int error = page_table_init(&tables, PAGE_PRESENT | PAGE_WRITE, cpu_largest_page());

	if (!error)
		error = page_table_map(&tables, PHYSMAP_BASE, limit, hpa(0),
				       PAGE_PRESENT | PAGE_WRITE | PAGE_NX);
	if (!error)
		error = map_image(base);
	if (!error) /* the text's other address is no way around its being read-only */
		error = page_table_map(&tables, PHYSMAP_BASE + base,
				       (uintptr_t)image_rodata_end - (uintptr_t)image_start,
				       hpa(base), PAGE_PRESENT | PAGE_NX);
	return error;
}

int image_move_to_top(const struct boot_info *boot, uint64_t keep, struct kept_memory *kept)
{
	uint64_t size = (uintptr_t)image_end - (uintptr_t)image_start;
	uint64_t limit = align_up(max_u64(e820_ram_end(&boot->memory), 4 * GIB), 1 * GIB);
	uint64_t base;

	if (find_place(boot, keep, &base)) {
		pr_error(
			"no place for Vellum: %lu MiB of free RAM in one piece below 4 GiB needed, "
			"%lu MiB of RAM in all",
			keep / MIB, (e820_ram_size(&boot->memory) / MIB));
		return -ENOMEM;
	}
	frames_init(hpa(base + size), hpa(base + keep));
	if (build_tables(base, limit))
		return -ENOMEM;
	*kept = (struct kept_memory){base, keep};
	physmap_limit = limit;
	image_switch(phys_to_virt(hpa(base)), image_start, size, tables.root.raw);
	return 0;
}

int image_map_identity(hpa_t page)
{
	return page_table_map(&tables, page.raw, PAGE_SIZE, page, PAGE_PRESENT);
}

int image_unmap(hpa_t page)
{
	return page_table_map(&tables, PHYSMAP_BASE + page.raw, PAGE_SIZE, hpa(0), 0);
}

uint64_t image_root(void)
{
	return tables.root.raw;
}
