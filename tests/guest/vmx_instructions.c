/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an instruction of VMX or SMX that does something in the guest, that tells it
 * Vellum is there, or that only CPL 3 gets another answer to; CR4.VMXE in the guest's hands.
 * Manual: SDM volume 3C, 31.3: without CR4.VMXE each is #UD, at every CPL; 26.1.2: in a
 * guest each exits. 24.7, 2.5: a reserved bit of CR4 is #GP.
 * Vendors: AMD's processors have none of them.
 * Cannot tell apart: #UD made by Vellum from #UD of the processor; the counter can.
 */
#include "guest.h"

const char guest_name[] = "vmx_instructions";

#define MEMORY 0x37 /* ModRM of /6 with [EDI] */

/* With [EDI] or EAX, ECX as operands. exits: VT-x shows it to Vellum in any case. */
static const struct {
	const char *name;
	uint8_t code[8];
	bool exits;
} instructions[] = {
	{"VMXON", {0xf3, 0x0f, 0xc7, MEMORY, INT_DONE}, true},
	{"VMXOFF", {0x0f, 0x01, 0xc4, INT_DONE}, true},
	{"VMCLEAR", {0x66, 0x0f, 0xc7, MEMORY, INT_DONE}, true},
	{"VMPTRLD", {0x0f, 0xc7, MEMORY, INT_DONE}, true},
	{"VMPTRST", {0x0f, 0xc7, 0x3f, INT_DONE}, true},
	{"VMREAD", {0x0f, 0x78, 0xc1, INT_DONE}, true},
	{"VMREAD memory", {0x0f, 0x78, 0x07, INT_DONE}, true},
	{"VMWRITE", {0x0f, 0x79, 0xc1, INT_DONE}, true},
	{"VMLAUNCH", {0x0f, 0x01, 0xc2, INT_DONE}, true},
	{"VMRESUME", {0x0f, 0x01, 0xc3, INT_DONE}, true},
	{"INVEPT", {0x66, 0x0f, 0x38, 0x80, 0x07, INT_DONE}, true},
	{"INVVPID", {0x66, 0x0f, 0x38, 0x81, 0x07, INT_DONE}, true},
	{"VMFUNC", {0x0f, 0x01, 0xd4, INT_DONE}, false},
	{"GETSEC", {0x0f, 0x37, INT_DONE}, false},
};

static uint32_t operand[4];

static void expect_undefined(unsigned int i, struct state state, void (*runs)(struct state *))
{
	struct state start = state;
	uint64_t before = exits(EXIT_VIRT_INSN);

	state.rdi = (uint32_t)operand;
	runs(&state);
	if (state.vector != VECTOR_UD || state.rip != start.rip)
		fail(__FILE__, __LINE__, "%s, code segment %llx: vector %llu, +%llu",
		     instructions[i].name, start.cs, state.vector, state.rip - start.rip);
	EXPECT_EQ("EAX", state.rax, 0);
	EXPECT_EQ("flags", state.rflags & 0x8d5, start.rflags & 0x8d5);
	EXPECT_EQ("memory", operand[0] | operand[1] | operand[2] | operand[3], 0);
	if (under_vellum() && is_intel() && instructions[i].exits)
		EXPECT_EQ(instructions[i].name, exits(EXIT_VIRT_INSN), before + 1);
}

static void check_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(instructions); i++) {
		const uint8_t *code = instructions[i].code;

		expect_undefined(i, state_for(code), run);
		expect_undefined(i, state_for_user(code), run);
		expect_undefined(i, state_for64(code), run64);
	}
}

/* Natively an Intel processor has the bit. */
static void check_vmxe(void)
{
	static const uint8_t mov_cr4_eax[] = {0x0f, 0x22, 0xe0, INT_DONE};
	uint32_t cr4 = cr4_read();
	struct state state = state_for(mov_cr4_eax);

	state.rax = cr4 | (uint32_t)CR4_VMXE;
	run(&state);
	EXPECT_EQ("setting VMXE", state.vector, VECTOR_GP);
	EXPECT_EQ("error code", state.error, 0);
	EXPECT_EQ("RIP", state.rip, (uint32_t)mov_cr4_eax);
	EXPECT_EQ("CR4", cr4_read(), cr4);
	cr4_write(cr4);
	EXPECT_EQ("exits", exits(EXIT_CONTROL_REGISTER), 1);
}

void guest_main(void)
{
	check_all();
	if (!under_vellum() || !is_intel())
		return;
	check_vmxe();
	check_all();
}
