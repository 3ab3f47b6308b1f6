// SPDX-License-Identifier: GPL-2.0-only
#include "guest/loader.h"

#include "debug/console.h"
#include "guest/bios_page.h"
#include "guest/disk.h"
#include "guest/linux.h"
#include "guest/linux_boot.h"
#include "guest/module.h"
#include "guest/multiboot_kernel.h"
#include "guest/multiboot_load.h"
#include "lib/errno.h"

static bool is_bzimage(const struct boot_module *module)
{
	uint32_t magic;

	return module_read(module, LINUX_HEADER_AT(header), &magic, sizeof(magic)) &&
	       magic == LINUX_HEADER_MAGIC;
}

enum option_guest loader_guest_kind(const struct boot_info *boot, enum option_guest wish)
{
	const struct boot_module *module = &boot->module[0];

	if (wish != GUEST_AUTO)
		return wish;
	if (boot->module_count == 0 || is_bzimage(module))
		return GUEST_LINUX;
	if (multiboot_kernel_found(module, 2))
		return GUEST_MULTIBOOT2;
	return multiboot_kernel_found(module, 1) ? GUEST_MULTIBOOT : GUEST_LINUX;
}

static int check_modules(const struct boot_info *boot, enum option_guest kind)
{
	if (kind == GUEST_DISK && boot->module_count > 0)
		pr_warn("guest=disk: %u modules are not used", boot->module_count);
	if (kind == GUEST_DISK || boot->module_count > 0)
		return 0;
	pr_error("no kernel: 0 modules given, at least 1 needed; give the boot loader a bzImage or "
		 "a Multiboot kernel as first module, vellum.bin one as initrd or what make pack "
		 "writes, or Vellum the word guest=disk");
	return -ENOENT;
}

/*
 * Some kernels ask the BIOS for the memory map in spite of what they are told (Xen does).
 * The page is theirs also natively, so that both runs see one machine.
 */
static int load_multiboot(const struct boot_info *boot, struct e820_map *map, unsigned int version,
			  struct guest_entry *entry)
{
	uint64_t page;
	int error = bios_is_there(boot) ? bios_page_install(boot, map, &page) : 0;

	return error ? error : multiboot_load(boot, map, version, entry);
}

int loader_load(const struct boot_info *boot, const struct e820_map *guest_map, unsigned int disk,
		enum option_guest kind, struct guest_entry *entry)
{
	static struct e820_map map;
	int error = check_modules(boot, kind);

	if (error)
		return error;
	map = *guest_map;
	switch (kind) {
	case GUEST_DISK:
		return disk_load(boot, &map, disk, entry);
	case GUEST_MULTIBOOT:
		return load_multiboot(boot, &map, 1, entry);
	case GUEST_MULTIBOOT2:
		return load_multiboot(boot, &map, 2, entry);
	default:
		return linux_load(boot, &map, entry);
	}
}
