// SPDX-License-Identifier: GPL-2.0-only
#include "boot/multiboot2.h"

#include "boot/efi_tables.h"
#include "boot/loader_data.h"
#include "boot/multiboot2_format.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

#define WHO "multiboot2"

/* A tag that is known to lie in memory, whole. */
struct tag_place {
	struct multiboot2_tag head;
	uint64_t address;
};

/* Copies the tag's first size bytes. -EINVAL, with a message, if it has fewer. */
static int read_tag(void *dst, const struct tag_place *tag, uint64_t size)
{
	if (tag->head.size >= size)
		return loader_read(dst, tag->address, size);
	pr_error("multiboot2: the tag of type %u at %#llx has %u bytes, at least %llu needed",
		 tag->head.type, (unsigned long long)tag->address, tag->head.size,
		 (unsigned long long)size);
	return -EINVAL;
}

/* The string that starts offset bytes into the tag. */
static void read_string(char *dst, size_t size, const struct tag_place *tag, uint64_t offset,
			const char *what)
{
	loader_read_string(dst, size, tag->address + offset, tag->head.size - offset, WHO, what);
}

static int read_mmap(const struct tag_place *tag, struct e820_map *map)
{
	uint64_t next = tag->address + sizeof(struct multiboot2_mmap);
	uint64_t end = tag->address + tag->head.size;
	struct multiboot2_mmap mmap;
	int error = read_tag(&mmap, tag, sizeof(mmap));

	if (!error && mmap.entry_size < sizeof(struct multiboot2_mmap_entry)) {
		pr_error("multiboot2: the memory map's entries have %u bytes, at least %zu needed",
			 mmap.entry_size, sizeof(struct multiboot2_mmap_entry));
		error = -EINVAL;
	}
	for (; !error && end - next >= mmap.entry_size; next += mmap.entry_size) {
		struct multiboot2_mmap_entry entry;

		error = loader_read(&entry, next, sizeof(entry));
		if (!error)
			error = loader_add_range(map, entry.base, entry.length, entry.type, WHO);
	}
	return error;
}

static int read_module(const struct tag_place *tag, struct boot_info *boot)
{
	struct multiboot2_module source;
	struct boot_module *module = NULL;
	int error = read_tag(&source, tag, sizeof(source));

	if (!error)
		error = loader_add_module(boot, source.start, source.end, WHO, &module);
	if (module != NULL)
		read_string(module->string, sizeof(module->string), tag, sizeof(source),
			    "string of a module");
	return error;
}

static int read_framebuffer(const struct tag_place *tag, struct boot_framebuffer *fb)
{
	struct multiboot2_framebuffer source;

	/* Without the colours' places it is a text screen or has a palette */
	if (tag->head.size < sizeof(source) || loader_read(&source, tag->address, sizeof(source)) ||
	    source.type != MULTIBOOT2_FRAMEBUFFER_RGB)
		return 0;
	*fb = (struct boot_framebuffer){
		.address = source.address,
		.pitch = source.pitch,
		.width = source.width,
		.height = source.height,
		.bits_per_pixel = source.bits_per_pixel,
		.red_position = source.red_position,
		.red_size = source.red_size,
		.green_position = source.green_position,
		.green_size = source.green_size,
		.blue_position = source.blue_position,
		.blue_size = source.blue_size,
	};
	return 0;
}

static int read_system_table(const struct tag_place *tag, struct boot_info *boot)
{
	struct multiboot2_efi64 source;
	int error = read_tag(&source, tag, sizeof(source));

	if (error)
		return error;
	boot->efi.is_there = true;
	boot->efi.system_table = source.system_table;
	boot->rsdp = efi_find_rsdp(source.system_table);
	return 0;
}

static int read_efi_map(const struct tag_place *tag, struct boot_info *boot)
{
	struct multiboot2_efi_mmap source;
	int error = read_tag(&source, tag, sizeof(source));

	if (!error)
		efi_keep_map(&boot->efi, phys_to_virt(hpa(tag->address + sizeof(source))),
			     tag->head.size - sizeof(source), source.stride, source.version);
	return error;
}

static int read_known(const struct tag_place *tag, struct boot_info *boot)
{
	switch (tag->head.type) {
	case MULTIBOOT2_TAG_CMDLINE:
		read_string(boot->command_line, sizeof(boot->command_line), tag, sizeof(tag->head),
			    "command line");
		return 0;
	case MULTIBOOT2_TAG_LOADER_NAME:
		read_string(boot->loader, sizeof(boot->loader), tag, sizeof(tag->head),
			    "boot loader's name");
		return 0;
	case MULTIBOOT2_TAG_MODULE:
		return read_module(tag, boot);
	case MULTIBOOT2_TAG_MMAP:
		return read_mmap(tag, &boot->memory);
	case MULTIBOOT2_TAG_FRAMEBUFFER:
		return read_framebuffer(tag, &boot->framebuffer);
	case MULTIBOOT2_TAG_EFI64:
		return read_system_table(tag, boot);
	case MULTIBOOT2_TAG_EFI_MMAP:
		return read_efi_map(tag, boot);
	}
	return 0;
}

/* The tag at address; end: first address behind the information. */
static int find_tag(struct tag_place *tag, uint64_t address, uint64_t end)
{
	tag->address = address;
	if (address <= end && end - address >= sizeof(tag->head) &&
	    !loader_read(&tag->head, address, sizeof(tag->head)) &&
	    tag->head.size >= sizeof(tag->head) && tag->head.size <= end - address)
		return 0;
	pr_error("multiboot2: the tag at %#llx does not fit into the information, which ends at "
		 "%#llx",
		 (unsigned long long)address, (unsigned long long)end);
	return -EINVAL;
}

static int read_tags(uint64_t start, uint64_t end, struct boot_info *boot)
{
	struct tag_place tag;
	int error = find_tag(&tag, start, end);

	while (!error && tag.head.type != MULTIBOOT2_TAG_END) {
		error = read_known(&tag, boot);
		if (!error)
			error = find_tag(
				&tag, tag.address + align_up(tag.head.size, MULTIBOOT2_TAG_ALIGN),
				end);
	}
	return error;
}

int multiboot2_read(hpa_t address, struct boot_info *boot)
{
	struct multiboot2_info info;
	uint8_t last;
	int error;

	memset(boot, 0, sizeof(*boot));
	if (loader_read(&info, address.raw, sizeof(info)) != 0 ||
	    loader_read(&last, address.raw + info.total_size - 1, sizeof(last)) != 0) {
		pr_error("multiboot2: the boot information at %#llx is out of memory",
			 (unsigned long long)address.raw);
		return -EINVAL;
	}
	error = read_tags(address.raw + sizeof(info), address.raw + info.total_size, boot);
	return error ? error : loader_finish_map(&boot->memory, WHO);
}
