/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a #DB that Vellum catches, to break endless delivery, and that reaches the guest
 * changed: other DR6 or RIP, or not at all.
 * Manual: APM volume 2, 13.1.4 (DR6, faults and traps), 15.12.2 (DR6 at the intercept is
 * what the guest's handler would see).
 * Vendors: VT-x gives the new bits in the exit qualification, and DR6 unchanged.
 * Cannot tell apart: a #DB that did not exit from one that was handed on.
 */
#include "guest.h"

const char guest_name[] = "debug_exceptions";

#define ENABLE_0 1u
#define WRITE4_0 (0xdu << 16) /* breakpoint 0: writes of 4 bytes */
#define GUARD_DR (1u << 13)

static uint32_t watched;

static void set_breakpoint(const void *address, uint32_t dr7)
{
	asm volatile("mov %0, %%dr0; mov %1, %%dr7" ::"r"(address), "r"(dr7));
}

static void say_result(const char *what, struct state state)
{
	uint64_t start = state.rip;

	run(&state);
	set_breakpoint(NULL, 0);
	say_same("%s: vector %llu, bytes %llu, DR6 %llx", what, state.vector, state.rip - start,
		 state.dr6 & 0xe00f);
}

void guest_main(void)
{
	static const uint8_t nops[] = {0x90, 0x90, INT_DONE};
	static const uint8_t icebp[] = {0xf1, 0x90, INT_DONE};
	static const uint8_t set_dr6_icebp[] = {0x0f, 0x23, 0xf0, 0xf1, 0x90, INT_DONE};
	static const uint8_t store[] = {0x89, 0x07, 0x90, INT_DONE};	     /* MOV [EDI], EAX */
	static const uint8_t read_dr[] = {0x90, 0x0f, 0x21, 0xc0, INT_DONE}; /* MOV EAX, DR0 */
	static const uint8_t int3[] = {0xcc};
	struct state state = state_for(nops);

	say_result("no breakpoint", state);
	state.rflags |= RFLAGS_TF;
	say_result("single step", state);
	say_result("ICEBP", state_for(icebp));
	state = state_for(set_dr6_icebp);
	state.rax = 0xffff0fff;
	say_result("ICEBP, DR6 from before", state);
	say_result("INT3", state_for(int3));
	set_breakpoint(nops + 1, ENABLE_0);
	say_result("code breakpoint", state_for(nops));
	set_breakpoint(nops + 1, ENABLE_0);
	say_result("code breakpoint, CPL 3", state_for_user(nops));
	state = state_for(store);
	state.rdi = (uint32_t)&watched;
	set_breakpoint(&watched, ENABLE_0 | WRITE4_0);
	say_result("data breakpoint", state);
	asm volatile("mov %0, %%dr7" ::"r"(GUARD_DR));
	say_result("general detect", state_for(read_dr));
	if (under_vellum())
		EXPECT(exits(EXIT_EXCEPTION) >= 4);
}
