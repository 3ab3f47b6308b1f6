// SPDX-License-Identifier: GPL-2.0-only
#include "boot/loader_data.h"

#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

int loader_read(void *dst, uint64_t address, uint64_t size)
{
	if (address > physmap_limit || size > physmap_limit - address)
		return -EINVAL;
	memcpy(dst, phys_to_virt(hpa(address)), size);
	return 0;
}

void loader_read_string(char *dst, size_t size, uint64_t address, uint64_t limit, const char *who,
			const char *what)
{
	const char *src = phys_to_virt(hpa(address));
	size_t length;

	dst[0] = '\0';
	if (address == 0 || address >= physmap_limit)
		return;
	limit = min_u64(limit, physmap_limit - address);
	length = strnlen(src, min_u64(size, limit));
	if (length == size) {
		length = size - 1;
		pr_warn("%s: the %s is longer than %zu bytes and was cut", who, what, length);
	}
	memcpy(dst, src, length);
	dst[length] = '\0';
}

int loader_add_range(struct e820_map *map, uint64_t base, uint64_t size, uint32_t type,
		     const char *who)
{
	int error = e820_add(map, base, size, type);

	if (error) {
		error = e820_normalize(map);
		if (!error)
			error = e820_add(map, base, size, type);
	}
	if (error)
		pr_error("%s: the memory map has more than %d ranges", who, E820_MAX_ENTRIES);
	return error ? -E2BIG : 0;
}

int loader_finish_map(struct e820_map *map, const char *who)
{
	if (e820_normalize(map)) {
		pr_error("%s: the memory map has more than %d ranges", who, E820_MAX_ENTRIES);
		return -E2BIG;
	}
	if (e820_ram_size(map) > 0)
		return 0;
	pr_error("%s: the memory map has no RAM in its %u ranges", who, map->count);
	return -ENOENT;
}

int loader_add_module(struct boot_info *boot, uint64_t start, uint64_t end, const char *who,
		      struct boot_module **module)
{
	unsigned int index = boot->module_count;

	*module = NULL;
	if (index == BOOT_MAX_MODULES) {
		pr_warn("%s: more than %d modules given, only the first %d are used", who,
			BOOT_MAX_MODULES, BOOT_MAX_MODULES);
		return 0;
	}
	if (end < start) {
		pr_error("%s: module %u ends at %#llx, before its start at %#llx", who, index,
			 (unsigned long long)end, (unsigned long long)start);
		return -EINVAL;
	}
	if (end > physmap_limit) {
		pr_error("%s: module %u ends at %#llx, beyond the memory mapped, %#llx", who, index,
			 (unsigned long long)end, (unsigned long long)physmap_limit);
		return -EINVAL;
	}
	*module = &boot->module[boot->module_count++];
	(*module)->start = hpa(start);
	(*module)->size = end - start;
	return 0;
}
