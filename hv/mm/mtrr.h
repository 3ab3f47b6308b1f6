/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory types by physical address, as the firmware set them (APM volume 2, 7.7). */
#ifndef VELLUM_MM_MTRR_H
#define VELLUM_MM_MTRR_H

#include "lib/types.h"

enum memory_type {
	MEMORY_UC = 0,
	MEMORY_WC = 1,
	MEMORY_WT = 4,
	MEMORY_WP = 5,
	MEMORY_WB = 6,
};

#define MTRR_VARIABLE_MAX 32
#define MTRR_FIXED_COUNT  88 /* 8 of 64 KiB, 16 of 16 KiB, 64 of 4 KiB: the first MiB */

struct mtrr_state {
	bool enabled, fixed_enabled;
	enum memory_type default_type;
	uint8_t fixed[MTRR_FIXED_COUNT];
	unsigned int variable_count;
	struct {
		uint64_t base, mask;
		enum memory_type type;
	} variable[MTRR_VARIABLE_MAX];
};

/* This processor's MTRRs. Without any, all memory is write-back to the hypervisor. */
void mtrr_read(struct mtrr_state *mtrr);

/* Calls visit for each MTRR of this processor that holds a type or a range. */
void mtrr_for_each(void (*visit)(uint32_t msr));

/* True if msr is one of those. */
bool mtrr_is_one(uint32_t msr);

/* The type of one physical address; overlapping ranges combine as APM 7.7.2 says. */
enum memory_type mtrr_type(const struct mtrr_state *mtrr, uint64_t address);

/*
 * True if all of [base, base+size) has one type. size is a power of two, base aligned
 * to it.
 */
bool mtrr_is_uniform(const struct mtrr_state *mtrr, uint64_t base, uint64_t size);

#endif
