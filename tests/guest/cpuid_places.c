/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an instruction fetch by the hypervisor that forgets a paging mode, the base of
 * CS, the wrap at 4 GiB, 16-bit code, or that an instruction can lie on two pages that
 * are no neighbours in physical memory.
 * Manual: APM volume 2, 4.5.3 (CS base), 5.2 and 5.3 (translation), 5.3.5 (long mode).
 * Vendors: with VT-x nothing is fetched, the exit has the length.
 * Cannot tell apart: processors with NRIPS, where nothing is fetched either.
 */
#include "guest.h"
#include "sled.h"

const char guest_name[] = "cpuid_places";

static uint8_t frames[2][4096] __attribute__((aligned(4096)));
static const uint8_t prefix[] = {0x2e};

static void expect_done(const struct sled *sled, struct state state, void (*runs)(struct state *),
			unsigned int push_size, const char *what)
{
	struct state start = state;

	runs(&state);
	if (!sled_done(sled, &state, start.rip, start.rsp, push_size))
		fail(__FILE__, __LINE__, "%s: vector %llu at %llx, started at %llx", what,
		     state.vector, state.rip, start.rip);
}

/* The first bytes of the sled end page 0 of the window, which is backed by frame 1. */
static void check_split(struct state state, void (*runs)(struct state *), unsigned int push_size,
			const char *what)
{
	struct sled sled = sled_cpuid(prefix, sizeof(prefix));

	paging_map_window(0, (uint32_t)frames[1]);
	paging_map_window(1, (uint32_t)frames[0]);
	for (unsigned int before = 0; before <= 3; before++) {
		memcpy(frames[1] + 4096 - before, sled.bytes, before);
		memcpy(frames[0], sled.bytes + before, sled.size - before);
		state.rip = WINDOW + 4096 - before;
		expect_done(&sled, state, runs, push_size, what);
	}
}

static void check_segments(const char *what)
{
	static const uint32_t offsets[] = {0, 0x12345678, 0xffffff00}; /* the last one wraps */
	struct sled sled = sled_cpuid(prefix, sizeof(prefix));
	struct state state = state_for(NULL);

	for (unsigned int i = 0; i < ARRAY_SIZE(offsets); i++) {
		run_set_base(CODE_BASE, (uint32_t)sled.bytes - offsets[i]);
		state.cs = CODE_BASE;
		state.rip = offsets[i];
		expect_done(&sled, state, run, 4, what);
	}
	run_set_base(CODE16, (uint32_t)sled.bytes - 0x1234);
	state.cs = CODE16;
	state.rip = 0x1234;
	expect_done(&sled, state, run, 2, what);
}

void guest_main(void)
{
	static const char *const names[] = {"4M pages", "4K pages", "PAE"};

	check_segments("paging off");
	for (enum paging paging = PAGING_4M; paging <= PAGING_PAE; paging++) {
		paging_on(paging);
		check_split(state_for(NULL), run, 4, names[paging]);
		check_segments(names[paging]);
	}
	paging_off();
	check_split(state_for64(NULL), run64, 8, "long mode");
}
