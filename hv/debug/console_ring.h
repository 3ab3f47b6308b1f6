/* SPDX-License-Identifier: GPL-2.0-only */
/* What the console has said, kept in Vellum's own memory: no guest can lose it. */
#ifndef VELLUM_DEBUG_CONSOLE_RING_H
#define VELLUM_DEBUG_CONSOLE_RING_H

#include "lib/types.h"

#define CONSOLE_RING_SIZE (64 * 1024) /* bytes; the oldest go first */

void console_ring_add(const char *text);

/* Gives the last lines, at most so many, to put, in pieces. */
void console_ring_show(uint64_t lines, void (*put)(const char *text));

#endif
