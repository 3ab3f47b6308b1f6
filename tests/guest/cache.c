/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an INVD that drops what Vellum or the guest has only in the caches; a WBINVD that
 * exits for nothing.
 * Manual: APM volume 3, INVD, WBINVD (CPL 0 only); volume 2, 15.9 (intercepts).
 * Vendors: VT-x always exits for INVD, for WBINVD by a control.
 * Cannot tell apart: INVD from WBINVD, as TCG has no caches; the exit counter shows that
 * Vellum saw the one and not the other. QEMU 7.2 takes INVD for WBINVD and looks at that
 * one's intercept: no exit, hence the SKIP.
 */
#include "guest.h"
#include "sled.h"

const char guest_name[] = "cache";

static uint32_t data[16384];

static void go_down(const uint8_t *code, struct state state, void (*runs)(struct state *),
		    unsigned int push_size)
{
	struct sled sled = sled_make(code, 3);
	uint64_t rsp = state.rsp;

	state.rip = (uint32_t)sled.bytes;
	for (unsigned int i = 0; i < ARRAY_SIZE(data); i++)
		data[i] = i * 0x01010101;
	runs(&state);
	EXPECT(sled_done(&sled, &state, (uint32_t)sled.bytes, rsp, push_size));
	for (unsigned int i = 0; i < ARRAY_SIZE(data); i++)
		EXPECT_EQ("data", data[i], i * 0x01010101);
}

/* The number of exits for two of them. */
static uint64_t exits_of(const uint8_t *code)
{
	uint64_t before = exits(EXIT_CACHE);

	go_down(code, state_for(NULL), run, 4);
	go_down(code, state_for64(NULL), run64, 8);
	say_same("at CPL 3: vector %u", vector_of_user(code));
	return exits(EXIT_CACHE) - before;
}

void guest_main(void)
{
	static const uint8_t invd[] = {0x2e, 0x0f, 0x08, INT_DONE};
	static const uint8_t wbinvd[] = {0x2e, 0x0f, 0x09, INT_DONE};

	uint64_t invd_exits = exits_of(invd), wbinvd_exits = exits_of(wbinvd);

	if (!under_vellum())
		return;
	EXPECT_EQ("exits by WBINVD", wbinvd_exits, 0);
	if (invd_exits == 0)
		skip("INVD is survived, but this emulator does not intercept it");
	EXPECT_EQ("exits by INVD", invd_exits, 2);
}
