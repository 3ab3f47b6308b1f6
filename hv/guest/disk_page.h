/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of disk_entry.asm in conventional memory. */
#ifndef VELLUM_GUEST_DISK_PAGE_H
#define VELLUM_GUEST_DISK_PAGE_H

#include "guest/e820.h"
#include "lib/types.h"

#define DISK_GDT_ENTRIES 5
#define DISK_CODE32	 0x08
#define DISK_DATA32	 0x10
#define DISK_CODE16	 0x18 /* the page as a real-mode segment sees it */
#define DISK_DATA16	 0x20

/* Behind the code, whose size is a multiple of 8; disk_entry.asm has the offsets. */
struct disk_data {
	uint64_t gdt[DISK_GDT_ENTRIES];
	uint32_t bios_int15;	/* segment:offset of the BIOS's handler */
	uint16_t extended_kib;	/* INT 15h 88h: KiB from 1 MiB, at most 63 MiB */
	uint16_t below_16m_kib; /* E801: KiB between 1 and 16 MiB */
	uint16_t above_16m_64k; /* E801: 64 KiB units above 16 MiB */
	uint16_t range_count;
	uint8_t drive;
	uint8_t reserved[3];
	struct e820_entry range[E820_MAX_ENTRIES];
} __attribute__((packed));

_Static_assert(offsetof(struct disk_data, bios_int15) == 40, "disk_entry.asm");
_Static_assert(offsetof(struct disk_data, extended_kib) == 44, "disk_entry.asm");
_Static_assert(offsetof(struct disk_data, below_16m_kib) == 46, "disk_entry.asm");
_Static_assert(offsetof(struct disk_data, above_16m_64k) == 48, "disk_entry.asm");
_Static_assert(offsetof(struct disk_data, range_count) == 50, "disk_entry.asm");
_Static_assert(offsetof(struct disk_data, drive) == 52, "disk_entry.asm");
_Static_assert(offsetof(struct disk_data, range) == 56, "disk_entry.asm");
_Static_assert(sizeof(struct e820_entry) == 20, "disk_entry.asm");

extern const uint8_t disk_entry[], disk_entry_end[]; /* disk_entry.asm */
extern const uint16_t disk_int15_offset;	     /* of the handler in the page */

#endif
