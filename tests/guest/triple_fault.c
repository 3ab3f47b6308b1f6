/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that dies without a word, a word that is not true, or a machine that does
 * something else than onfault= says.
 * Manual: APM volume 2, 8.2.9: a fault while #DF is delivered is a shutdown; 15.14.3: the
 * intercept; registers are those of the first fault.
 * Vendors: VT-x calls it triple fault (exit reason 2).
 * Cannot tell apart: which of the three faults was the guest's real mistake.
 */
#include "guest.h"

const char guest_name[] = "triple_fault";

void guest_main(void)
{
	static const uint8_t ud2[] = {0x0f, 0x0b};
	static const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) no_idt = {0, 0};
	struct state state = state_for(ud2);

	state.rax = 0x600dcafe;
	state.rbx = 0x0badf00d;
	state.rsi = 0x5151d1d1;
	state.rbp = 0x0b0bb0b0; /* one that Vellum does not store at each exit */
	say("ud2 is at %08x", (uint32_t)ud2);
	say_pass();
	asm volatile("lidt %0" ::"m"(no_idt));
	run(&state);
}
