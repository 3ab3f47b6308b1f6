// SPDX-License-Identifier: GPL-2.0-only
#include "boot/multiboot.h"

#include "boot/loader_data.h"
#include "boot/multiboot_format.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"

#define WHO "multiboot"

/* *next: in, where to read; out, behind the entry. end: first address behind the map. */
static int read_mmap_entry(struct e820_map *map, uint64_t *next, uint64_t end)
{
	struct multiboot_mmap_entry entry;
	uint64_t least = sizeof(entry) - sizeof(entry.size);

	if (end - *next < sizeof(entry) || loader_read(&entry, *next, sizeof(entry)) != 0) {
		pr_error("multiboot: the memory map entry at %#llx ends outside the map",
			 (unsigned long long)*next);
		return -EINVAL;
	}
	if (entry.size < least) {
		pr_error(
			"multiboot: the memory map entry at %#llx has %u bytes, at least %u needed",
			(unsigned long long)*next, entry.size, (unsigned int)least);
		return -EINVAL;
	}
	*next += sizeof(entry.size) + entry.size;
	return loader_add_range(map, entry.base, entry.length, entry.type, WHO);
}

static int read_mmap(struct e820_map *map, uint64_t start, uint64_t length)
{
	uint64_t next = start;
	uint64_t end = start + length;
	int error = 0;

	while (!error && next < end)
		error = read_mmap_entry(map, &next, end);
	return error;
}

static int read_memory(const struct multiboot_info *info, struct e820_map *map)
{
	int error;

	if (info->flags & MULTIBOOT_INFO_MMAP) {
		error = read_mmap(map, info->mmap_addr, info->mmap_length);
	} else if (info->flags & MULTIBOOT_INFO_MEMORY) {
		error = loader_add_range(map, 0, info->mem_lower * KIB, E820_RAM, WHO);
		if (!error)
			error = loader_add_range(map, MIB, info->mem_upper * KIB, E820_RAM, WHO);
	} else {
		pr_error("multiboot: the boot loader gave no memory map (flags %#x)", info->flags);
		return -ENOENT;
	}
	return error ? error : loader_finish_map(map, WHO);
}

static int read_module(unsigned int index, uint64_t address, struct boot_info *boot)
{
	struct multiboot_module source;
	struct boot_module *module;
	int error = loader_read(&source, address, sizeof(source));

	if (error) {
		pr_error("multiboot: the entry of module %u is out of memory, at %#llx", index,
			 (unsigned long long)address);
		return error;
	}
	error = loader_add_module(boot, source.mod_start, source.mod_end, WHO, &module);
	if (!error && module != NULL)
		loader_read_string(module->string, sizeof(module->string), source.string,
				   UINT64_MAX, WHO, "string of a module");
	return error;
}

static int read_modules(const struct multiboot_info *info, struct boot_info *boot)
{
	uint32_t count = info->flags & MULTIBOOT_INFO_MODULES ? info->mods_count : 0;
	int error = 0;

	/* One too many is enough for the warning */
	for (unsigned int i = 0; !error && i < count && i <= BOOT_MAX_MODULES; i++) {
		uint64_t address = info->mods_addr + i * sizeof(struct multiboot_module);

		error = read_module(i, address, boot);
	}
	return error;
}

static void read_framebuffer(const struct multiboot_info *info, struct boot_framebuffer *fb)
{
	if (!(info->flags & MULTIBOOT_INFO_FRAMEBUFFER) ||
	    info->framebuffer_type != MULTIBOOT_FRAMEBUFFER_RGB)
		return;
	*fb = (struct boot_framebuffer){
		.address = info->framebuffer_addr,
		.pitch = info->framebuffer_pitch,
		.width = info->framebuffer_width,
		.height = info->framebuffer_height,
		.bits_per_pixel = info->framebuffer_bpp,
		.red_position = info->red_position,
		.red_size = info->red_size,
		.green_position = info->green_position,
		.green_size = info->green_size,
		.blue_position = info->blue_position,
		.blue_size = info->blue_size,
	};
}

static void read_strings(const struct multiboot_info *info, struct boot_info *boot)
{
	if (info->flags & MULTIBOOT_INFO_CMDLINE)
		loader_read_string(boot->command_line, sizeof(boot->command_line), info->cmdline,
				   UINT64_MAX, WHO, "command line");
	if (info->flags & MULTIBOOT_INFO_LOADER_NAME)
		loader_read_string(boot->loader, sizeof(boot->loader), info->boot_loader_name,
				   UINT64_MAX, WHO, "boot loader's name");
}

int multiboot_read(hpa_t address, struct boot_info *boot)
{
	struct multiboot_info info;
	int error;

	memset(boot, 0, sizeof(*boot));
	if (loader_read(&info, address.raw, sizeof(info)) != 0) {
		pr_error("multiboot: the boot information at %#llx is out of memory",
			 (unsigned long long)address.raw);
		return -EINVAL;
	}
	read_strings(&info, boot);
	read_framebuffer(&info, &boot->framebuffer);
	error = read_memory(&info, &boot->memory);
	return error ? error : read_modules(&info, boot);
}
