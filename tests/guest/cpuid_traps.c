/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a skipped CPUID, IN or RDMSR that loses what ends with an instruction: the
 * single-step trap (a debugger steps over two instructions at once), and RF (a breakpoint
 * on the next instruction doesn't fire). Also a count that is not one for each CPUID.
 * Manual: APM volume 2, 13.1.4 (TF, DR6.BS), 13.1.3.1 (RF), 8.2.2 (MOV SS holds #DB off
 * until after the next instruction); 15.7.1.
 * Vendors: VT-x wants the trap in its pending debug exceptions instead of injected.
 * Cannot tell apart: a trap that the processor made from one that Vellum injected.
 */
#include "guest.h"

const char guest_name[] = "cpuid_traps";

#define HIT_0	   1u
#define ENABLE_0   1u
#define MOV_SS_EAX 0x8e, 0xd0
#define CPUID	   0x0f, 0xa2
#define NOP	   0x90

static const uint8_t in[] = {0xe4, 0x64, INT_DONE}; /* a guarded port */
static const uint8_t rdmsr_efer[] = {0x0f, 0x32, INT_DONE};
static const uint8_t plain[] = {CPUID, NOP, INT_DONE};
static const uint8_t mov_ss_cpuid[] = {MOV_SS_EAX, CPUID, NOP, INT_DONE};

static void expect_trap(struct state state, void (*runs)(struct state *), unsigned int length,
			uint64_t dr6_bit)
{
	uint32_t start = (uint32_t)state.rip;

	runs(&state);
	EXPECT_EQ("vector", state.vector, VECTOR_DB);
	EXPECT_EQ("bytes done", state.rip - start, length);
	EXPECT_EQ("DR6", state.dr6 & (DR6_BS | 0xf), dr6_bit);
}

static void check_single_step(void)
{
	struct state state = state_for(plain), after_mov_ss = state_for(mov_ss_cpuid);
	struct state state64 = state_for64(plain), port = state_for(in);
	struct state msr = state_for(rdmsr_efer);

	state.rflags |= RFLAGS_TF;
	expect_trap(state, run, 2, DR6_BS);
	state64.rflags |= RFLAGS_TF;
	expect_trap(state64, run64, 2, DR6_BS);
	port.rflags |= RFLAGS_TF;
	expect_trap(port, run, 2, DR6_BS);
	msr.rflags |= RFLAGS_TF;
	msr.rcx = MSR_EFER;
	expect_trap(msr, run, 2, DR6_BS);
	after_mov_ss.rflags |= RFLAGS_TF;
	after_mov_ss.rax = DATA32;
	expect_trap(after_mov_ss, run, 4, DR6_BS);
}

/* RF, as a debugger sets it to pass its own breakpoint, covers the CPUID only. */
static void check_resume_flag(void)
{
	struct state state = state_for(plain);

	asm volatile("mov %0, %%dr0; mov %1, %%dr7" ::"r"(plain + 2), "r"(ENABLE_0));
	state.rflags |= RFLAGS_RF;
	expect_trap(state, run, 2, HIT_0);
	asm volatile("mov %0, %%dr7" ::"r"(0));
}

static void check_count(void)
{
	uint64_t before = exits(EXIT_CPUID);

	for (unsigned int i = 0; i < 1000; i++)
		EXPECT_EQ("exits", exits(EXIT_CPUID), before + i + 1);
	EXPECT_EQ("vector", vector_of(plain), DONE);
	EXPECT_EQ("exits", exits(EXIT_CPUID), before + 1000 + 2);
}

void guest_main(void)
{
	check_single_step();
	check_resume_flag();
	if (under_vellum())
		check_count();
}
