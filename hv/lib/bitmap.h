/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays of bits as the hardware's permission maps have them: bit n is in byte n / 8. */
#ifndef VELLUM_LIB_BITMAP_H
#define VELLUM_LIB_BITMAP_H

#include "lib/types.h"

static inline void bitmap_set(uint8_t *bitmap, unsigned int bit)
{
	bitmap[bit / 8] |= (uint8_t)BIT(bit % 8);
}

static inline void bitmap_clear(uint8_t *bitmap, unsigned int bit)
{
	bitmap[bit / 8] &= (uint8_t)~BIT(bit % 8);
}

#endif
