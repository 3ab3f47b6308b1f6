/* SPDX-License-Identifier: GPL-2.0-only */
/* What a segment register holds, and where it comes from: SDM volume 3A, 3.4.3, 3.4.5. */
#ifndef VELLUM_CORE_DESCRIPTOR_H
#define VELLUM_CORE_DESCRIPTOR_H

#include "lib/types.h"

#define DESCRIPTOR_G BIT(55)

/* access: bits 55:40 of a descriptor, less its limit; 0: not usable. */
struct guest_segment {
	uint16_t selector, access;
	uint32_t limit;
	uint64_t base;
};

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

/* Of a descriptor of 8 bytes. */
static inline struct guest_segment segment_in(uint64_t descriptor, uint16_t selector)
{
	return (struct guest_segment){
		.selector = selector,
		.access = descriptor_access(descriptor),
		.limit = descriptor_limit(descriptor),
		.base = descriptor_base(descriptor),
	};
}

#endif
