// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_info.h"

#include "boot/multiboot_format.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* The block as it fills up. */
struct block {
	uint64_t base, used;
};

/* The physical address of size bytes more. */
static uint32_t reserve(struct block *block, uint64_t size)
{
	uint64_t start = align_up(block->base + block->used, sizeof(uint64_t));

	block->used = start + size - block->base;
	return (uint32_t)start;
}

static uint32_t write_string(struct block *block, const char *text)
{
	size_t size = strlen(text) + 1;
	uint32_t at = reserve(block, size);

	memcpy(phys_to_virt(hpa(at)), text, size);
	return at;
}

static void write_memory(struct multiboot_info *info, struct block *block,
			 const struct e820_map *map)
{
	struct multiboot_mmap_entry *entry;

	info->flags |= MULTIBOOT_INFO_MEMORY | MULTIBOOT_INFO_MMAP;
	info->mem_lower = (uint32_t)(e820_ram_from(map, 0) / KIB);
	info->mem_upper = (uint32_t)(e820_ram_from(map, MIB) / KIB);
	info->mmap_length = map->count * (uint32_t)sizeof(*entry);
	info->mmap_addr = reserve(block, info->mmap_length);
	entry = phys_to_virt(hpa(info->mmap_addr));
	for (uint32_t i = 0; i < map->count; i++)
		entry[i] = (struct multiboot_mmap_entry){
			.size = sizeof(*entry) - sizeof(entry->size),
			.base = map->entry[i].base,
			.length = map->entry[i].size,
			.type = map->entry[i].type,
		};
}

/* All but the first, which is the kernel. */
static void write_modules(struct multiboot_info *info, struct block *block,
			  const struct multiboot_facts *facts)
{
	const struct multiboot_layout *layout = facts->layout;
	struct multiboot_module *module;

	info->flags |= MULTIBOOT_INFO_MODULES;
	info->mods_count = layout->file_count - 1;
	info->mods_addr = reserve(block, info->mods_count * sizeof(*module));
	module = phys_to_virt(hpa(info->mods_addr));
	for (uint32_t i = 0; i < info->mods_count; i++) {
		const struct multiboot_file *file = &layout->file[i + 1];

		module[i].mod_start = (uint32_t)file->to;
		module[i].mod_end = (uint32_t)(file->to + file->size);
		module[i].string = write_string(block, facts->boot->module[i + 1].string);
	}
}

static void write_symbols(struct multiboot_info *info, const struct multiboot_facts *facts)
{
	const struct elf_sections *sections = &facts->kernel->image.sections;

	if (!facts->layout->symbols)
		return;
	info->flags |= MULTIBOOT_INFO_SECTIONS;
	info->syms[0] = sections->count;
	info->syms[1] = sections->entry_size;
	info->syms[2] = (uint32_t)facts->layout->symbols;
	info->syms[3] = sections->names;
}

static void write_screen(struct multiboot_info *info, const struct boot_framebuffer *fb)
{
	info->flags |= MULTIBOOT_INFO_FRAMEBUFFER;
	if (fb->width == 0) {
		info->framebuffer_type = MULTIBOOT_FRAMEBUFFER_TEXT;
		info->framebuffer_addr = MULTIBOOT_TEXT_ADDRESS;
		info->framebuffer_pitch = MULTIBOOT_TEXT_PITCH;
		info->framebuffer_width = MULTIBOOT_TEXT_COLUMNS;
		info->framebuffer_height = MULTIBOOT_TEXT_LINES;
		info->framebuffer_bpp = MULTIBOOT_TEXT_BITS;
		return;
	}
	info->framebuffer_type = MULTIBOOT_FRAMEBUFFER_RGB;
	info->framebuffer_addr = fb->address;
	info->framebuffer_pitch = fb->pitch;
	info->framebuffer_width = fb->width;
	info->framebuffer_height = fb->height;
	info->framebuffer_bpp = fb->bits_per_pixel;
	info->red_position = fb->red_position;
	info->red_size = fb->red_size;
	info->green_position = fb->green_position;
	info->green_size = fb->green_size;
	info->blue_position = fb->blue_position;
	info->blue_size = fb->blue_size;
}

void multiboot1_info_write(const struct multiboot_facts *facts)
{
	struct block block = {facts->layout->info, MULTIBOOT_INFO_OFFSET};
	struct multiboot_info *info = phys_to_virt(hpa(reserve(&block, sizeof(*info))));

	write_memory(info, &block, facts->map);
	info->flags |= MULTIBOOT_INFO_CMDLINE | MULTIBOOT_INFO_LOADER_NAME;
	info->cmdline = write_string(&block, facts->boot->module[0].string);
	info->boot_loader_name = write_string(&block, multiboot_loader_name(facts->boot));
	write_modules(info, &block, facts);
	write_symbols(info, facts);
	write_screen(info, &facts->boot->framebuffer);
}
