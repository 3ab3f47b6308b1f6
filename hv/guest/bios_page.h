/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guests that call the BIOS: code of Vellum's at the end of conventional memory, which
 * answers the calls that tell how much memory there is (INT 15h E820h, E801h, 88h) as the
 * guest's memory map says it. The BIOS does not know what Vellum keeps.
 */
#ifndef VELLUM_GUEST_BIOS_PAGE_H
#define VELLUM_GUEST_BIOS_PAGE_H

#include "core/boot_info.h"
#include "guest/e820.h"
#include "lib/types.h"

#define BIOS_PAGE_GDT_ENTRIES 5
#define BIOS_PAGE_CODE32      0x08
#define BIOS_PAGE_DATA32      0x10
#define BIOS_PAGE_CODE16      0x18 /* the page as a real-mode segment sees it */
#define BIOS_PAGE_DATA16      0x20

/* Behind the code, whose size is a multiple of 8; bios_page.asm has the offsets. */
struct bios_page_data {
	uint64_t gdt[BIOS_PAGE_GDT_ENTRIES];
	uint32_t bios_int15;	/* segment:offset of the BIOS's handler */
	uint16_t extended_kib;	/* INT 15h 88h: KiB from 1 MiB, at most 63 MiB */
	uint16_t below_16m_kib; /* E801h: KiB between 1 and 16 MiB */
	uint16_t above_16m_64k; /* E801h: 64 KiB units above 16 MiB */
	uint16_t range_count;
	uint8_t drive; /* of a guest from disk */
	uint8_t reserved[3];
	struct e820_entry range[E820_MAX_ENTRIES];
} __attribute__((packed));

_Static_assert(offsetof(struct bios_page_data, bios_int15) == 40, "bios_page.asm");
_Static_assert(offsetof(struct bios_page_data, extended_kib) == 44, "bios_page.asm");
_Static_assert(offsetof(struct bios_page_data, below_16m_kib) == 46, "bios_page.asm");
_Static_assert(offsetof(struct bios_page_data, above_16m_64k) == 48, "bios_page.asm");
_Static_assert(offsetof(struct bios_page_data, range_count) == 50, "bios_page.asm");
_Static_assert(offsetof(struct bios_page_data, drive) == 52, "bios_page.asm");
_Static_assert(offsetof(struct bios_page_data, range) == 56, "bios_page.asm");
_Static_assert(sizeof(struct e820_entry) == 20, "bios_page.asm");

extern const uint8_t bios_page[], bios_page_end[]; /* bios_page.asm */
extern const uint16_t bios_int15_offset;	   /* of the handler in the page */

/*
 * True if the firmware has left real-mode calls behind. Under UEFI it has not; a Multiboot 1
 * loader does not tell, and then the vectors have to look like a BIOS's.
 */
bool bios_is_there(const struct boot_info *boot);

/*
 * Puts the page where no module lies, into map as reserved, and before the BIOS. *page is
 * its physical address. -E2BIG, and nothing is changed, without room for it; the console
 * says so.
 */
int bios_page_install(const struct boot_info *boot, struct e820_map *map, uint64_t *page);

/* The data of an installed page. */
struct bios_page_data *bios_page_data(uint64_t page);

#endif
