/* SPDX-License-Identifier: GPL-2.0-only */
/* The VMI ROM among the machine's option ROMs: where it goes, and making a copy of it fit. */
#ifndef VELLUM_GUEST_OPTION_ROM_H
#define VELLUM_GUEST_OPTION_ROM_H

#include "core/cmdline.h"
#include "lib/types.h"
#include "vmi/vmi.h"

/* The ROM as it was built, embedded (option_rom_image.asm). Never changed: copy it. */
extern const uint8_t vmirom_start[], vmirom_end[];

/* Where guests look for the ROM. */
#define OPTION_ROM_AREA_BASE VMI_ROM_SCAN_START
#define OPTION_ROM_AREA_SIZE (VMI_ROM_SCAN_END - VMI_ROM_SCAN_START)

/*
 * Finds room for rom_size bytes (1 to OPTION_ROM_AREA_SIZE) in the option ROM area, of
 * which area shows all OPTION_ROM_AREA_SIZE bytes as the firmware left them. The slot
 * starts on a page of its own, so that backing it with a private copy hides nothing else
 * from the guest. -ENOMEM: there is no room; nothing is said about it.
 */
int option_rom_find_slot(const uint8_t *area, size_t rom_size, gpa_t *slot);

/* What a copy of the ROM is to be made fit for. */
struct option_rom_setup {
	enum option_vmi vmi;	  /* any but VMI_OFF */
	const uint8_t *hypercall; /* the processor's instruction, VMI_HYPERCALL_INSTRUCTION_SIZE */
	bool has_pages;		  /* the VMI_ROM_PAGES - 1 pages behind it are there */
	bool has_queue;		  /* so is VMI_ROM_QUEUE_PAGE: there are shadow page tables */
	bool apic_is_caught;	  /* a native write to the local APIC is an exit */
	const struct vmi_rom_time *time; /* NULL: no calls that have to do with time */
};

/*
 * Makes a copy of the ROM (size bytes at rom) ready for a guest: puts the hypercall
 * instruction and the time's figures in, sets get_reloc's answers as vmi says, and NONE for
 * calls that lack what they need, and the checksum. -ENOEXEC: not a ROM of ours, or damaged,
 * said what and where; -EINVAL: VMI_OFF has no ROM. The copy is unchanged then.
 */
int option_rom_prepare(uint8_t *rom, size_t size, const struct option_rom_setup *setup);

#endif
