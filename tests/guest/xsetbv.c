/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an XSETBV that sets in the host what the guest may not set, or dies there; an
 * XCR0 that the guest loses at an exit.
 * Manual: APM volume 3, XSETBV: #UD without CR4.OSXSAVE; #GP at CPL 3, for ECX other than
 * 0, XCR0[0] clear, AVX without SSE, bits that CPUID Dh does not name.
 * Vendors: VT-x always exits; then Vellum has to do all these checks itself.
 * Cannot tell apart: who made the #GP.
 */
#include "guest.h"

const char guest_name[] = "xsetbv";

#define HAS_XSAVE BIT(26)

static const uint8_t code[] = {0x0f, 0x01, 0xd1, INT_DONE};

static void set(uint32_t ecx, uint64_t value)
{
	struct state state = state_for(code);

	state.rcx = ecx;
	state.rax = (uint32_t)value;
	state.rdx = value >> 32;
	run(&state);
	say_same("XSETBV %u %llx: vector %llu", ecx, value, state.vector);
}

static void say_xcr0(void)
{
	static const uint8_t xgetbv[] = {0x0f, 0x01, 0xd0, INT_DONE};
	struct state state = state_for(xgetbv);

	leaf_read(0, 0); /* an exit and an entry since it was set */
	run(&state);
	say_same("XCR0 %llx", state.rdx << 32 | state.rax);
}

void guest_main(void)
{
	uint32_t supported = leaf_read(0xd, 0).eax;

	if (!(leaf_read(CPUID_FEATURES, 0).ecx & HAS_XSAVE))
		skip("this processor has no XSAVE");
	set(0, 1);
	cr4_write(cr4_read() | CR4_OSXSAVE);
	say_xcr0();
	set(0, 0);
	set(0, 4);
	set(0, 5);
	set(1, 1);
	set(0xffffffff, 1);
	set(0, BIT(63) | 1);
	for (unsigned int bit = 0; bit < 64; bit++)
		set(0, BIT(bit) | 1);
	set(0, supported);
	say_xcr0();
	set(0, 1);
	say_same("at CPL 3: vector %u", vector_of_user(code));
}
