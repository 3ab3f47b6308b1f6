/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What gdb's system tests look at (tests/system/test_gdb.py): registers that hold known
 * values, instructions that exit, and a guest that uses the debug registers itself.
 * Hunts, by itself: a debug register that does not keep what was written, or a
 * breakpoint of the guest's that does not fire: while a debugger has them, or after it.
 * Manual: SDM volume 3B, 18.2; APM volume 2, 13.1.1.
 * Vendors: the same, but for the hypercall.
 * Cannot tell apart: a breakpoint that the debugger has put back from one it never took.
 */
#include "guest.h"

const char guest_name[] = "debugged";

#define OWN_ADDRESS 0x123450u
#define OWN_DR7	    (DR7_INITIAL | BIT(1)) /* G0: execution, 1 byte */

/* The values stand in the test, too. Labels are where gdb stops; behind them come one exit each. */
__attribute__((noinline)) static void set_everything(bool intel)
{
	static const uint32_t xmm[4]
		__attribute__((aligned(16))) = {0x11111111, 0x22222222, 0x33333333, 0x44444444};

	cr4_write(cr4_read() | (uint32_t)CR4_OSFXSR);
	asm volatile(
		"pushal; push %0; movaps %1, %%xmm3; fninit; fldpi; fld1\n"
		"mov $0x40000000, %%eax; mov $0xb1b1b1b1, %%ebx; xor %%ecx, %%ecx\n"
		"mov $0xd1d1d1d1, %%edx; mov $0x51515151, %%esi; mov $0xd2d2d2d2, %%edi\n"
		"mov $0xb9b9b9b9, %%ebp; stc\n"
		".globl all_set; all_set: cpuid\n"
		"nop\n"
		"mov $999, %%eax; cmpb $0, (%%esp); jne 1f\n"
		".globl at_vmmcall; at_vmmcall: .byte 0x0f, 0x01, 0xd9; jmp 2f\n"
		"1: .globl at_vmcall; at_vmcall: .byte 0x0f, 0x01, 0xc1\n"
		"2: .globl behind_call; behind_call: nop\n"
		"pushf; pop %%eax\n"
		".globl behind_pushf; behind_pushf: add $4, %%esp; popal" ::"r"((uint32_t)intel),
		"m"(xmm)
		: "memory", "cc");
}

static void write_debug_registers(uint32_t address, uint32_t dr7)
{
	asm volatile("mov %0, %%dr0; mov %1, %%dr7" ::"r"(address), "r"(dr7) : "memory");
}

__attribute__((noinline)) static void keep_own_values(void)
{
	uint32_t address, dr7;

	write_debug_registers(OWN_ADDRESS, OWN_DR7);
	asm volatile("mov %%dr0, %0; mov %%dr7, %1" : "=r"(address), "=r"(dr7));
	EXPECT_EQ("DR0", address, OWN_ADDRESS);
	EXPECT_EQ("DR7", dr7, OWN_DR7);
}

/* gdb detaches here. */
__attribute__((noinline)) void let_go(void)
{
	asm volatile("");
}

static void hit_own_breakpoint(void)
{
	static const uint8_t code[] = {0x90, 0x90, INT_DONE};
	struct state state = state_for(code);

	write_debug_registers((uint32_t)code + 1, OWN_DR7);
	run(&state);
	write_debug_registers(0, DR7_INITIAL);
	EXPECT_EQ("vector", state.vector, VECTOR_DB);
	EXPECT_EQ("where", state.rip, (uint32_t)code + 1);
	EXPECT_EQ("DR6", state.dr6 & 0xf, 1);
}

void guest_main(void)
{
	if (under_vellum())
		set_everything(is_intel());
	keep_own_values();
	let_go();
	hit_own_breakpoint();
}
