// SPDX-License-Identifier: GPL-2.0-only
#include "boot/multiboot.h"

#include "boot/multiboot_format.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* Copies from physical memory. -EINVAL if not all of it is below physmap_limit. */
static int read_physical(void *dst, uint64_t address, uint64_t size)
{
	if (address > physmap_limit || size > physmap_limit - address)
		return -EINVAL;
	memcpy(dst, phys_to_virt(hpa(address)), size);
	return 0;
}

/* An address of 0 or out of physical memory gives "". what names the string in a warning. */
static void read_string(char *dst, size_t size, uint64_t address, const char *what)
{
	const char *src = phys_to_virt(hpa(address));
	size_t length;

	dst[0] = '\0';
	if (address == 0 || address >= physmap_limit)
		return;
	length = strnlen(src, min_u64(size, physmap_limit - address));
	if (length == size) {
		length = size - 1;
		pr_warn("multiboot: the %s is longer than %zu bytes and was cut", what, length);
	}
	memcpy(dst, src, length);
	dst[length] = '\0';
}

/* A full map gets a second chance: loaders split what normalizing joins. */
static int add_range(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type)
{
	int error = e820_add(map, base, size, type);

	if (error) {
		error = e820_normalize(map);
		if (!error)
			error = e820_add(map, base, size, type);
	}
	if (error)
		pr_error("multiboot: the memory map has more than %d ranges", E820_MAX_ENTRIES);
	return error ? -E2BIG : 0;
}

/* *next: in, where to read; out, behind the entry. end: first address behind the map. */
static int read_mmap_entry(struct e820_map *map, uint64_t *next, uint64_t end)
{
	struct multiboot_mmap_entry entry;
	uint64_t least = sizeof(entry) - sizeof(entry.size);

	if (end - *next < sizeof(entry) || read_physical(&entry, *next, sizeof(entry)) != 0) {
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
	return add_range(map, entry.base, entry.length, entry.type);
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
		error = add_range(map, 0, info->mem_lower * KIB, E820_RAM);
		if (!error)
			error = add_range(map, MIB, info->mem_upper * KIB, E820_RAM);
	} else {
		pr_error("multiboot: the boot loader gave no memory map (flags %#x)", info->flags);
		return -ENOENT;
	}
	return error ? error : e820_normalize(map);
}

static int check_memory(const struct e820_map *map)
{
	if (e820_ram_size(map) > 0)
		return 0;
	pr_error("multiboot: the memory map has no RAM in its %u ranges", map->count);
	return -ENOENT;
}

static int check_module(unsigned int index, const struct multiboot_module *module)
{
	if (module->mod_end < module->mod_start) {
		pr_error("multiboot: module %u ends at %#x, before its start at %#x", index,
			 module->mod_end, module->mod_start);
		return -EINVAL;
	}
	if (module->mod_end > physmap_limit) {
		pr_error("multiboot: module %u ends at %#x, beyond the memory mapped, %#llx", index,
			 module->mod_end, (unsigned long long)physmap_limit);
		return -EINVAL;
	}
	return 0;
}

static int read_module(unsigned int index, uint64_t address, struct boot_module *module)
{
	struct multiboot_module source;
	int error = read_physical(&source, address, sizeof(source));

	if (error) {
		pr_error("multiboot: the entry of module %u is out of memory, at %#llx", index,
			 (unsigned long long)address);
		return error;
	}
	error = check_module(index, &source);
	if (error)
		return error;
	module->start = hpa(source.mod_start);
	module->size = source.mod_end - source.mod_start;
	read_string(module->string, sizeof(module->string), source.string, "string of a module");
	return 0;
}

static int read_modules(const struct multiboot_info *info, struct boot_info *boot)
{
	uint32_t count = info->flags & MULTIBOOT_INFO_MODULES ? info->mods_count : 0;
	int error = 0;

	if (count > BOOT_MAX_MODULES) {
		pr_warn("multiboot: %u modules given, only the first %d are used", count,
			BOOT_MAX_MODULES);
		count = BOOT_MAX_MODULES;
	}
	for (unsigned int i = 0; !error && i < count; i++) {
		uint64_t address = info->mods_addr + i * sizeof(struct multiboot_module);

		error = read_module(i, address, &boot->module[i]);
	}
	boot->module_count = count;
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
		read_string(boot->command_line, sizeof(boot->command_line), info->cmdline,
			    "command line");
	if (info->flags & MULTIBOOT_INFO_LOADER_NAME)
		read_string(boot->loader, sizeof(boot->loader), info->boot_loader_name,
			    "boot loader's name");
}

int multiboot_read(uint32_t magic, hpa_t address, struct boot_info *boot)
{
	struct multiboot_info info;
	int error;

	memset(boot, 0, sizeof(*boot));
	if (magic != MULTIBOOT_BOOTLOADER_MAGIC) {
		pr_error("multiboot: the boot loader's magic is %#x, not %#x", magic,
			 MULTIBOOT_BOOTLOADER_MAGIC);
		return -EINVAL;
	}
	if (read_physical(&info, address.raw, sizeof(info)) != 0) {
		pr_error("multiboot: the boot information at %#llx is out of memory",
			 (unsigned long long)address.raw);
		return -EINVAL;
	}
	read_strings(&info, boot);
	read_framebuffer(&info, &boot->framebuffer);
	error = read_memory(&info, &boot->memory);
	if (!error)
		error = check_memory(&boot->memory);
	return error ? error : read_modules(&info, boot);
}
