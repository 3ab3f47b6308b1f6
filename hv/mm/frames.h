/* SPDX-License-Identifier: GPL-2.0-only */
/* Vellum's own memory, page frame by page frame: what is kept behind the image. */
#ifndef VELLUM_MM_FRAMES_H
#define VELLUM_MM_FRAMES_H

#include "lib/types.h"

/*
 * Puts [start, end) under management, both page aligned. The bookkeeping is outside of
 * it; at most FRAMES_MAX frames are used.
 */
void frames_init(hpa_t start, hpa_t end);

#define FRAMES_MAX 8192

/*
 * count neighbouring frames, zeroed, at *frame; align in frames, a power of two.
 * -ENOMEM if there are none: prints how many were asked for and are free.
 */
int frames_allocate(unsigned int count, unsigned int align, hpa_t *frame);

/* One frame, zeroed, as a pointer; NULL (and a message) if there is none. */
void *frame_allocate(void);

void frames_free(hpa_t frame, unsigned int count);

unsigned int frames_free_count(void);

#endif
