/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a hypercall whose arguments hurt Vellum or the guest: pointers to nothing, to
 * Vellum, across the end of memory; numbers next to those that exist; one refusal that
 * is told on the console again and again.
 * Manual: docs/vmi.md, hypercalls: refused ones have a negative result, and nothing else
 * changes.
 * Vendors: the hypercall instruction.
 * Cannot tell apart: a call that is refused from one that has no effect yet.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_wild";

#define HERE	0x00100000u
#define NOWHERE WINDOW /* not present */
#define TRACED	VMI_HYPERCALL_TRACE
#define MARGIN	16u /* numbers around those that exist */

static const uint8_t vmmcall[] = {0x0f, 0x01, 0xd9, INT_DONE};
static const uint8_t vmcall[] = {0x0f, 0x01, 0xc1, INT_DONE};

static const uint8_t *hypercall = vmmcall;

/* Those that end the machine have a guest of their own. */
static bool is_fatal(uint32_t number)
{
	return number == VMI_CALL_Reboot || number == VMI_CALL_Shutdown;
}

static void call(uint32_t number, uint32_t edx, uint32_t ecx, uint32_t esp)
{
	struct state state = state_for(hypercall);

	state.rax = number;
	state.rdx = edx;
	state.rcx = ecx;
	state.rbx = 0xb0b0b0b0;
	state.rbp = 0xb9b9b9b9;
	state.rsi = 0x51515151;
	state.rdi = 0xd1d1d1d1;
	if (esp)
		state.rsp = esp;
	run(&state);
	if (state.vector != DONE)
		fail(__FILE__, __LINE__, "number %x with %x, %x: vector %llu", number, edx, ecx,
		     state.vector);
	EXPECT_EQ("ECX", state.rcx, ecx);
	EXPECT_EQ("EBX", state.rbx, 0xb0b0b0b0);
	EXPECT_EQ("EBP", state.rbp, 0xb9b9b9b9);
	EXPECT_EQ("ESI", state.rsi, 0x51515151);
	EXPECT_EQ("EDI", state.rdi, 0xd1d1d1d1);
}

static void try_arguments(uint32_t number)
{
	uint32_t kept = (uint32_t)kept_memory().base;
	const uint32_t values[] = {0,	       1,	 HERE,	      NOWHERE,	  NOWHERE - 4,
				   kept,       kept - 4, 0xfffffff0,  0xffffffff, 0x80000000,
				   0xfee00000, pv_rom(), pv_rom() + 1};

	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(values); j++)
			call(number, values[i], values[j], 0);
}

static void try_numbers(uint32_t from, uint32_t count)
{
	for (uint32_t number = from - MARGIN; number != from + count + MARGIN; number++)
		if (!is_fatal(number))
			try_arguments(number);
}

/* Arguments on the stack would lie where it ends: nothing is mapped behind that. */
static void try_stacks(void)
{
	static uint8_t page[PAGE_SIZE] __attribute__((aligned(4096)));

	paging_map_window(WINDOW_PAGES - 1, (uint32_t)page);
	for (uint32_t number = 0; number < VMI_CALL_COUNT; number++)
		if (!is_fatal(number))
			call(number, ~0u, ~0u, WINDOW + WINDOW_PAGES * (uint32_t)PAGE_SIZE);
}

static uint32_t next_random(void)
{
	static uint32_t value = 1;

	value = value * 1664525 + 1013904223; /* Numerical Recipes */
	return value;
}

static void try_random(void)
{
	for (unsigned int i = 0; i < 2000; i++) {
		uint32_t number = next_random();

		if (!is_fatal(number))
			call(number, next_random(), next_random(), 0);
	}
}

void guest_main(void)
{
	if (is_intel())
		hypercall = vmcall;
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	try_numbers(0, VMI_CALL_COUNT);
	try_numbers(TRACED, VMI_CALL_COUNT);
	try_numbers(VMI_HYPERCALL_INIT, 1);
	try_stacks();
	try_random();
	EXPECT(under_vellum());
	for (unsigned int number = 0; number < VMI_CALL_COUNT; number++)
		pv_reloc(number);
}
