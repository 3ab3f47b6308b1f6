// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_place.h"

#include "debug/console.h"
#include "guest/module.h"
#include "lib/errno.h"
#include "lib/string.h"

/* The real-mode vectors and the BIOS data area are below: they are for kernels that call it */
#define SEGMENT_FLOOR 0x500

#define INFO_FLOOR PAGE_SIZE
#define INFO_LIMIT (640 * KIB)
#define HIGH_FLOOR MIB

/* What is still free while the layout grows. */
struct room {
	struct e820_map free;
	uint64_t limit;
};

static int take(struct room *room, uint64_t base, uint64_t size)
{
	int error = e820_set_type(&room->free, base, size, E820_RESERVED);

	if (error)
		pr_error("guest: memory is in too many pieces: more than %d", E820_MAX_ENTRIES);
	return error;
}

/* UINT64_MAX: there is no room. */
static uint64_t find_high(const struct room *room, uint64_t size)
{
	return e820_find_bottom(&room->free, size, PAGE_SIZE, HIGH_FLOOR, room->limit);
}

/* ---- the kernel ---- */

static bool is_ram(const struct e820_map *map, uint64_t limit, uint64_t base, uint64_t size)
{
	return base >= SEGMENT_FLOOR && base < limit && size <= limit - base &&
	       e820_covers(map, base, size, E820_RAM);
}

/* The first segment that is not all in free RAM; NULL if all are. */
static const struct elf_load *find_misplaced(const struct elf_image *image,
					     const struct e820_map *map, uint64_t limit)
{
	for (unsigned int i = 0; i < image->load_count; i++)
		if (!is_ram(map, limit, image->load[i].base, image->load[i].size))
			return &image->load[i];
	return NULL;
}

static bool allows(const struct multiboot_relocation *relocation, uint64_t base, uint64_t size)
{
	return base >= relocation->lowest && is_aligned(base, relocation->align) &&
	       base < relocation->limit && size <= relocation->limit - base;
}

static int refuse_kernel(const struct multiboot_kernel *kernel, const struct elf_load *load,
			 const struct e820_map *map)
{
	pr_error("kernel \"%.*s\" needs %llu KiB of free RAM at %#llx; all RAM is %llu KiB, the "
		 "largest piece from 1 MiB on %llu KiB",
		 WORD_ARGS(kernel->name), (unsigned long long)(align_up(load->size, KIB) / KIB),
		 (unsigned long long)load->base, (unsigned long long)(e820_ram_size(map) / KIB),
		 (unsigned long long)(e820_largest_ram(map, MIB, 4 * GIB) / KIB));
	return -E2BIG;
}

/* Segments keep their distances: the whole range moves, with the holes in it. */
static int relocate(const struct multiboot_kernel *kernel, const struct room *room,
		    struct multiboot_layout *layout)
{
	const struct multiboot_relocation *rules = &kernel->relocation;
	uint64_t linked = elf_image_base(&kernel->image);
	uint64_t size = elf_image_end(&kernel->image) - linked;
	uint64_t floor = max_u64(rules->lowest, SEGMENT_FLOOR);
	uint64_t limit = min_u64(rules->limit, room->limit);
	uint64_t base = rules->highest
				? e820_find_top(&room->free, size, rules->align, floor, limit)
				: e820_find_bottom(&room->free, size, rules->align, floor, limit);

	if (base == 0 || base == UINT64_MAX) {
		pr_error("kernel \"%.*s\" needs %llu KiB of free RAM between %#llx and %#llx, "
			 "aligned to %#llx; all RAM is %llu KiB",
			 WORD_ARGS(kernel->name), (unsigned long long)(align_up(size, KIB) / KIB),
			 (unsigned long long)rules->lowest, (unsigned long long)rules->limit,
			 (unsigned long long)rules->align,
			 (unsigned long long)(e820_ram_size(&room->free) / KIB));
		return -E2BIG;
	}
	layout->load_offset = base - linked;
	return 0;
}

/* It stays where it is linked if it may and can. */
static int place_kernel(const struct multiboot_kernel *kernel, struct room *room,
			struct multiboot_layout *layout)
{
	const struct elf_image *image = &kernel->image;
	const struct elf_load *misplaced = find_misplaced(image, &room->free, room->limit);
	uint64_t base = elf_image_base(image);
	int error = 0;

	if (kernel->relocation.allowed &&
	    (misplaced || kernel->relocation.highest ||
	     !allows(&kernel->relocation, base, elf_image_end(image) - base)))
		error = relocate(kernel, room, layout);
	else if (misplaced)
		error = refuse_kernel(kernel, misplaced, &room->free);
	for (unsigned int i = 0; i < image->load_count && !error; i++)
		error = take(room, image->load[i].base + layout->load_offset, image->load[i].size);
	return error;
}

/* ---- its file and modules ---- */

static bool hits_kernel(const struct multiboot_kernel *kernel,
			const struct multiboot_layout *layout, const struct multiboot_file *file)
{
	for (unsigned int i = 0; i < kernel->image.load_count; i++) {
		const struct elf_load *load = &kernel->image.load[i];
		uint64_t base = load->base + layout->load_offset;

		if (file->from < base + load->size && base < file->from + file->size)
			return true;
	}
	return false;
}

/* Whether what the boot loader brought may stay where it is. */
static bool may_stay(const struct multiboot_kernel *kernel, const struct e820_map *map,
		     const struct room *room, const struct multiboot_layout *layout,
		     const struct multiboot_file *file)
{
	return file->size == 0 || (is_aligned(file->from, PAGE_SIZE) && file->from >= HIGH_FLOOR &&
				   is_ram(map, room->limit, file->from, file->size) &&
				   !hits_kernel(kernel, layout, file));
}

static int move_file(struct room *room, struct multiboot_file *file)
{
	file->to = find_high(room, file->size);
	if (file->to != UINT64_MAX)
		return take(room, file->to, file->size);
	pr_error("\"%.*s\" of %llu KiB does not fit beside the kernel and its other modules: give "
		 "the machine more memory",
		 WORD_ARGS(file->name), (unsigned long long)(align_up(file->size, KIB) / KIB));
	return -E2BIG;
}

/* All of their present places are taken first: nothing is moved onto what is still to move. */
static int place_files(const struct multiboot_kernel *kernel, const struct boot_info *boot,
		       const struct e820_map *map, struct room *room,
		       struct multiboot_layout *layout)
{
	int error = 0;

	layout->file_count = boot->module_count;
	for (unsigned int i = 0; i < layout->file_count && !error; i++) {
		const struct boot_module *module = &boot->module[i];

		layout->file[i] =
			(struct multiboot_file){module_file_name(module), module->start.raw,
						module->start.raw, module->size};
		error = take(room, module->start.raw, module->size);
	}
	for (unsigned int i = 0; i < layout->file_count && !error; i++)
		if (!may_stay(kernel, map, room, layout, &layout->file[i]))
			error = move_file(room, &layout->file[i]);
	return error;
}

/* ---- what is written for the kernel ---- */

static int place_info(uint64_t size, struct room *room, struct multiboot_layout *layout)
{
	layout->info = e820_find_top(&room->free, size, PAGE_SIZE, INFO_FLOOR, INFO_LIMIT);
	if (!layout->info)
		layout->info = find_high(room, size);
	if (layout->info != UINT64_MAX)
		return take(room, layout->info, size);
	pr_error("guest: no %llu bytes of RAM free for the kernel's boot information",
		 (unsigned long long)size);
	return -E2BIG;
}

static int place_symbols(const struct multiboot_kernel *kernel, uint64_t size, struct room *room,
			 struct multiboot_layout *layout)
{
	if (!size)
		return 0;
	layout->symbols = find_high(room, size);
	if (layout->symbols != UINT64_MAX)
		return take(room, layout->symbols, size);
	layout->symbols = 0;
	pr_warn("kernel \"%.*s\" gets no symbols: they take %llu KiB that are not free",
		WORD_ARGS(kernel->name), (unsigned long long)(align_up(size, KIB) / KIB));
	return 0;
}

int multiboot_place(const struct multiboot_kernel *kernel, const struct boot_info *boot,
		    uint64_t info_size, uint64_t symbols_size, const struct e820_map *map,
		    uint64_t limit, struct multiboot_layout *layout)
{
	static struct room room;
	int error;

	memset(layout, 0, sizeof(*layout));
	room = (struct room){*map, limit};
	error = place_kernel(kernel, &room, layout);
	if (!error)
		error = place_files(kernel, boot, map, &room, layout);
	if (!error)
		error = place_info(info_size, &room, layout);
	return error ? error : place_symbols(kernel, symbols_size, &room, layout);
}
