/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: INS or OUTS on a guarded port that moves nothing, moves once instead of ECX
 * times, or exits for ever.
 * Manual: APM volume 2, 15.10.2: the exit says "string" and "REP"; memory is the guest's.
 * Vendors: the same bits in VT-x' exit qualification.
 * Cannot tell apart: what Vellum emulates from what runs by itself, once the guard of the
 * port is given up. That costs the last words of a reset by that port; so port 64h is
 * left alone here, because it ends this guest.
 */
#include "guest.h"

const char guest_name[] = "ports_string";

#define COUNT 9

static uint8_t data[COUNT + 1];

static void string_io(const uint8_t *code, uint16_t port)
{
	uint64_t before = exits(EXIT_PORT);
	struct state state = state_for(code);

	state.rcx = COUNT;
	state.rdx = port;
	state.rsi = state.rdi = (uint32_t)data;
	run(&state);
	EXPECT_EQ("vector", state.vector, DONE);
	EXPECT_EQ("ECX", state.rcx, 0);
	EXPECT_EQ("ESI + EDI", state.rsi + state.rdi, 2 * (uint32_t)data + COUNT);
	if (under_vellum())
		EXPECT(exits(EXIT_PORT) - before <= 1);
	for (unsigned int i = 0; i < sizeof(data); i++)
		say_same("port %x: %02x", port, data[i]);
}

void guest_main(void)
{
	static const uint8_t ins[] = {0xf3, 0x6c, INT_DONE}, outs[] = {0xf3, 0x6e, INT_DONE};

	memset(data, 0xcc, sizeof(data));
	string_io(ins, 0x92);
	string_io(ins, 0x92);
	memset(data, 0, sizeof(data));
	string_io(outs, 0xcf9);
	string_io(outs, 0xcf9);
}
