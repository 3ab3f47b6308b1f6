/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an NMI that the guest gets twice, not at all, or inside its own NMI handler.
 * Manual: SDM volume 3A, 7.7.1: a second NMI waits for the handler's IRET, and one is kept;
 * 11.6.1 (ICR). Volume 3C, 25.4.2 (blocking by NMI), 26.3.
 * Vendors: AMD-V holds NMIs back with GIF, VT-x lets them into the host: Vellum notes and
 * injects those. Neither exits for one that comes while the guest runs.
 * Cannot tell apart: the way an NMI took. On an emulator of one processor a self-NMI comes
 * at the end of the store that sends it, in the guest; only one that was blocked in the
 * handler can meet an exit.
 */
#include "apic.h"
#include "guest.h"

const char guest_name[] = "nmi";

#define ROUNDS 300

static volatile unsigned int taken, depth, deepest;
static bool send_inside;

/* Exits while NMIs are blocked: neither may unblock them or lose the one that waits. */
static void handler(void)
{
	unsigned int before = ++taken;

	if (++depth > deepest)
		deepest = depth;
	if (send_inside) {
		send_inside = false;
		apic_send_to_self(ICR_NMI);
		for (unsigned int i = 0; i < 10; i++)
			leaf_read(i, 0);
		EXPECT_EQ("NMIs, the second one blocked", taken, before);
	}
	depth--;
}

static void check_single(void)
{
	for (unsigned int i = 1; i <= ROUNDS; i++) {
		leaf_read(0, 0);
		apic_send_to_self(ICR_NMI);
		leaf_read(1, 0);
		EXPECT_EQ("NMIs", taken, i);
	}
}

static void check_blocked(void)
{
	for (unsigned int i = 1; i <= ROUNDS; i++) {
		send_inside = true;
		apic_send_to_self(ICR_NMI);
		leaf_read(0, 0);
		EXPECT_EQ("NMIs", taken, 2 * i);
	}
}

/* At CPL 3, so that the NMI's delivery and its IRET switch stacks. */
static void check_from_user(void)
{
	/* MOV [EDI], EAX; CPUID */
	static const uint8_t code[] = {0x89, 0x07, 0x0f, 0xa2, INT_DONE};
	struct state state = state_for_user(code);

	apic_aim_at_self();
	state.rax = ICR_NMI;
	state.rdi = APIC_ICR;
	run(&state);
	EXPECT_EQ("vector", state.vector, DONE);
	EXPECT_EQ("NMIs", taken, 1);
}

void guest_main(void)
{
	run_set_handler(VECTOR_NMI, handler);
	check_single();
	taken = 0;
	check_blocked();
	EXPECT_EQ("depth", deepest, 1);
	taken = 0;
	check_from_user();
	say_same("NMIs taken %u", taken);
}
