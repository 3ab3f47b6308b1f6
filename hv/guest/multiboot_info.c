// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_info.h"

#include "guest/guest_image.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* Structures of fixed size: GDT, information or tags of it, and what strings need beside. */
#define FIXED_SIZE 1024

#define PER_RANGE  32 /* bytes that one more range, module or string needs, at most */
#define PER_MODULE 32

uint64_t multiboot_info_size(const struct multiboot_kernel *kernel)
{
	const struct elf_sections *sections = &kernel->image.sections;

	return FIXED_SIZE + E820_MAX_ENTRIES * PER_RANGE +
	       BOOT_MAX_MODULES * (PER_MODULE + BOOT_STRING_SIZE) + BOOT_LOADER_NAME_SIZE +
	       (uint64_t)sections->count * sections->entry_size;
}

const char *multiboot_loader_name(const struct boot_info *boot)
{
	return boot->loader[0] ? boot->loader : "Vellum";
}

void multiboot_info_write(const struct multiboot_facts *facts)
{
	uint64_t *gdt = phys_to_virt(hpa(facts->layout->info));

	memset(gdt, 0, multiboot_info_size(facts->kernel));
	gdt[MULTIBOOT_CODE / sizeof(uint64_t)] = GDT_FLAT_CODE;
	gdt[MULTIBOOT_DATA / sizeof(uint64_t)] = GDT_FLAT_DATA;
	if (facts->kernel->version == 1)
		multiboot1_info_write(facts);
	else
		multiboot2_info_write(facts);
}
