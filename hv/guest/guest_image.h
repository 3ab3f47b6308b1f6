/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_GUEST_IMAGE_H
#define VELLUM_GUEST_GUEST_IMAGE_H

#include "lib/types.h"

/* Present, ring 0, base 0, limit 4 GiB, 32-bit, accessed: SDM volume 3, 3.4.5 */
#define GDT_FLAT_CODE 0x00cf9b000000ffffull /* execute, read */
#define GDT_FLAT_DATA 0x00cf93000000ffffull /* read, write */

/*
 * The processor state at a guest's first instruction: 32-bit protected mode, paging
 * off, interrupts off, flat 4 GiB segments, registers that are not here 0. Loaders fill
 * it, and either the vendor's vcpu or the native launch takes it.
 */
struct guest_entry {
	uint32_t eip;
	uint32_t eax;	   /* Multiboot: its magic */
	uint32_t ebx;	   /* Multiboot: address of the information */
	uint32_t esi;	   /* Linux: address of boot_params */
	uint32_t gdt_base; /* of a GDT in guest memory that holds the two selectors */
	uint16_t gdt_limit;
	uint16_t code_selector;
	uint16_t data_selector;
	bool is_64bit; /* it is going to be 64-bit code, as far as the loader knows */
};

#endif
