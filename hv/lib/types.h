/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Base types. Addresses of different spaces are different C types, so that
 * handing a guest's address to code that wants a machine address won't compile.
 */
#ifndef VELLUM_LIB_TYPES_H
#define VELLUM_LIB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t raw;
} hpa_t; /* host-physical: what the machine's bus sees */

typedef struct {
	uint64_t raw;
} gpa_t; /* guest-physical: what the guest's page tables point at */

typedef struct {
	uint64_t raw;
} gva_t; /* guest-virtual: what the guest's instructions use */

static inline hpa_t hpa(uint64_t raw)
{
	return (hpa_t){raw};
}

static inline gpa_t gpa(uint64_t raw)
{
	return (gpa_t){raw};
}

static inline gva_t gva(uint64_t raw)
{
	return (gva_t){raw};
}

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

#define PAGE_SIZE  ((uint64_t)4096)
#define PAGE_SHIFT 12

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n)		  ((uint64_t)1 << (n))

/* align is a power of two */
static inline uint64_t align_down(uint64_t value, uint64_t align)
{
	return value & ~(align - 1);
}

static inline uint64_t align_up(uint64_t value, uint64_t align)
{
	return align_down(value + align - 1, align);
}

/* Whether the bits of a linear address above those that are translated repeat the highest of these.
 */
static inline bool is_canonical(uint64_t address, unsigned int bits)
{
	unsigned int above = 64 - bits;

	return (uint64_t)((int64_t)(address << above) >> above) == address;
}

static inline bool is_aligned(uint64_t value, uint64_t align)
{
	return (value & (align - 1)) == 0;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
