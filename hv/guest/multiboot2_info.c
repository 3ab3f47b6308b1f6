// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_info.h"

#include "dev/acpi_tables.h"
#include "boot/multiboot2_format.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* The tag at *next, size bytes with what follows its fields; moves *next behind it. */
static void *add_tag(uint8_t **next, uint32_t type, uint64_t size)
{
	struct multiboot2_tag *tag = (void *)*next;

	tag->type = type;
	tag->size = (uint32_t)size;
	*next += align_up(size, MULTIBOOT2_TAG_ALIGN);
	return tag;
}

static void add_string(uint8_t **next, uint32_t type, const char *text)
{
	size_t size = strlen(text) + 1;
	struct multiboot2_tag *tag = add_tag(next, type, sizeof(*tag) + size);

	memcpy(tag + 1, text, size);
}

static void add_modules(uint8_t **next, const struct multiboot_facts *facts)
{
	for (unsigned int i = 1; i < facts->layout->file_count; i++) {
		const struct multiboot_file *file = &facts->layout->file[i];
		const char *string = facts->boot->module[i].string;
		size_t size = strlen(string) + 1;
		struct multiboot2_module *module =
			add_tag(next, MULTIBOOT2_TAG_MODULE, sizeof(*module) + size);

		module->start = (uint32_t)file->to;
		module->end = (uint32_t)(file->to + file->size);
		memcpy(module + 1, string, size);
	}
}

static void add_memory(uint8_t **next, const struct e820_map *map)
{
	struct multiboot2_mmap_entry *entry;
	struct multiboot2_memory *memory = add_tag(next, MULTIBOOT2_TAG_MEMORY, sizeof(*memory));
	struct multiboot2_mmap *ranges =
		add_tag(next, MULTIBOOT2_TAG_MMAP, sizeof(*ranges) + map->count * sizeof(*entry));

	memory->lower = (uint32_t)(e820_ram_from(map, 0) / KIB);
	memory->upper = (uint32_t)(e820_ram_from(map, MIB) / KIB);
	ranges->entry_size = sizeof(*entry);
	entry = (void *)(ranges + 1);
	for (uint32_t i = 0; i < map->count; i++)
		entry[i] = (struct multiboot2_mmap_entry){
			.base = map->entry[i].base,
			.length = map->entry[i].size,
			.type = map->entry[i].type,
		};
}

static void add_text_screen(uint8_t **next)
{
	struct multiboot2_framebuffer *screen =
		add_tag(next, MULTIBOOT2_TAG_FRAMEBUFFER,
			offsetof(struct multiboot2_framebuffer, red_position));

	screen->address = MULTIBOOT_TEXT_ADDRESS;
	screen->pitch = MULTIBOOT_TEXT_PITCH;
	screen->width = MULTIBOOT_TEXT_COLUMNS;
	screen->height = MULTIBOOT_TEXT_LINES;
	screen->bits_per_pixel = MULTIBOOT_TEXT_BITS;
	screen->type = MULTIBOOT2_FRAMEBUFFER_TEXT;
}

static void add_screen(uint8_t **next, const struct boot_framebuffer *fb)
{
	struct multiboot2_framebuffer *screen;

	if (fb->width == 0) {
		add_text_screen(next);
		return;
	}
	screen = add_tag(next, MULTIBOOT2_TAG_FRAMEBUFFER, sizeof(*screen));
	screen->address = fb->address;
	screen->pitch = fb->pitch;
	screen->width = fb->width;
	screen->height = fb->height;
	screen->bits_per_pixel = fb->bits_per_pixel;
	screen->type = MULTIBOOT2_FRAMEBUFFER_RGB;
	screen->red_position = fb->red_position;
	screen->red_size = fb->red_size;
	screen->green_position = fb->green_position;
	screen->green_size = fb->green_size;
	screen->blue_position = fb->blue_position;
	screen->blue_size = fb->blue_size;
}

static void add_symbols(uint8_t **next, const struct multiboot_facts *facts)
{
	const struct elf_sections *from = &facts->kernel->image.sections;
	uint64_t size = (uint64_t)from->count * from->entry_size;
	struct multiboot2_sections *sections;

	if (!facts->layout->symbols)
		return;
	sections = add_tag(next, MULTIBOOT2_TAG_SECTIONS, sizeof(*sections) + size);
	sections->count = from->count;
	sections->entry_size = from->entry_size;
	sections->names = from->names;
	memcpy(sections + 1, phys_to_virt(hpa(facts->layout->symbols)), size);
}

/* A copy: the kernel may not reach the firmware's own yet. */
static void add_rsdp(uint8_t **next, hpa_t at)
{
	const struct acpi_rsdp *rsdp = phys_to_virt(at);
	bool has_xsdt = at.raw && rsdp->revision >= ACPI_RSDP_HAS_XSDT;
	uint32_t size = has_xsdt ? sizeof(*rsdp) : ACPI_RSDP_V1_SIZE;
	struct multiboot2_tag *tag;

	if (!at.raw)
		return;
	tag = add_tag(next, has_xsdt ? MULTIBOOT2_TAG_RSDP_NEW : MULTIBOOT2_TAG_RSDP_OLD,
		      sizeof(*tag) + size);
	memcpy(tag + 1, rsdp, size);
}

static void add_load_base(uint8_t **next, const struct multiboot_facts *facts)
{
	struct multiboot2_load_base *base;

	if (!facts->kernel->relocation.allowed)
		return;
	base = add_tag(next, MULTIBOOT2_TAG_LOAD_BASE, sizeof(*base));
	base->address =
		(uint32_t)(elf_image_base(&facts->kernel->image) + facts->layout->load_offset);
}

void multiboot2_info_write(const struct multiboot_facts *facts)
{
	struct multiboot2_info *info =
		phys_to_virt(hpa(facts->layout->info + MULTIBOOT_INFO_OFFSET));
	uint8_t *next = (void *)(info + 1);

	add_string(&next, MULTIBOOT2_TAG_CMDLINE, facts->boot->module[0].string);
	add_string(&next, MULTIBOOT2_TAG_LOADER_NAME, multiboot_loader_name(facts->boot));
	add_modules(&next, facts);
	add_memory(&next, facts->map);
	add_screen(&next, &facts->boot->framebuffer);
	add_symbols(&next, facts);
	add_rsdp(&next, facts->rsdp);
	add_load_base(&next, facts);
	add_tag(&next, MULTIBOOT2_TAG_END, sizeof(struct multiboot2_tag));
	info->total_size = (uint32_t)(next - (uint8_t *)info);
}
