/* SPDX-License-Identifier: GPL-2.0-only */
/* What a Multiboot kernel is told: the block at EBX, in either version's form. */
#ifndef VELLUM_GUEST_MULTIBOOT_INFO_H
#define VELLUM_GUEST_MULTIBOOT_INFO_H

#include "core/boot_info.h"
#include "guest/multiboot_kernel.h"
#include "guest/multiboot_place.h"
#include "lib/types.h"

/* All that goes into the block. */
struct multiboot_facts {
	const struct multiboot_kernel *kernel;
	const struct multiboot_layout *layout; /* the modules are in place, symbols too */
	const struct boot_info *boot;
	const struct e820_map *map; /* what the guest shall see */
	hpa_t rsdp;		    /* 0: there is none */
};

/* A GDT is at the block's start; the information, which EBX gets, behind it. */
#define MULTIBOOT_GDT_ENTRIES 3
#define MULTIBOOT_CODE	      0x08
#define MULTIBOOT_DATA	      0x10
#define MULTIBOOT_INFO_OFFSET 32

/* Text mode 3, which is what a kernel gets where the boot loader has left no other screen. */
#define MULTIBOOT_TEXT_ADDRESS 0xb8000
#define MULTIBOOT_TEXT_COLUMNS 80
#define MULTIBOOT_TEXT_LINES   25
#define MULTIBOOT_TEXT_PITCH   160
#define MULTIBOOT_TEXT_BITS    16

/* Bytes that are enough for the block of a kernel of either version. */
uint64_t multiboot_info_size(const struct multiboot_kernel *kernel);

/* Writes the block, GDT and all, at layout->info. */
void multiboot_info_write(const struct multiboot_facts *facts);

/* The versions' own parts of that: into the zeroed block behind the GDT. */
void multiboot1_info_write(const struct multiboot_facts *facts);
void multiboot2_info_write(const struct multiboot_facts *facts);

/* The name that the kernel gets for its boot loader: that of Vellum's own, if it has one. */
const char *multiboot_loader_name(const struct boot_info *boot);

#endif
