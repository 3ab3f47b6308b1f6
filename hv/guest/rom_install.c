/* SPDX-License-Identifier: GPL-2.0-only */
#include "guest/rom_install.h"
#include "core/cpu.h"
#include "core/guest_space.h"
#include "core/smp.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "guest/option_rom.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/mtrr.h"
#include "mm/physmap.h"
#include "vmi/apic.h"
#include "vmi/calls.h"
#include "vmi/mmu.h"
#include "vmi/time.h"

static const uint8_t *installed;
static gpa_t installed_slot;

#define APIC_BASE_ADDRESS 0x000ffffffffff000ull

/*
 * The guest may map the window cached, as it maps the ROM; the MTRRs, which apply to where
 * the window leads, make it uncached all the same on AMD-V. EPT gets the type itself.
 */
static bool can_show_apic(void)
{
	struct mtrr_state mtrr;

	mtrr_read(&mtrr);
	return (rdmsr(MSR_APIC_BASE) & APIC_BASE_ADDRESS) == VMI_APIC_PAGE &&
	       mtrr_type(&mtrr, VMI_APIC_PAGE) == MEMORY_UC;
}

/* A slot for the ROM and the pages behind it, or at least for the ROM. */
static int find_slot(uint64_t size, struct option_rom_setup *setup, gpa_t *slot)
{
	const uint8_t *area = phys_to_virt(hpa(OPTION_ROM_AREA_BASE));

	bool apic = can_show_apic(), shadow = vendor->load_paging;

	setup->has_queue = apic && shadow &&
			   !option_rom_find_slot(area, (VMI_ROM_PAGES + 1) * PAGE_SIZE, slot);
	setup->has_pages = setup->has_queue ||
			   (apic && !option_rom_find_slot(area, VMI_ROM_PAGES * PAGE_SIZE, slot));
	return setup->has_pages ? 0 : option_rom_find_slot(area, size, slot);
}

static void note_iret(const uint8_t *rom)
{
	struct vmi_rom_private private;

	memcpy(&private, rom + VMI_ROM_PRIVATE_OFFSET, sizeof(private));
	vmi_iret_init(private.traced_iret,
		      private.trace_stubs + VMI_CALL_IRET * (uint32_t) private.trace_stub_size);
}

static void show_apic_base(uint8_t *data_page)
{
	vmi_apic_note_base(rdmsr(MSR_APIC_BASE));
	vmi_apic_set_data(data_page);
}

static int show_queue(gpa_t slot)
{
	void *queue = frame_allocate();

	if (!queue)
		return -ENOMEM;
	vmi_mmu_queue = queue;
	return guest_space_overlay(gpa(slot.raw + VMI_ROM_QUEUE_PAGE * PAGE_SIZE), PAGE_SIZE,
				   virt_to_phys(queue), MEMORY_WB);
}

/* The ROM, and what goes behind it. The size is a page, or seal.py had complained. */
static int show_pages(gpa_t slot, uint64_t size, const struct option_rom_setup *setup)
{
	unsigned int pages = setup->has_pages ? VMI_ROM_APIC_PAGE : 1;
	uint8_t *rom;
	hpa_t copy;
	int error = frames_allocate(pages, 1, &copy);

	if (error)
		return error;
	rom = phys_to_virt(copy);
	memcpy(rom, vmirom_start, size);
	error = option_rom_prepare(rom, size, setup);
	if (!error)
		note_iret(rom);
	if (!error)
		error = guest_space_overlay(slot, pages * PAGE_SIZE, copy, MEMORY_WB);
	installed = rom;
	installed_slot = slot;
	if (!error && setup->has_pages)
		show_apic_base(rom + VMI_ROM_DATA_PAGE * PAGE_SIZE);
	if (!error && setup->has_pages)
		error = guest_space_overlay(gpa(slot.raw + VMI_ROM_APIC_PAGE * PAGE_SIZE),
					    PAGE_SIZE, hpa(VMI_APIC_PAGE), MEMORY_UC);
	return !error && setup->has_queue ? show_queue(slot) : error;
}

int rom_install(enum option_vmi vmi, const uint8_t hypercall[3])
{
	uint64_t size = (uint64_t)(vmirom_end - vmirom_start);
	struct option_rom_setup setup = {
		.vmi = vmi,
		.hypercall = hypercall,
		.apic_is_caught = !vendor->init_exits && smp_guest_count() > 1,
	};
	struct vmi_rom_time time;
	gpa_t slot;

	if (vmi == VMI_OFF)
		return 0;
	if (find_slot(size, &setup, &slot)) {
		pr_warn("no VMI ROM: no free %lu bytes between %x and %x", size, VMI_ROM_SCAN_START,
			VMI_ROM_SCAN_END - 1);
		return 0;
	}
	if (!setup.has_pages)
		pr_warn("no VMI time and APIC calls: no %lu bytes free behind the ROM, or no local "
			"APIC at %x",
			(VMI_ROM_PAGES - 1) * PAGE_SIZE, VMI_APIC_PAGE);
	else if (!vmi_time_measure(&time))
		setup.time = &time;
	pr_info("VMI ROM of %lu bytes at %lx", size, slot.raw);
	return show_pages(slot, size, &setup);
}

const uint8_t *rom_installed(gpa_t *slot)
{
	*slot = installed_slot;
	return installed;
}
