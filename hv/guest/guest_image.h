/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_GUEST_GUEST_IMAGE_H
#define VELLUM_GUEST_GUEST_IMAGE_H

#include "lib/types.h"

/*
 * The processor state at a guest's first instruction: 32-bit protected mode, paging
 * off, interrupts off, flat 4 GiB segments. Loaders fill it, and either the vendor's
 * vcpu or the native launch takes it.
 */
struct guest_entry {
	uint32_t eip;
	uint32_t esi;	   /* Linux: address of boot_params */
	uint32_t gdt_base; /* of a GDT in guest memory that holds the two selectors */
	uint16_t gdt_limit;
	uint16_t code_selector;
	uint16_t data_selector;
};

#endif
