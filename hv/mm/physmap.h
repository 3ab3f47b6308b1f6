/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hypervisor's window on physical memory: all of it below physmap_limit is
 * mapped, writable and not executable, at physmap_base. The unit tests point
 * physmap_base at an arena of their own.
 */
#ifndef VELLUM_MM_PHYSMAP_H
#define VELLUM_MM_PHYSMAP_H

#include "lib/types.h"

#define PHYSMAP_BASE 0xffff800000000000ull

extern uintptr_t physmap_base;
extern uint64_t physmap_limit; /* first physical address that is not mapped */

static inline void *phys_to_virt(hpa_t address)
{
	return (void *)(physmap_base + address.raw);
}

static inline hpa_t virt_to_phys(const void *pointer)
{
	return hpa((uintptr_t)pointer - physmap_base);
}

#endif
