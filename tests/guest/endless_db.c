/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: CVE-2015-8104: a data breakpoint on the stack that #DB itself is delivered on. Each
 * delivery makes the next one pending, before the handler's first instruction, and if
 * none of them exits, the processor is lost to the hypervisor.
 * Manual: APM volume 2, 13.1.3 (data breakpoints are traps), 8.2.2, 15.12.2 (#DB
 * intercept); with an IST stack each frame is pushed to the same place.
 * Vendors: the same on Intel, with the exception bitmap.
 * Cannot tell apart: anything on QEMU's TCG, where it isn't started (guests.py says why).
 * One push is tried, which loops nowhere; the endless case needs a processor that can.
 */
#include "guest.h"

const char guest_name[] = "endless_db";

#define ENABLE_0 1u
#define WRITE4_0 (0xdu << 16)

void guest_main(void)
{
	static const uint8_t code[] = {INT_DONE};
	struct state state = state_for_user(code);
	uint32_t pushed = (uint32_t)run_fault_stack - 4; /* SS, the first word of a frame */

	asm volatile("mov %0, %%dr0; mov %1, %%dr7" ::"r"(pushed), "r"(ENABLE_0 | WRITE4_0));
	run(&state);
	asm volatile("mov %0, %%dr7" ::"r"(0));
	say_same("vector %llu, DR6 %llx", state.vector, state.dr6 & 0xf);
	if (state.vector == DONE)
		skip("this processor does not check an interrupt's own pushes");
	EXPECT_EQ("vector", state.vector, VECTOR_DB);
}
