/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an interrupt shadow that outlives the CPUID it covered, so that an interrupt
 * comes one instruction late, or one that is lost, so that it comes too early.
 * Manual: APM volume 3, STI: interrupts stay off until after the next instruction;
 * volume 2, 15.21.5 (the VMCB's interrupt shadow).
 * Vendors: VT-x keeps it in the interruptibility state.
 * Cannot tell apart: QEMU 7.2 ignores the VMCB's shadow, so it can't be too late there.
 */
#include "guest.h"
#include "timer.h"

const char guest_name[] = "cpuid_shadow";

#define STI   0xfb
#define CPUID 0x0f, 0xa2
#define NOP   0x90

static const uint8_t code[] = {STI, CPUID, NOP, NOP, INT_DONE};

static void check(struct state state, void (*runs)(struct state *))
{
	timer_await();
	runs(&state);
	EXPECT_EQ("vector", state.vector, VECTOR_TIMER);
	EXPECT_EQ("bytes done", state.rip - (uint32_t)code, 3);
	timer_acknowledge();
}

void guest_main(void)
{
	timer_start();
	for (int i = 0; i < 10; i++) {
		check(state_for(code), run);
		check(state_for64(code), run64);
	}
	timer_stop();
}
