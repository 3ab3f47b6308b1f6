/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a wild hypercall that kills the guest or floods the console (fuzz_kernel looks at
 * the registers); one that user code can make; a wrong length of the call.
 * Manual: APM volume 3, VMMCALL, SDM volume 3C, VMCALL (#UD where not intercepted);
 * docs/vmi.md: -ENOSYS for what nothing answers, -EINVAL for a bad argument, #UD outside
 * of CPL 0.
 * Vendors: VMMCALL on AMD, VMCALL on Intel.
 * Cannot tell apart: a call that is ignored from one that has no effect yet.
 */
#include "guest.h"
#include "lib/errno.h"
#include "sled.h"

const char guest_name[] = "hypercall";

static const uint8_t vmmcall[] = {0x0f, 0x01, 0xd9, INT_DONE};
static const uint8_t vmcall[] = {0x0f, 0x01, 0xc1, INT_DONE};

static const uint8_t *hypercall(void)
{
	return is_intel() ? vmcall : vmmcall;
}

static uint32_t next_random(void)
{
	static uint32_t value = 1;

	value = value * 1664525 + 1013904223; /* Numerical Recipes */
	return value;
}

static uint32_t call(uint32_t eax, uint32_t edx)
{
	struct state state = state_for(hypercall());

	state.rax = eax;
	state.rdx = edx;
	run(&state);
	EXPECT_EQ("vector", state.vector, DONE);
	EXPECT_EQ("EDX", state.rdx, edx);
	return (uint32_t)state.rax;
}

static bool is_answered(unsigned int call)
{
	return call == VMI_CALL_Reboot || call == VMI_CALL_Shutdown ||
	       call == VMI_CALL_SetInitialAPState || call == VMI_CALL_APICWrite;
}

static void check_wild(void)
{
	static const uint32_t neighbours[] = {VMI_HYPERCALL_INIT - 1, VMI_HYPERCALL_NULL + 1,
					      VMI_HYPERCALL_TRACE - 1,
					      VMI_HYPERCALL_TRACE + VMI_CALL_COUNT};

	for (unsigned int i = 0; i < 2000; i++)
		EXPECT_EQ("result", call(next_random() & 0x7fffffff & ~(1u << 30), next_random()),
			  (uint32_t)-ENOSYS);
	for (unsigned int i = 0; i < VMI_CALL_COUNT; i++)
		if (!is_answered(i))
			EXPECT_EQ("result", call(i, next_random()), (uint32_t)-ENOSYS);
	for (unsigned int i = 0; i < ARRAY_SIZE(neighbours); i++)
		EXPECT_EQ("result", call(neighbours[i], next_random()), (uint32_t)-ENOSYS);
}

static void check_init(void)
{
	EXPECT_EQ("misaligned", call(VMI_HYPERCALL_INIT, 0xc00c8001), (uint32_t)-EINVAL);
	EXPECT_EQ("misaligned", call(VMI_HYPERCALL_INIT, 0xc00c8400), (uint32_t)-EINVAL);
	EXPECT_EQ("once", call(VMI_HYPERCALL_INIT, 0xc00c8000), 0);
	EXPECT_EQ("twice", call(VMI_HYPERCALL_INIT, 0xfffff800), 0);
}

/* Only the command register, and only INIT and STARTUP, are written for the guest. */
static void check_no_command(void)
{
	static const uint32_t writes[][2] = {{0, 0x4500}, {0x310, 0x4500}, {0x300, 0x4031}};

	for (unsigned int i = 0; i < ARRAY_SIZE(writes); i++) {
		struct state state = state_for(hypercall());

		state.rax = VMI_CALL_APICWrite;
		state.rcx = writes[i][0];
		state.rdx = writes[i][1];
		run(&state);
		EXPECT_EQ("no command", (uint32_t)state.rax, (uint32_t)-EINVAL);
	}
}

static void check_null(void)
{
	EXPECT_EQ("null", call(VMI_HYPERCALL_NULL, next_random()), 0);
}

static void check_length(struct state state, void (*runs)(struct state *), unsigned int push_size)
{
	struct sled sled = sled_make(hypercall(), VMI_HYPERCALL_INSTRUCTION_SIZE);
	uint64_t rsp = state.rsp;

	state.rip = (uint32_t)sled.bytes;
	state.rax = 0xffffffff00000000ull | VMI_CALL_RDTSC;
	runs(&state);
	EXPECT(sled_done(&sled, &state, (uint32_t)sled.bytes, rsp, push_size));
	EXPECT_EQ("RAX", state.rax, (uint32_t)-ENOSYS);
}

void guest_main(void)
{
	uint64_t before = exits(EXIT_HYPERCALL);

	EXPECT_EQ("at CPL 3", vector_of_user(hypercall()), VECTOR_UD);
	if (told("native")) {
		EXPECT_EQ("natively", vector_of(hypercall()), VECTOR_UD);
		return;
	}
	check_wild();
	check_init();
	check_no_command();
	check_null();
	check_length(state_for(NULL), run, 4);
	check_length(state_for64(NULL), run64, 8);
	EXPECT_EQ("exits", exits(EXIT_HYPERCALL),
		  before + 1 + 2000 + VMI_CALL_COUNT - 4 + 4 + 4 + 3 + 1 + 2);
}
