/* SPDX-License-Identifier: GPL-2.0-only */
/* Where Vellum itself lies in physical memory, and how it gets there. */
#ifndef VELLUM_MM_IMAGE_H
#define VELLUM_MM_IMAGE_H

#include "core/boot_info.h"
#include "lib/types.h"

/* What Vellum keeps for itself: the image, then the frames of frames.h; and more for shadows. */
#define IMAGE_KEEP_SIZE (8 * MIB)

/* Where it runs: the linker's symbols. */
extern const char image_start[], image_end[];

struct kept_memory {
	uint64_t base, size;
};

/*
 * Picks the highest free place of keep bytes (2 MiB aligned) below 4 GiB, moves the image there,
 * and goes on under page tables of its own: text read-only, data not executable, no low identity
 * mapping. -ENOMEM (with a message) if no RAM is free for it.
 */
int image_move_to_top(const struct boot_info *boot, uint64_t keep, struct kept_memory *kept);

/* Maps one page where its physical address is, executable, read-only. -ENOMEM. */
int image_map_identity(hpa_t page);

/* Takes one page out of the physmap; before another processor runs on these tables. -ENOMEM. */
int image_unmap(hpa_t page);

/* Physical address of the page-table root; below 4 GiB. */
uint64_t image_root(void);

#endif
