/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an exit that changes a register, a flag or RIP which is none of its business, for
 * some value that nobody thought of: random operands, prefixes and modes for what exits.
 * Manual: APM volume 3: what each instruction reads and writes; docs/vmi.md for hypercalls.
 * Vendors: VMMCALL on AMD, VMCALL on Intel.
 * Cannot tell apart: a wrong result from a right one, for MSRs; for CPUID the same leaf is
 * asked for again without prefixes.
 */
#include "guest.h"
#include "sled.h"

const char guest_name[] = "fuzz_kernel";

#define ROUNDS 4000

enum { CPUID, RDMSR, IN_AL, HYPERCALL, INVD, KINDS };

static struct {
	uint8_t bytes[3], size;
	uint8_t writes; /* bits: RAX, RCX, RDX, RBX */
} kinds[KINDS] = {
	[CPUID] = {{0x0f, 0xa2}, 2, 0xf}, [RDMSR] = {{0x0f, 0x32}, 2, 0x5},
	[IN_AL] = {{0x3e, 0xec}, 2, 0x1}, [HYPERCALL] = {{0x0f, 0x01, 0xd9}, 3, 0x1},
	[INVD] = {{0x0f, 0x08}, 2, 0x0},
};
static const uint8_t prefixes[] = {0x66, 0x67, 0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65};
static const uint32_t leaves[] = {0, 0xd, 0x40000000, 0x3ffffff0, 0x80000000, 0x4ffffff0};
static const uint32_t msrs[] = {0x170,	    0x200,	0x1ff0,	    0xc0000080, 0xc0001ff0,
				0xc0010110, 0xc0011ff8, 0x40000000, 0xfffffff0};
static const uint16_t ports[] = {0x64, 0x92, 0xcf9};

static uint32_t random32(void)
{
	static uint32_t value = 20260102;

	value = value * 1664525 + 1013904223; /* Numerical Recipes */
	return value >> 16 | value << 16;
}

static uint32_t below(uint32_t limit)
{
	return random32() % limit;
}

static struct sled make(unsigned int kind)
{
	uint8_t bytes[15];
	unsigned int count = below(sizeof(bytes) - kinds[kind].size + 1);

	if (kind == HYPERCALL) /* has no prefixes: docs/vmi.md */
		count = 0;
	for (unsigned int i = 0; i < count; i++)
		bytes[i] = prefixes[below(sizeof(prefixes))];
	memcpy(bytes + count, kinds[kind].bytes, kinds[kind].size);
	return sled_make(bytes, count + kinds[kind].size);
}

static void fill(struct state *state, unsigned int kind)
{
	uint64_t *registers = &state->rax;

	for (unsigned int i = 0; i < 16; i++)
		if (registers + i != &state->rsp)
			registers[i] = (uint64_t)random32() << 32 | random32();
	if (kind == CPUID)
		state->rax = leaves[below(ARRAY_SIZE(leaves))] + below(20);
	if (kind == RDMSR)
		state->rcx = msrs[below(ARRAY_SIZE(msrs))] + below(32);
	if (kind == IN_AL)
		state->rdx = ports[below(ARRAY_SIZE(ports))];
	state->rflags |= random32() & 0x8d5; /* CF PF AF ZF SF OF */
}

/* All registers that the instruction does not write, RSP left to the sled. */
static bool kept(const struct state *a, const struct state *b, unsigned int kind, bool is64)
{
	const uint64_t *before = &a->rax, *after = &b->rax;
	uint64_t mask = is64 ? UINT64_MAX : UINT32_MAX;

	for (unsigned int i = 0; i < (is64 ? 16 : 8); i++)
		if (!(kinds[kind].writes >> i & 1) && i != 4 && (before[i] ^ after[i]) & mask)
			return false;
	return a->rflags == b->rflags;
}

static void check(unsigned int kind, bool is64)
{
	struct sled sled = make(kind);
	struct state start = is64 ? state_for64(sled.bytes) : state_for(sled.bytes), end;
	bool done;

	fill(&start, kind);
	end = start;
	(is64 ? run64 : run)(&end);
	done = sled_done(&sled, &end, start.rip, start.rsp, is64 ? 8 : 4);
	done |= kind == RDMSR && end.vector == VECTOR_GP && end.rip == start.rip;
	if (!done || !kept(&start, &end, kind, is64))
		fail(__FILE__, __LINE__, "kind %u, rax %llx rcx %llx rdx %llx: vector %llu, +%llu",
		     kind, start.rax, start.rcx, start.rdx, end.vector, end.rip - start.rip);
	if (kind == CPUID && (uint32_t)start.rax != VELLUM_CPUID_EXITS)
		EXPECT_EQ("EAX", end.rax, leaf_read((uint32_t)start.rax, (uint32_t)start.rcx).eax);
}

void guest_main(void)
{
	if (is_intel())
		kinds[HYPERCALL].bytes[2] = 0xc1; /* VMCALL */
	for (unsigned int i = 0; i < ROUNDS; i++)
		check(below(KINDS), i & 1);
}
