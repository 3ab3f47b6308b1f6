// SPDX-License-Identifier: GPL-2.0-only
#include "boot/boot.h"

#include "boot/multiboot.h"
#include "boot/multiboot2.h"
#include "boot/multiboot2_format.h"
#include "boot/multiboot_format.h"
#include "debug/console.h"
#include "dev/acpi.h"
#include "lib/errno.h"

static int read_format(uint32_t magic, hpa_t info, struct boot_info *boot)
{
	switch (magic) {
	case MULTIBOOT_BOOTLOADER_MAGIC:
		return multiboot_read(info, boot);
	case MULTIBOOT2_BOOTLOADER_MAGIC:
		return multiboot2_read(info, boot);
	}
	pr_error("boot: the boot loader's magic is %#x, neither Multiboot's %#x nor Multiboot 2's "
		 "%#x",
		 magic, MULTIBOOT_BOOTLOADER_MAGIC, MULTIBOOT2_BOOTLOADER_MAGIC);
	return -EINVAL;
}

int boot_read(uint32_t magic, hpa_t info, struct boot_info *boot)
{
	int error = read_format(magic, info, boot);

	if (!error)
		acpi_set_rsdp(boot->rsdp);
	return error;
}
