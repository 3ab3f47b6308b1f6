// SPDX-License-Identifier: GPL-2.0-only
#include "boot/boot_params.h"

#include "boot/efi_tables.h"
#include "boot/loader_data.h"
#include "debug/console.h"
#include "guest/linux_boot.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/physmap.h"

#define WHO "boot_params"

#define LOADER_KEXEC 0xd

/* Those of boot.rst's type_of_loader that people meet; 0 ends the table. */
static const struct {
	uint8_t type;
	const char *name;
} loaders[] = {
	{0x1, "Loadlin"}, {0x3, "Syslinux"}, {0x4, "iPXE"},	      {0x7, "GRUB"},
	{0x9, "Xen"},	  {0xb, "QEMU"},     {LOADER_KEXEC, "kexec"}, {0, NULL},
};

static uint64_t join(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static void name_loader(uint8_t id, char *name, size_t size)
{
	unsigned int type = id >> 4;

	for (int i = 0; loaders[i].name != NULL; i++) {
		if (loaders[i].type == type) {
			string_copy(name, loaders[i].name, size);
			return;
		}
	}
	text_format(name, size, "a Linux boot loader, type %#x", id);
}

static int read_memory(const struct linux_boot_params *params, struct e820_map *map)
{
	unsigned int count = (unsigned int)min_u64(params->e820_entries, E820_MAX_ENTRIES);
	int error = 0;

	for (unsigned int i = 0; !error && i < count; i++) {
		const struct e820_entry *entry = &params->e820_table[i];

		error = loader_add_range(map, entry->base, entry->size, entry->type, WHO);
	}
	return error ? error : loader_finish_map(map, WHO);
}

static int read_initrd(const struct linux_boot_params *params, struct boot_info *boot)
{
	uint64_t start = join(params->header.ramdisk_image, params->ext_ramdisk_image);
	uint64_t size = join(params->header.ramdisk_size, params->ext_ramdisk_size);
	struct boot_module *module;

	if (start == 0 || size == 0)
		return 0;
	return loader_add_module(boot, start, start + size, WHO, &module);
}

static void read_framebuffer(struct linux_screen_info screen, struct boot_framebuffer *fb)
{
	if (screen.orig_video_is_vga != LINUX_VIDEO_VLFB &&
	    screen.orig_video_is_vga != LINUX_VIDEO_EFI)
		return;
	*fb = (struct boot_framebuffer){
		.address = join(screen.lfb_base, screen.capabilities & LINUX_VIDEO_64BIT_BASE
							 ? screen.ext_lfb_base
							 : 0),
		.pitch = screen.lfb_linelength,
		.width = screen.lfb_width,
		.height = screen.lfb_height,
		.bits_per_pixel = (uint8_t)screen.lfb_depth,
		.red_position = screen.red_pos,
		.red_size = screen.red_size,
		.green_position = screen.green_pos,
		.green_size = screen.green_size,
		.blue_position = screen.blue_pos,
		.blue_size = screen.blue_size,
	};
}

/* Linux has given UEFI other addresses before it starts another kernel by kexec. */
static bool is_kexec(const struct linux_boot_params *params)
{
	return params->header.type_of_loader >> 4 == LOADER_KEXEC;
}

static void read_efi(const struct linux_boot_params *params, struct boot_efi *efi)
{
	struct linux_efi_info info = params->efi_info;
	uint64_t map = join(info.memory_map, info.memory_map_high);

	efi->is_there = info.loader_signature == LINUX_EFI64_SIGNATURE;
	if (!efi->is_there)
		return;
	efi->system_table = join(info.system_table, info.system_table_high);
	if (is_kexec(params))
		pr_warn("boot_params: kexec leaves UEFI to the kernel before: the guest is told "
			"nothing of it");
	else if (map > physmap_limit || info.memory_map_size > physmap_limit - map)
		pr_warn("boot_params: UEFI's memory map at %#llx is out of reach: the guest is "
			"told "
			"nothing of UEFI",
			(unsigned long long)map);
	else
		efi_keep_map(efi, phys_to_virt(hpa(map)), info.memory_map_size,
			     info.memory_descriptor_size, info.memory_descriptor_version);
}

static hpa_t find_rsdp(const struct linux_boot_params *params)
{
	struct linux_efi_info efi = params->efi_info;

	if (params->acpi_rsdp_addr != 0)
		return hpa(params->acpi_rsdp_addr);
	if (efi.loader_signature != LINUX_EFI64_SIGNATURE)
		return hpa(0);
	return efi_find_rsdp(join(efi.system_table, efi.system_table_high));
}

int boot_params_read(hpa_t address, struct boot_info *boot)
{
	static struct linux_boot_params params;
	int error;

	memset(boot, 0, sizeof(*boot));
	if (loader_read(&params, address.raw, sizeof(params)) != 0 ||
	    params.header.header != LINUX_HEADER_MAGIC) {
		pr_error("boot_params: those at %#llx lack the header's \"HdrS\"",
			 (unsigned long long)address.raw);
		return -EINVAL;
	}
	name_loader(params.header.type_of_loader, boot->loader, sizeof(boot->loader));
	loader_read_string(boot->command_line, sizeof(boot->command_line),
			   join(params.header.cmd_line_ptr, params.ext_cmd_line_ptr), UINT64_MAX,
			   WHO, "command line");
	read_framebuffer(params.screen_info, &boot->framebuffer);
	read_efi(&params, &boot->efi);
	boot->rsdp = find_rsdp(&params);
	error = read_memory(&params, &boot->memory);
	return error ? error : read_initrd(&params, boot);
}
