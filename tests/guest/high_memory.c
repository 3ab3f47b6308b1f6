/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that hangs, or kills Vellum, by touching an address where nothing was
 * mapped: devices with 64-bit BARs lie there, wherever the firmware put them.
 * Manual: APM volume 2, 15.25.6 (nested page faults); 5.3 (address bits above CPUID
 * 8000_0008h's number are reserved: #PF).
 * Vendors: EPT violation instead.
 * Cannot tell apart: an address without a device from a device that reads as 0.
 */
#include "guest.h"

const char guest_name[] = "high_memory";

#define RESERVED_BIT BIT(3)

static void (*const runs[])(struct state *) = {run, run64};

/* MOV EAX, [EDI]; MOV [EDI], EAX */
static void touch(uint64_t physical, unsigned int long_mode)
{
	static const uint8_t code[] = {0x8b, 0x07, 0x89, 0x07, INT_DONE};
	struct state state = long_mode ? state_for64(code) : state_for(code);

	paging_map_window(1, physical);
	state.rdi = WINDOW + (uint32_t)PAGE_SIZE;
	if (!long_mode)
		paging_on(PAGING_PAE);
	runs[long_mode](&state);
	paging_off();
	say_same("%llx: vector %llu error %llx, %llx", physical, state.vector,
		 state.error & RESERVED_BIT, state.rax);
}

static void check(uint64_t physical, unsigned int faults)
{
	uint64_t before = exits(EXIT_NESTED_FAULT);

	for (unsigned int i = 0; i < 4; i++)
		touch(physical, i & 1);
	if (under_vellum())
		EXPECT_EQ("nested faults", exits(EXIT_NESTED_FAULT), before + faults);
}

void guest_main(void)
{
	uint64_t end = BIT(leaf_read(CPUID_EXT_ADDRESS_SIZES, 0).eax & 0xff);

	check(3 * GIB, 0);
	check(4 * GIB - PAGE_SIZE, 0);
	check(4 * GIB, 1);
	check(5 * GIB - PAGE_SIZE, 0);
	check(5 * GIB, 1);
	check(end / 2, 1);
	check(end - PAGE_SIZE, 1);
	if (end < BIT(52))
		check(end, 0);
}
