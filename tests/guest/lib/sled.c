/* SPDX-License-Identifier: GPL-2.0-only */
#include "sled.h"
#include "guest.h"

#define PUSH_EDI 0x57
#define PUSHES	 16

struct sled sled_make(const uint8_t *instruction, unsigned int size)
{
	static const uint8_t end[] = {INT_DONE};
	struct sled sled = {.size = size + PUSHES + sizeof(end)};

	EXPECT(sled.size <= SLED_SIZE_MAX);
	memcpy(sled.bytes, instruction, size);
	memset(sled.bytes + size, PUSH_EDI, PUSHES);
	memcpy(sled.bytes + size + PUSHES, end, sizeof(end));
	return sled;
}

struct sled sled_cpuid(const uint8_t *prefixes, unsigned int count)
{
	uint8_t instruction[SLED_SIZE_MAX];

	memcpy(instruction, prefixes, count);
	instruction[count] = 0x0f;
	instruction[count + 1] = 0xa2;
	return sled_make(instruction, count + 2);
}

bool sled_done(const struct sled *sled, const struct state *end, uint64_t rip, uint64_t rsp,
	       unsigned int push_size)
{
	return end->vector == DONE && end->rip == rip + sled->size &&
	       end->rsp == rsp - PUSHES * push_size;
}
