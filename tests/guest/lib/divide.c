/* SPDX-License-Identifier: GPL-2.0-only */
/* 64-bit division, which gcc -m32 takes from libgcc; there is none here. Bit by bit. */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t value, uint64_t by, uint64_t *rest);
uint64_t __udivdi3(uint64_t value, uint64_t by);
uint64_t __umoddi3(uint64_t value, uint64_t by);

uint64_t __udivmoddi4(uint64_t value, uint64_t by, uint64_t *rest)
{
	uint64_t quotient = 0, remainder = 0;

	for (int bit = 63; bit >= 0; bit--) {
		remainder = remainder << 1 | (value >> bit & 1);
		if (remainder < by)
			continue;
		remainder -= by;
		quotient |= (uint64_t)1 << bit;
	}
	*rest = remainder;
	return quotient;
}

uint64_t __udivdi3(uint64_t value, uint64_t by)
{
	uint64_t rest;

	return __udivmoddi4(value, by, &rest);
}

uint64_t __umoddi3(uint64_t value, uint64_t by)
{
	uint64_t rest;

	__udivmoddi4(value, by, &rest);
	return rest;
}
