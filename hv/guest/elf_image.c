// SPDX-License-Identifier: GPL-2.0-only
#include "guest/elf_image.h"

#include "debug/console.h"
#include "guest/elf_format.h"
#include "guest/module.h"
#include "lib/errno.h"
#include "lib/string.h"

/* What both classes say alike. */
struct tables {
	uint16_t machine;
	uint64_t entry;
	uint64_t segments_at, sections_at;
	uint32_t segment_size, segment_count;
	uint32_t section_size, section_count, section_names;
	bool wide;
};

static int damaged(struct word name, const char *what, uint64_t found)
{
	pr_error("kernel \"%.*s\" is damaged: %s (%#llx)", WORD_ARGS(name), what,
		 (unsigned long long)found);
	return -ENOEXEC;
}

bool elf_image_found(const struct boot_module *module)
{
	char magic[ELF_MAGIC_SIZE];

	return module_read(module, 0, magic, sizeof(magic)) &&
	       memcmp(magic, ELF_MAGIC, sizeof(magic)) == 0;
}

static bool read_tables32(const struct boot_module *module, struct tables *tables)
{
	struct elf32_header header;

	if (!module_read(module, 0, &header, sizeof(header)))
		return false;
	*tables = (struct tables){
		.machine = header.machine,
		.entry = header.entry,
		.segments_at = header.segments_at,
		.sections_at = header.sections_at,
		.segment_size = header.segment_size,
		.segment_count = header.segment_count,
		.section_size = header.section_size,
		.section_count = header.section_count,
		.section_names = header.section_names,
	};
	return true;
}

static bool read_tables64(const struct boot_module *module, struct tables *tables)
{
	struct elf64_header header;

	if (!module_read(module, 0, &header, sizeof(header)))
		return false;
	*tables = (struct tables){
		.machine = header.machine,
		.entry = header.entry,
		.segments_at = header.segments_at,
		.sections_at = header.sections_at,
		.segment_size = header.segment_size,
		.segment_count = header.segment_count,
		.section_size = header.section_size,
		.section_count = header.section_count,
		.section_names = header.section_names,
		.wide = true,
	};
	return true;
}

static int read_tables(const struct boot_module *module, struct word name, struct tables *tables)
{
	struct elf_ident ident;
	bool whole = module_read(module, 0, &ident, sizeof(ident));

	if (whole && ident.elf_class == ELF_CLASS_32)
		whole = read_tables32(module, tables);
	else if (whole && ident.elf_class == ELF_CLASS_64)
		whole = read_tables64(module, tables);
	else if (whole)
		return damaged(name, "neither a 32-bit nor a 64-bit ELF file", ident.elf_class);
	if (!whole)
		return damaged(name, "it ends inside its ELF header", module->size);
	if (ident.data == ELF_DATA_LITTLE &&
	    (tables->machine == ELF_MACHINE_386 || tables->machine == ELF_MACHINE_X86_64))
		return 0;
	pr_error("kernel \"%.*s\" is an ELF file for machine %u (byte order %u), %u (i386) or %u "
		 "(x86-64) needed",
		 WORD_ARGS(name), tables->machine, ident.data, ELF_MACHINE_386, ELF_MACHINE_X86_64);
	return -ENOEXEC;
}

static bool read_segment32(const struct boot_module *module, uint64_t at, uint32_t *type,
			   struct elf_load *load)
{
	struct elf32_segment segment;

	if (!module_read(module, at, &segment, sizeof(segment)))
		return false;
	*type = segment.type;
	*load = (struct elf_load){
		.offset = segment.offset,
		.file_size = segment.file_size,
		.base = segment.physical_address,
		.size = segment.memory_size,
		.virtual_base = segment.virtual_address,
	};
	return true;
}

static bool read_segment64(const struct boot_module *module, uint64_t at, uint32_t *type,
			   struct elf_load *load)
{
	struct elf64_segment segment;

	if (!module_read(module, at, &segment, sizeof(segment)))
		return false;
	*type = segment.type;
	*load = (struct elf_load){
		.offset = segment.offset,
		.file_size = segment.file_size,
		.base = segment.physical_address,
		.size = segment.memory_size,
		.virtual_base = segment.virtual_address,
	};
	return true;
}

static bool overlaps(const struct elf_load *a, const struct elf_load *b)
{
	return a->base < b->base + b->size && b->base < a->base + a->size;
}

static int refuse_segment(struct word name, const struct elf_load *load, const char *why)
{
	pr_error("kernel \"%.*s\" is damaged: the segment of %llu bytes (%llu in the file, at "
		 "%#llx) at %#llx %s",
		 WORD_ARGS(name), (unsigned long long)load->size,
		 (unsigned long long)load->file_size, (unsigned long long)load->offset,
		 (unsigned long long)load->base, why);
	return -ENOEXEC;
}

int elf_image_add(struct elf_image *image, const struct elf_load *load, uint64_t file_size,
		  struct word name)
{
	if (load->offset > file_size || load->file_size > file_size - load->offset)
		return refuse_segment(name, load, "ends outside the file");
	if (load->file_size > load->size)
		return refuse_segment(name, load, "is larger in the file than in memory");
	if (load->base >= 4 * GIB || load->size > 4 * GIB - load->base)
		return refuse_segment(name, load, "does not lie below 4 GiB");
	for (unsigned int i = 0; i < image->load_count; i++)
		if (overlaps(load, &image->load[i]))
			return refuse_segment(name, load, "overlaps another one");
	if (image->load_count == ELF_MAX_SEGMENTS) {
		pr_error("kernel \"%.*s\" has more than %d segments to load", WORD_ARGS(name),
			 ELF_MAX_SEGMENTS);
		return -ENOEXEC;
	}
	image->load[image->load_count++] = *load;
	return 0;
}

static int read_segment(const struct boot_module *module, struct word name,
			const struct tables *tables, uint32_t index, struct elf_image *image)
{
	uint64_t at = tables->segments_at + (uint64_t)index * tables->segment_size;
	struct elf_load load;
	uint32_t type;

	if (at < tables->segments_at || !(tables->wide ? read_segment64(module, at, &type, &load)
						       : read_segment32(module, at, &type, &load)))
		return damaged(name, "its program headers end outside the file", at);
	if (type != ELF_SEGMENT_LOAD || load.size == 0)
		return 0;
	return elf_image_add(image, &load, module->size, name);
}

static int read_segments(const struct boot_module *module, struct word name,
			 const struct tables *tables, struct elf_image *image)
{
	size_t least = tables->wide ? sizeof(struct elf64_segment) : sizeof(struct elf32_segment);
	int error = 0;

	if (tables->segment_count > 0 && tables->segment_size < least)
		return damaged(name, "its program headers are too short", tables->segment_size);
	for (uint32_t i = 0; i < tables->segment_count && !error; i++)
		error = read_segment(module, name, tables, i, image);
	if (!error && image->load_count == 0)
		return damaged(name, "it has no segment to load", tables->segment_count);
	return error;
}

/*
 * Most kernels link the entry at its virtual address, as GRUB wants it, some at its
 * physical one.
 */
static int find_entry(struct word name, uint64_t entry, struct elf_image *image)
{
	for (unsigned int i = 0; i < image->load_count; i++) {
		const struct elf_load *load = &image->load[i];

		if (entry - load->virtual_base < load->size) {
			image->entry = entry - load->virtual_base + load->base;
			return 0;
		}
	}
	for (unsigned int i = 0; i < image->load_count; i++) {
		image->entry = entry;
		if (entry - image->load[i].base < image->load[i].size)
			return 0;
	}
	return damaged(name, "its entry is in no segment", entry);
}

/* Sections are for symbols only: a file without sound ones runs all the same. */
static void find_sections(const struct boot_module *module, const struct tables *tables,
			  struct elf_sections *sections)
{
	size_t least = tables->wide ? sizeof(struct elf64_section) : sizeof(struct elf32_section);
	uint64_t size = (uint64_t)tables->section_size * tables->section_count;

	if (tables->section_size < least || tables->sections_at > module->size ||
	    size > module->size - tables->sections_at)
		return;
	*sections = (struct elf_sections){
		.offset = tables->sections_at,
		.count = tables->section_count,
		.entry_size = tables->section_size,
		.names = tables->section_names,
		.wide = tables->wide,
	};
}

int elf_image_read(const struct boot_module *module, struct word name, struct elf_image *image)
{
	struct tables tables = {0};
	int error;

	memset(image, 0, sizeof(*image));
	error = read_tables(module, name, &tables);
	if (!error)
		error = read_segments(module, name, &tables, image);
	if (!error)
		error = find_entry(name, tables.entry, image);
	if (error)
		return error;
	find_sections(module, &tables, &image->sections);
	return 0;
}

uint64_t elf_image_base(const struct elf_image *image)
{
	uint64_t base = UINT64_MAX;

	for (unsigned int i = 0; i < image->load_count; i++)
		base = min_u64(base, image->load[i].base);
	return base;
}

uint64_t elf_image_end(const struct elf_image *image)
{
	uint64_t end = 0;

	for (unsigned int i = 0; i < image->load_count; i++)
		end = max_u64(end, image->load[i].base + image->load[i].size);
	return end;
}

struct elf_section elf_section_read(const struct elf_sections *sections, const uint8_t *table,
				    uint32_t index)
{
	const uint8_t *entry = table + (size_t)index * sections->entry_size;
	struct elf32_section narrow;
	struct elf64_section wide;

	if (sections->wide) {
		memcpy(&wide, entry, sizeof(wide));
		return (struct elf_section){wide.type, wide.address, wide.offset, wide.size};
	}
	memcpy(&narrow, entry, sizeof(narrow));
	return (struct elf_section){narrow.type, narrow.address, narrow.offset, narrow.size};
}

void elf_section_move(const struct elf_sections *sections, uint8_t *table, uint32_t index,
		      uint64_t address)
{
	uint8_t *entry = table + (size_t)index * sections->entry_size;
	uint32_t narrow = (uint32_t)address;

	if (sections->wide)
		memcpy(entry + offsetof(struct elf64_section, address), &address, sizeof(address));
	else
		memcpy(entry + offsetof(struct elf32_section, address), &narrow, sizeof(narrow));
}
