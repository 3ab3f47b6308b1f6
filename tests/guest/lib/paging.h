/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables. Each mode maps the first 4 GiB where they are, for CPL 3 as well, but
 * for a window whose 4 KiB pages a test maps as it likes.
 */
#ifndef VELLUM_TESTS_GUEST_PAGING_H
#define VELLUM_TESTS_GUEST_PAGING_H

#include "lib/types.h"

enum paging {
	PAGING_4M,  /* 32-bit, large pages */
	PAGING_4K,  /* 32-bit, 4 KiB pages up to 4 MiB, where all code and data is */
	PAGING_PAE, /* 2 MiB pages */
};

#define WINDOW	     0x40000000u /* no RAM there, and no device */
#define WINDOW_PAGES 512u

void paging_on(enum paging paging);
void paging_off(void);

/*
 * Maps page number page of the window, in every mode (with 32-bit paging only below
 * 4 GiB). Takes effect at once; with paging off, at paging_on() or run64().
 */
void paging_map_window(unsigned int page, uint64_t physical);

/* Where the entry of a page of the window is in this mode, for those who write it themselves. */
void *paging_window_entry(enum paging paging, unsigned int page);

/* The entry of the directory for a linear address, for those who hang a table or a large page in. */
void *paging_directory_entry(enum paging paging, uint32_t address);

/* From here on CPL 3 reaches the window only. */
void paging_hide_from_user(void);

/*
 * From here on the first LINEAR_SIZE bytes are also at PAGE_OFFSET, for CPL 0, in every mode:
 * Linux' linear mapping, through which it runs the ROM.
 */
#define PAGE_OFFSET 0xc0000000u
#define LINEAR_SIZE 0x04000000u /* all of the machine's RAM */
void paging_map_linear(void);

/* CR3 for long mode: the same linear addresses as PAGING_PAE. */
uint32_t paging_long_root(void);

#endif
