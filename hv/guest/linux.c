// SPDX-License-Identifier: GPL-2.0-only
#include "guest/linux.h"

#include "debug/console.h"
#include "dev/acpi.h"
#include "guest/linux_image.h"
#include "guest/linux_params.h"
#include "guest/linux_place.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "lib/words.h"
#include "mm/physmap.h"

#define KERNEL_MODULE 0
#define INITRD_MODULE 1
#define MODULES_USED  2

/* All that a 32-bit kernel is told of lies below it, and all that Vellum can write to. */
#define ADDRESS_LIMIT min_u64(4 * GIB, physmap_limit)

static const struct word unnamed = {"(unnamed)", sizeof("(unnamed)") - 1};

/* Moves *string, a module's, behind the name. */
static struct word module_name(const char **string)
{
	struct word name = word_file_name(string);

	return name.length > 0 ? name : unnamed;
}

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

static void warn_unused_modules(const struct boot_info *boot)
{
	for (unsigned int i = MODULES_USED; i < boot->module_count; i++) {
		const char *string = boot->module[i].string;
		struct word name = module_name(&string);

		pr_warn("module %u, \"%.*s\", is not used: module 0 is the kernel, module 1 its "
			"initrd",
			i, WORD_ARGS(name));
	}
}

/* Size 0 if there is none, or an empty one. */
static struct linux_range find_initrd(const struct boot_info *boot, struct word *name)
{
	const struct boot_module *module = &boot->module[INITRD_MODULE];
	const char *string = module->string;

	*name = unnamed;
	if (boot->module_count <= INITRD_MODULE)
		return (struct linux_range){0, 0};
	*name = module_name(&string);
	if (module->size == 0)
		pr_warn("initrd \"%.*s\" is empty (0 bytes): the kernel gets none",
			WORD_ARGS(*name));
	return (struct linux_range){module->start.raw, module->size};
}

static void move_all(const struct linux_layout *layout)
{
	for (unsigned int i = 0; i < layout->move_count; i++) {
		const struct linux_move *move = &layout->move[i];

		memmove(phys_to_virt(hpa(move->to)), phys_to_virt(hpa(move->from)), move->size);
	}
}

static bool is_64bit(const struct linux_setup_header *header)
{
	return header->version >= LINUX_PROTOCOL(2, 12) && (header->xloadflags & LINUX_XLF_64BIT);
}

static void fill_entry(struct guest_entry *entry, const struct linux_layout *layout)
{
	*entry = (struct guest_entry){
		.eip = (uint32_t)layout->load.base,
		.esi = (uint32_t)(layout->low + offsetof(struct linux_low, params)),
		.gdt_base = (uint32_t)(layout->low + offsetof(struct linux_low, gdt)),
		.gdt_limit = sizeof(((struct linux_low *)0)->gdt) - 1,
		.code_selector = LINUX_BOOT_CS,
		.data_selector = LINUX_BOOT_DS,
	};
}

static void report(const struct linux_image *image, const struct linux_layout *layout,
		   struct word initrd_name, const char *command_line)
{
	pr_info("kernel \"%.*s\", boot protocol %u.%02u, %llu bytes at %#llx",
		WORD_ARGS(image->name), image->header.version >> 8, image->header.version & 0xff,
		(unsigned long long)layout->load.size, (unsigned long long)layout->load.base);
	if (layout->initrd.size > 0)
		pr_info("initrd \"%.*s\", %llu bytes at %#llx", WORD_ARGS(initrd_name),
			(unsigned long long)layout->initrd.size,
			(unsigned long long)layout->initrd.base);
	pr_info("kernel command line: %s", command_line);
}

/* From here on nothing can fail: the boot loader's places of the modules are lost. */
static void put_in_place(const struct linux_image *image, const struct linux_layout *layout,
			 const struct boot_info *boot, const struct e820_map *map,
			 const char *command_line)
{
	move_all(layout);
	linux_write_low(phys_to_virt(hpa(layout->low)), image, layout, boot, map, command_line,
			acpi_find_rsdp());
}

int linux_load(const struct boot_info *boot, const struct e820_map *guest_map,
	       struct guest_entry *entry)
{
	const char *command_line = boot->module[KERNEL_MODULE].string;
	struct word name, initrd_name;
	struct linux_image image;
	struct linux_layout layout;
	struct linux_range initrd;
	int error;

	name = module_name(&command_line);
	command_line = skip_blanks(command_line);
	initrd = find_initrd(boot, &initrd_name);
	warn_unused_modules(boot);
	error = linux_image_read(&boot->module[KERNEL_MODULE], name, &image);
	if (!error)
		error = linux_place(&image, initrd, initrd_name, linux_low_size(boot, guest_map),
				    guest_map, ADDRESS_LIMIT, &layout);
	if (error)
		return error;
	put_in_place(&image, &layout, boot, guest_map, command_line);
	fill_entry(entry, &layout);
	entry->is_64bit = is_64bit(&image.header);
	report(&image, &layout, initrd_name, command_line);
	return 0;
}
