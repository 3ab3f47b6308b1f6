/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The headers by which a kernel says what it wants: "Multiboot Specification" 0.6.96,
 * section 3.1, and "Multiboot2 Specification" 2.0, section 3.1.
 */
#ifndef VELLUM_GUEST_MULTIBOOT_HEADER_H
#define VELLUM_GUEST_MULTIBOOT_HEADER_H

#include "lib/types.h"

/* ---- version 1 ---- */

#define MULTIBOOT1_SEARCH 8192 /* the header is within these bytes of the file */
#define MULTIBOOT1_ALIGN  4
#define MULTIBOOT1_MAGIC  0x1badb002u

#define MULTIBOOT1_PAGE_ALIGN  BIT(0)
#define MULTIBOOT1_MEMORY_INFO BIT(1)
#define MULTIBOOT1_VIDEO_MODE  BIT(2)
#define MULTIBOOT1_REQUIRED    0xffffu /* bits that a loader has to know */
#define MULTIBOOT1_ADDRESSES   BIT(16) /* the address fields are valid */

struct multiboot1_header {
	uint32_t magic, flags, checksum; /* their sum is 0 */
	uint32_t header_addr, load_addr, load_end_addr, bss_end_addr, entry_addr;
};

/* ---- version 2 ---- */

#define MULTIBOOT2_SEARCH	32768
#define MULTIBOOT2_ALIGN	8
#define MULTIBOOT2_MAGIC	0xe85250d6u
#define MULTIBOOT2_ARCHITECTURE 0 /* i386, 32-bit protected mode */

struct multiboot2_header {
	uint32_t magic, architecture, length, checksum; /* their sum is 0 */
};

#define MULTIBOOT2_HEADER_END	       0
#define MULTIBOOT2_HEADER_REQUEST      1
#define MULTIBOOT2_HEADER_ADDRESS      2
#define MULTIBOOT2_HEADER_ENTRY	       3
#define MULTIBOOT2_HEADER_CONSOLE      4
#define MULTIBOOT2_HEADER_FRAMEBUFFER  5
#define MULTIBOOT2_HEADER_MODULE_ALIGN 6
#define MULTIBOOT2_HEADER_EFI_SERVICES 7
#define MULTIBOOT2_HEADER_EFI_ENTRY_32 8
#define MULTIBOOT2_HEADER_EFI_ENTRY_64 9
#define MULTIBOOT2_HEADER_RELOCATABLE  10
#define MULTIBOOT2_HEADER_OPTIONAL     BIT(0) /* of flags: go on without it */
#define MULTIBOOT2_PREFER_HIGHEST      2

/* What each tag starts with; the next one starts at the next multiple of 8. */
struct multiboot2_header_tag {
	uint16_t type, flags;
	uint32_t size;
};

struct multiboot2_address_tag {
	struct multiboot2_header_tag tag;
	uint32_t header_addr, load_addr, load_end_addr, bss_end_addr;
};

struct multiboot2_entry_tag {
	struct multiboot2_header_tag tag;
	uint32_t entry_addr;
};

struct multiboot2_relocatable_tag {
	struct multiboot2_header_tag tag;
	uint32_t min_addr, max_addr; /* the lowest and the highest address that it may take */
	uint32_t align, preference;
};

#endif
