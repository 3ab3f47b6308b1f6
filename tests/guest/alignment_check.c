/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an #AC that Vellum catches, to break endless delivery, and that the guest gets
 * with another error code, or not at all.
 * Manual: APM volume 2, 8.2.18: CR0.AM, EFLAGS.AC, CPL 3; the error code is 0.
 * Vendors: no difference.
 * Cannot tell apart: anything, on an emulator without #AC (QEMU 7.2): hence the SKIP.
 */
#include "guest.h"

const char guest_name[] = "alignment_check";

#define ALIGNMENT_MASK BIT(18)
#define FLAG_AC	       BIT(18)

static const uint8_t load[] = {0x8b, 0x07, INT_DONE}; /* MOV EAX, [EDI] */
static uint32_t data[2];

static struct state load_at(uint32_t address, struct state state, uint64_t flags)
{
	state.rdi = address;
	state.rflags |= flags;
	run(&state);
	return state;
}

void guest_main(void)
{
	uint32_t odd = (uint32_t)data + 1;
	struct state end;

	EXPECT_EQ("AM off", load_at(odd, state_for_user(load), FLAG_AC).vector, DONE);
	cr0_write(cr0_read() | (uint32_t)ALIGNMENT_MASK);
	EXPECT_EQ("aligned", load_at(odd - 1, state_for_user(load), FLAG_AC).vector, DONE);
	EXPECT_EQ("AC off", load_at(odd, state_for_user(load), 0).vector, DONE);
	EXPECT_EQ("CPL 0", load_at(odd, state_for(load), FLAG_AC).vector, DONE);
	end = load_at(odd, state_for_user(load), FLAG_AC);
	say_same("misaligned at CPL 3: vector %llu", end.vector);
	if (end.vector == DONE)
		skip("this processor makes no #AC; endless #AC delivery can't be tried either");
	EXPECT_EQ("vector", end.vector, VECTOR_AC);
	EXPECT_EQ("error code", end.error, 0);
	EXPECT_EQ("RIP", end.rip, (uint32_t)load);
}
