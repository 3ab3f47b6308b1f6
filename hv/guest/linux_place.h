/* SPDX-License-Identifier: GPL-2.0-only */
/* Where in memory a Linux guest's parts go, and in which order they get there. */
#ifndef VELLUM_GUEST_LINUX_PLACE_H
#define VELLUM_GUEST_LINUX_PLACE_H

#include "guest/e820.h"
#include "guest/linux_image.h"
#include "lib/types.h"

struct linux_range {
	uint64_t base; /* physical address */
	uint64_t size; /* bytes */
};

/* Each may overlap itself (memmove); done in order, none destroys a later one's source. */
struct linux_move {
	uint64_t to;
	uint64_t from;
	uint64_t size;
};

#define LINUX_MAX_MOVES 3

struct linux_layout {
	struct linux_range load;   /* the 32-bit part as in the file; entered at its base */
	struct linux_range run;	   /* what the kernel writes before it knows its memory */
	struct linux_range initrd; /* size 0: there is none */
	uint64_t low;		   /* a block below 640 KiB, page-aligned */
	unsigned int move_count;
	struct linux_move move[LINUX_MAX_MOVES];
};

/*
 * Lays out the kernel, the initrd (size 0: none; name for messages) and a block of
 * low_size bytes in map's RAM below limit, all of which is free but for the kernel's
 * and the initrd's present places. -E2BIG if something does not fit: the console
 * says what, its size, and what there is.
 */
int linux_place(const struct linux_image *image, struct linux_range initrd, struct word initrd_name,
		uint64_t low_size, const struct e820_map *map, uint64_t limit,
		struct linux_layout *layout);

#endif
