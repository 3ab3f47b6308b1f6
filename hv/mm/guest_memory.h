/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only way to touch a guest's memory. Every address is checked: what Vellum hides,
 * what is no RAM, and what the guest's page tables don't map can't be reached.
 */
#ifndef VELLUM_MM_GUEST_MEMORY_H
#define VELLUM_MM_GUEST_MEMORY_H

#include "guest/e820.h"
#include "lib/types.h"

/* What decides how the guest's addresses translate (APM volume 2, chapter 5). */
struct guest_paging {
	uint64_t cr0, cr3, cr4, efer;
};

/*
 * Which guest-physical memory may be read: the RAM of map, which is the guest's own
 * view of it, and the BIOS area below 1 MiB. Keeps a pointer to map.
 */
void guest_memory_init(const struct e820_map *map);

#define OVERLAYS_MAX 4

/*
 * Notes that the guest finds pages instead of what is at the guest-physical addresses
 * [start, start+size): the option ROM's private copy. NULL: a device, which is no memory
 * to this file. -ENOMEM: too many.
 */
int guest_memory_overlay(gpa_t start, uint64_t size, const void *pages);

/* No overlay is left. */
void guest_memory_forget_overlays(void);

/*
 * Host pointer to size bytes at address; NULL if they are not RAM of the guest's, BIOS
 * area or overlay. For reading only.
 */
const void *guest_memory_find(gpa_t address, uint64_t size);

/*
 * Translates a linear address as the guest's paging mode does: none, 32-bit, PAE,
 * 4 and 5 levels. Checks presence, not permissions. -EFAULT if it is not mapped or
 * a table lies outside RAM.
 */
int guest_memory_translate(const struct guest_paging *paging, gva_t address, gpa_t *out);

/* Copies size bytes from a linear address; they may cross pages. -EFAULT. */
int guest_memory_read(const struct guest_paging *paging, gva_t address, void *out, uint64_t size);

/*
 * The same the other way, as the processor writes by itself: the page's write permission
 * does not matter. -EFAULT: a part may be written then.
 */
int guest_memory_write(const struct guest_paging *paging, gva_t address, const void *data,
		       uint64_t size);

#endif
