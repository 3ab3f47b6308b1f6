// SPDX-License-Identifier: GPL-2.0-only
#include "guest/disk.h"

#include "debug/console.h"
#include "guest/bios_page.h"
#include "lib/errno.h"
#include "mm/physmap.h"

static void fill_entry(struct guest_entry *entry, uint64_t page)
{
	const struct bios_page_data *data = bios_page_data(page);

	*entry = (struct guest_entry){
		.eip = (uint32_t)page,
		.esi = (uint32_t)page,
		.gdt_base = (uint32_t)virt_to_phys(data->gdt).raw,
		.gdt_limit = sizeof(data->gdt) - 1,
		.code_selector = BIOS_PAGE_CODE32,
		.data_selector = BIOS_PAGE_DATA32,
	};
}

int disk_load(const struct boot_info *boot, struct e820_map *map, unsigned int drive,
	      struct guest_entry *entry)
{
	uint64_t page;
	int error;

	if (!bios_is_there(boot)) {
		pr_error("guest=disk needs a BIOS to read the disk, and this machine has none: "
			 "give a kernel as module, or start the disk by its own boot loader");
		return -ENODEV;
	}
	error = bios_page_install(boot, map, &page);
	if (error)
		return error;
	bios_page_data(page)->drive = (uint8_t)drive;
	fill_entry(entry, page);
	pr_info("disk %xh, by the BIOS", drive);
	return 0;
}
