/* SPDX-License-Identifier: GPL-2.0-only */
#include "guest/rom_install.h"
#include "core/guest_space.h"
#include "debug/console.h"
#include "guest/option_rom.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/physmap.h"

/* Whole pages: what shares them with the ROM is copied along. */
static int make_pages(gpa_t slot, uint64_t size, uint8_t **pages)
{
	uint64_t start = align_down(slot.raw, PAGE_SIZE);
	uint64_t end = align_up(slot.raw + size, PAGE_SIZE);
	hpa_t copy;
	int error = frames_allocate((unsigned int)((end - start) / PAGE_SIZE), 1, &copy);

	if (error)
		return error;
	*pages = phys_to_virt(copy);
	memcpy(*pages, phys_to_virt(hpa(start)), end - start);
	return 0;
}

static int place(gpa_t slot, uint64_t size, enum option_vmi vmi, const uint8_t hypercall[3])
{
	uint64_t start = align_down(slot.raw, PAGE_SIZE);
	uint8_t *pages, *rom;
	int error = make_pages(slot, size, &pages);

	if (error)
		return error;
	rom = pages + (slot.raw - start);
	memcpy(rom, vmirom_start, size);
	error = option_rom_prepare(rom, size, vmi, hypercall);
	if (error)
		return error;
	pr_info("VMI ROM of %lu bytes at %lx", size, slot.raw);
	return guest_space_overlay(gpa(start), align_up(slot.raw + size, PAGE_SIZE) - start,
				   virt_to_phys(pages), MEMORY_WB);
}

int rom_install(enum option_vmi vmi, const uint8_t hypercall[3])
{
	uint64_t size = (uint64_t)(vmirom_end - vmirom_start);
	gpa_t slot;

	if (vmi == VMI_OFF)
		return 0;
	if (option_rom_find_slot(phys_to_virt(hpa(OPTION_ROM_AREA_BASE)), size, &slot)) {
		pr_warn("no VMI ROM: no free %lu bytes between %x and %x", size, VMI_ROM_SCAN_START,
			VMI_ROM_SCAN_END - 1);
		return 0;
	}
	return place(slot, size, vmi, hypercall);
}
