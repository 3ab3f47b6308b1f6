/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sled: one instruction under test, then 16 times PUSH EDI (one byte, in every mode),
 * then INT 80h. Who skips the instruction but gets its length wrong, lands in the middle
 * of the pushes, or makes the rest of it swallow some: their number and the final RIP
 * tell.
 */
#ifndef VELLUM_TESTS_GUEST_SLED_H
#define VELLUM_TESTS_GUEST_SLED_H

#include "run.h"

#define SLED_SIZE_MAX 64

struct sled {
	uint8_t bytes[SLED_SIZE_MAX];
	unsigned int size;
};

struct sled sled_make(const uint8_t *instruction, unsigned int size);

/* A sled of CPUID behind some prefixes. */
struct sled sled_cpuid(const uint8_t *prefixes, unsigned int count);

/* True if a run that started at rip with rsp went down the whole sled, push by push. */
bool sled_done(const struct sled *sled, const struct state *end, uint64_t rip, uint64_t rsp,
	       unsigned int push_size);

#endif
