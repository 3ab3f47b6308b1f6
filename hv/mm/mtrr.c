/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/mtrr.h"
#include "lib/string.h"

#define FIXED_END (1 * MIB)
#define FIXED_64K (512 * KIB) /* where the 64 KiB ranges end */
#define FIXED_16K (768 * KIB) /* where the 16 KiB ranges end */

static unsigned int fixed_index(uint64_t address)
{
	if (address < FIXED_64K)
		return (unsigned int)(address / (64 * KIB));
	if (address < FIXED_16K)
		return 8 + (unsigned int)((address - FIXED_64K) / (16 * KIB));
	return 24 + (unsigned int)((address - FIXED_16K) / (4 * KIB));
}

/* UC wins over all, WT over WB; what the manual leaves open becomes UC. */
static enum memory_type combine(enum memory_type a, enum memory_type b)
{
	if (a == b)
		return a;
	if ((a == MEMORY_WT && b == MEMORY_WB) || (a == MEMORY_WB && b == MEMORY_WT))
		return MEMORY_WT;
	return MEMORY_UC;
}

static bool in_variable(const struct mtrr_state *mtrr, unsigned int i, uint64_t address)
{
	return (address & mtrr->variable[i].mask) ==
	       (mtrr->variable[i].base & mtrr->variable[i].mask);
}

enum memory_type mtrr_type(const struct mtrr_state *mtrr, uint64_t address)
{
	enum memory_type type = mtrr->default_type;
	bool found = false;

	if (!mtrr->enabled)
		return MEMORY_UC;
	if (mtrr->fixed_enabled && address < FIXED_END)
		return mtrr->fixed[fixed_index(address)];
	for (unsigned int i = 0; i < mtrr->variable_count; i++) {
		if (!in_variable(mtrr, i, address))
			continue;
		type = found ? combine(type, mtrr->variable[i].type) : mtrr->variable[i].type;
		found = true;
	}
	return type;
}

/*
 * A variable range divides the aligned block if its mask tells addresses apart that
 * lie within the block, and some of them match.
 */
static bool variable_divides(const struct mtrr_state *mtrr, unsigned int i, uint64_t base,
			     uint64_t size)
{
	uint64_t outer = mtrr->variable[i].mask & ~(size - 1);

	if (!(mtrr->variable[i].mask & (size - 1)))
		return false;
	return (base & outer) == (mtrr->variable[i].base & outer);
}

bool mtrr_is_uniform(const struct mtrr_state *mtrr, uint64_t base, uint64_t size)
{
	if (!mtrr->enabled)
		return true;
	if (mtrr->fixed_enabled && base < FIXED_END && size > PAGE_SIZE)
		return false;
	for (unsigned int i = 0; i < mtrr->variable_count; i++)
		if (variable_divides(mtrr, i, base, size))
			return false;
	return true;
}
