/* SPDX-License-Identifier: GPL-2.0-only */
/* Which leaves of CPUID need no look. */
#ifndef VELLUM_CORE_EXIT_CPUID_H
#define VELLUM_CORE_EXIT_CPUID_H

#include "core/cpu.h"

/*
 * The basic leaves that are not passed on as they are. Beside virtualization they lack
 * what writes to memory past the nested page tables (debug store, processor trace,
 * hardware feedback), and what a guest may only use with a control that Vellum does not
 * set or an exit that it does not know.
 */
#define FILTERED_BASIC_LEAVES                                               \
	(BIT(CPUID_FEATURES) | BIT(CPUID_THERMAL) | BIT(CPUID_STRUCTURED) | \
	 BIT(CPUID_PROCESSOR_TRACE))

/* A bit for each basic leaf that takes exit_cpuid(): all of them, if that is to see each exit. */
extern uint32_t exit_cpuid_filtered;

/* A cheap "yes" for most of the basic leaves: the guest sees what the processor says. */
static inline bool exit_cpuid_is_plain(uint32_t leaf)
{
	return leaf < 32 && !(exit_cpuid_filtered >> leaf & 1);
}

/* Once, before the guest runs: what the word cpuid= asks for, if this vendor can. */
void exit_cpuid_init(void);

#endif
