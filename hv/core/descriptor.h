/* SPDX-License-Identifier: GPL-2.0-only */
/* What a segment descriptor of 8 bytes holds, put together: SDM volume 3A, 3.4.5. */
#ifndef VELLUM_CORE_DESCRIPTOR_H
#define VELLUM_CORE_DESCRIPTOR_H

#include "lib/types.h"

#define DESCRIPTOR_G BIT(55)

static inline uint32_t descriptor_base(uint64_t descriptor)
{
	return (uint32_t)(descriptor >> 16 & 0xffffff) | (uint32_t)(descriptor >> 56) << 24;
}

/* In bytes, less one. */
static inline uint32_t descriptor_limit(uint64_t descriptor)
{
	uint32_t limit = (uint32_t)(descriptor & 0xffff) | (uint32_t)(descriptor >> 32 & 0xf0000);

	return descriptor & DESCRIPTOR_G ? limit << 12 | 0xfff : limit;
}

/* Bits 55:40, but for the four limit bits. */
static inline uint16_t descriptor_access(uint64_t descriptor)
{
	return (uint16_t)(descriptor >> 40 & 0xf0ff);
}

#endif
