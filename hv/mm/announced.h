/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page tables that the guest has announced by VMI's AllocatePage (call 44) and not yet
 * released: it tells of their changes by calls. Tables below 4 GiB, where a guest of two levels
 * has all of them; others are not noted.
 */
#ifndef VELLUM_MM_ANNOUNCED_H
#define VELLUM_MM_ANNOUNCED_H

#include "lib/types.h"

#define ANNOUNCED_FRAMES BIT(20)

/* A bit for each frame. Once. -ENOMEM. */
int announced_init(void);

/* frame: guest-physical >> 12, any. */
void announced_add(uint64_t frame);
void announced_remove(uint64_t frame);
bool announced_has(uint64_t frame);

/* None is any more. */
void announced_forget(void);

#endif
