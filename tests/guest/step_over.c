/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an emulated instruction that a debugger steps over wrongly: no trap behind it, two
 * of them, or one that comes late; and an interrupt shadow that does not end with it.
 * Manual: SDM volume 3B, 18.3.1.4 (TF); volume 3A, 7.8.3 (MOV SS holds off a #DB for one
 * instruction); volume 2B, STI; volume 3C, 27.7.3 (pending debug exceptions), 25.4.2.
 * Vendors: AMD-V lets WRMSR of MTRRs, XSETBV and CR0 writes run; the outcome is the same.
 * Cannot tell apart: a trap that the processor made from one that Vellum injected.
 */
#include "guest.h"
#include "timer.h"

const char guest_name[] = "step_over";

#define MOV_SS_ESI 0x8e, 0xd6
#define STI	   0xfb
#define NOP	   0x90
#define MTRR_MASK  0x20du /* of a pair that is not in use */
#define CODE_MAX   12

enum { MODE32, MODE64, MODES };
static void (*const runs[MODES])(struct state *) = {run, run64};

struct instruction {
	const char *name;
	uint8_t bytes[3], size;
	uint32_t rax, rcx, rdx;
};

static struct instruction instructions[] = {
	{"CPUID", {0x0f, 0xa2}, 2, 0, 0, 0},
	{"RDMSR", {0x0f, 0x32}, 2, 0, MSR_EFER, 0},
	{"WRMSR of EFER", {0x0f, 0x30}, 2, 0, MSR_EFER, 0},
	{"WRMSR of an MTRR", {0x0f, 0x30}, 2, 0, MTRR_MASK, 0},
	{"XSETBV", {0x0f, 0x01, 0xd1}, 3, 1, 0, 0},
	{"INVD", {0x0f, 0x08}, 2, 0, 0, 0},
	{"IN", {0xe4, 0x64}, 2, 0, 0, 0},
	{"OUT", {0xe6, 0x64}, 2, 0xae, 0, 0},
	{"MOV to CR0", {0x0f, 0x22, 0xc0}, 3, 0, 0, 0},
	{"hypercall", {0x0f, 0x01, 0xd9}, 3, 0, 0, 0},
};

enum { WRMSR_EFER = 2, XSETBV = 4, MOV_CR0 = 8, HYPERCALL = 9 };

/* Each run of MOV to CR0 changes NE. */
static void prepare(struct instruction *instruction, unsigned int mode)
{
	if (instruction == &instructions[MOV_CR0])
		instruction->rax =
			(cr0_read() ^ (uint32_t)CR0_NE) | (mode == MODE64 ? (uint32_t)CR0_PG : 0);
	if (instruction == &instructions[WRMSR_EFER])
		instruction->rax = mode == MODE64 ? EFER_LME : 0;
}

/* Runs prefix, instruction, NOP, NOP, INT 80h; checks vector and how far it came. */
static void expect_end(struct instruction *instruction, unsigned int mode, const uint8_t *prefix,
		       unsigned int size, uint64_t flags, unsigned int vector, unsigned int end)
{
	static const uint8_t tail[] = {NOP, NOP, INT_DONE};
	static uint8_t code[CODE_MAX];
	struct state state = mode == MODE64 ? state_for64(code) : state_for(code);

	prepare(instruction, mode);
	memcpy(code, prefix, size);
	memcpy(code + size, instruction->bytes, instruction->size);
	memcpy(code + size + instruction->size, tail, sizeof(tail));
	state.rax = instruction->rax;
	state.rcx = instruction->rcx;
	state.rdx = instruction->rdx;
	state.rsi = DATA32;
	state.rflags |= flags;
	runs[mode](&state);
	if (state.vector != vector || state.rip - (uint32_t)code != size + instruction->size + end)
		fail(__FILE__, __LINE__, "%s, mode %u, %u bytes before it: vector %llu, +%llu",
		     instruction->name, mode, size, state.vector, state.rip - (uint32_t)code);
	if (vector == VECTOR_DB)
		EXPECT_EQ(instruction->name, state.dr6 & (DR6_BS | 0xf), DR6_BS);
}

static void check(struct instruction *instruction, unsigned int mode)
{
	static const uint8_t sti[] = {STI}, mov_ss[] = {MOV_SS_ESI};

	expect_end(instruction, mode, NULL, 0, 0, DONE, 4);
	expect_end(instruction, mode, NULL, 0, RFLAGS_TF, VECTOR_DB, 0);
	expect_end(instruction, mode, mov_ss, sizeof(mov_ss), RFLAGS_TF, VECTOR_DB, 0);
	timer_await();
	expect_end(instruction, mode, sti, sizeof(sti), 0, VECTOR_TIMER, 0);
	timer_acknowledge();
}

void guest_main(void)
{
	if (is_intel())
		instructions[HYPERCALL].bytes[2] = 0xc1;
	cr4_write(cr4_read() | (uint32_t)CR4_OSXSAVE);
	timer_start();
	for (unsigned int i = 0; i < ARRAY_SIZE(instructions); i++) {
		if (i == HYPERCALL && !under_vellum())
			continue;
		check(&instructions[i], MODE32);
		check(&instructions[i], MODE64);
	}
	timer_stop();
}
