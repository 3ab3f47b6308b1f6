/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a wrong length of a CPUID with prefixes, so that the guest goes on in the middle
 * of an instruction; garbage in the upper halves of 64-bit registers.
 * Manual: APM volume 3, 1.2: up to 15 bytes, legacy prefixes in any order, REX last.
 * CPUID ignores them all but LOCK, which is #UD; it clears bits 63:32 (volume 3, CPUID).
 * Vendors: VT-x gives the instruction's length with the exit, and so does AMD-V with the
 * NRIPS feature.
 * Cannot tell apart: whether the length was saved by the processor or decoded.
 */
#include "guest.h"
#include "sled.h"

const char guest_name[] = "cpuid_prefixes";

static const struct {
	uint8_t bytes[13], count;
} prefixes[] = {
	{{0}, 0},
	{{0x66}, 1},
	{{0x67}, 1},
	{{0x2e}, 1},
	{{0x3e}, 1},
	{{0x26}, 1},
	{{0x36}, 1},
	{{0x64}, 1},
	{{0x65}, 1},
	{{0xf2}, 1},
	{{0xf3}, 1},
	{{0x66, 0x2e}, 2},
	{{0xf3, 0x67, 0x66}, 3},
	{{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}, 13},
	/* from here on for 64-bit code: REX */
	{{0x48}, 1},
	{{0x4f}, 1},
	{{0x66, 0x48}, 2},
	{{0xf3, 0x2e, 0x41}, 3},
	{{0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x48}, 13},
};
#define PREFIXES_32BIT 14

static void check(unsigned int i, struct state state, void (*runs)(struct state *), uint8_t size)
{
	struct sled sled = sled_cpuid(prefixes[i].bytes, prefixes[i].count);
	struct state start = state;

	state.rip = (uint32_t)sled.bytes;
	state.rax = state.rcx = state.rdx = state.rbx = 0xffffffff00000000ull;
	runs(&state);
	if (!sled_done(&sled, &state, (uint32_t)sled.bytes, start.rsp, size))
		fail(__FILE__, __LINE__,
		     "%u-bit case %u: vector %llu, rip +%llu of %u, pushed %llu", size * 8, i,
		     state.vector, state.rip - (uint32_t)sled.bytes, sled.size,
		     start.rsp - state.rsp);
	EXPECT_EQ("EAX", state.rax, leaf_read(0, 0).eax);
	EXPECT_EQ("upper halves", (state.rax | state.rbx | state.rcx | state.rdx) >> 32, 0);
}

void guest_main(void)
{
	static const uint8_t lock_cpuid[] = {0xf0, 0x0f, 0xa2, INT_DONE};

	for (unsigned int i = 0; i < PREFIXES_32BIT; i++)
		check(i, state_for(NULL), run, 4);
	for (unsigned int i = 0; i < ARRAY_SIZE(prefixes); i++)
		check(i, state_for64(NULL), run64, 8);
	say_same("LOCK CPUID ends with vector %u", vector_of(lock_cpuid));
}
