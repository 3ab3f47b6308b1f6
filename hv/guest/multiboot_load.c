// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_load.h"

#include "boot/multiboot_format.h"
#include "debug/console.h"
#include "dev/acpi.h"
#include "guest/module.h"
#include "boot/multiboot2_format.h"
#include "guest/multiboot_info.h"
#include "guest/multiboot_kernel.h"
#include "guest/multiboot_place.h"
#include "guest/multiboot_symbols.h"
#include "lib/string.h"
#include "mm/physmap.h"

#define KERNEL 0 /* among the modules, and the layout's files */

/* All that a 32-bit kernel is told of lies below it, and all that Vellum can write to. */
#define ADDRESS_LIMIT min_u64(4 * GIB, physmap_limit)

static void move_files(const struct multiboot_layout *layout)
{
	for (unsigned int i = 0; i < layout->file_count; i++) {
		const struct multiboot_file *file = &layout->file[i];

		memmove(phys_to_virt(hpa(file->to)), phys_to_virt(hpa(file->from)), file->size);
	}
}

static void load_segments(const struct elf_image *image, const struct multiboot_layout *layout)
{
	uint64_t file = layout->file[KERNEL].to;

	for (unsigned int i = 0; i < image->load_count; i++) {
		const struct elf_load *load = &image->load[i];
		uint8_t *to = phys_to_virt(hpa(load->base + layout->load_offset));

		memcpy(to, phys_to_virt(hpa(file + load->offset)), load->file_size);
		memset(to + load->file_size, 0, load->size - load->file_size);
	}
}

static void write_symbols(const struct elf_image *image, const struct multiboot_layout *layout)
{
	const struct multiboot_file *file = &layout->file[KERNEL];
	struct boot_module module = {.start = hpa(file->to), .size = file->size};

	if (layout->symbols)
		multiboot_symbols_write(&module, &image->sections, layout->symbols,
					layout->load_offset);
}

static void fill_entry(struct guest_entry *entry, const struct multiboot_kernel *kernel,
		       const struct multiboot_layout *layout)
{
	*entry = (struct guest_entry){
		.eip = (uint32_t)(kernel->image.entry + layout->load_offset),
		.eax = kernel->version == 1 ? MULTIBOOT_BOOTLOADER_MAGIC
					    : MULTIBOOT2_BOOTLOADER_MAGIC,
		.ebx = (uint32_t)(layout->info + MULTIBOOT_INFO_OFFSET),
		.gdt_base = (uint32_t)layout->info,
		.gdt_limit = MULTIBOOT_GDT_ENTRIES * sizeof(uint64_t) - 1,
		.code_selector = MULTIBOOT_CODE,
		.data_selector = MULTIBOOT_DATA,
	};
}

static void report(const struct multiboot_kernel *kernel, const struct multiboot_layout *layout,
		   const char *command_line)
{
	const struct elf_image *image = &kernel->image;

	pr_info("kernel \"%.*s\", Multiboot %u, %u segments from %#llx to %#llx, entry %#llx",
		WORD_ARGS(kernel->name), kernel->version, image->load_count,
		(unsigned long long)(elf_image_base(image) + layout->load_offset),
		(unsigned long long)(elf_image_end(image) + layout->load_offset),
		(unsigned long long)(image->entry + layout->load_offset));
	for (unsigned int i = KERNEL + 1; i < layout->file_count; i++)
		pr_info("module \"%.*s\", %llu bytes at %#llx", WORD_ARGS(layout->file[i].name),
			(unsigned long long)layout->file[i].size,
			(unsigned long long)layout->file[i].to);
	pr_info("kernel command line: %s", command_line);
}

/* From here on nothing can fail: the boot loader's places of the modules are lost. */
static void put_in_place(const struct multiboot_facts *facts)
{
	move_files(facts->layout);
	load_segments(&facts->kernel->image, facts->layout);
	write_symbols(&facts->kernel->image, facts->layout);
	multiboot_info_write(facts);
}

int multiboot_load(const struct boot_info *boot, const struct e820_map *guest_map,
		   unsigned int version, struct guest_entry *entry)
{
	static struct multiboot_kernel kernel;
	static struct multiboot_layout layout;
	const struct boot_module *module = &boot->module[KERNEL];
	struct multiboot_facts facts = {&kernel, &layout, boot, guest_map, hpa(0)};
	int error = multiboot_kernel_read(module, module_file_name(module), version, &kernel);

	if (!error)
		error = multiboot_place(&kernel, boot, multiboot_info_size(&kernel),
					multiboot_symbols_size(module, &kernel.image.sections),
					guest_map, ADDRESS_LIMIT, &layout);
	if (error)
		return error;
	facts.rsdp = acpi_find_rsdp();
	put_in_place(&facts);
	fill_entry(entry, &kernel, &layout);
	report(&kernel, &layout, module->string);
	return 0;
}
