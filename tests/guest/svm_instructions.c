/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an instruction of SVM that does something in the guest. VMRUN would be the end of
 * Vellum, CLGI of the guest's interrupts, VMSAVE writes to any physical address.
 * Manual: APM volume 2, 15.4: without EFER.SVME each is #UD, at every CPL; 15.9: with
 * SVME, CPL 3 is #GP before any intercept, and the guest runs with SVME set.
 * Vendors: Intel's processors have none of them, so nothing exits there.
 * Cannot tell apart: #UD made by Vellum from #UD of the processor; the counter can.
 */
#include "guest.h"

const char guest_name[] = "svm_instructions";

static const struct {
	const char *name;
	uint8_t code[5];
} instructions[] = {
	{"VMRUN", {0x0f, 0x01, 0xd8, INT_DONE}},   {"VMLOAD", {0x0f, 0x01, 0xda, INT_DONE}},
	{"VMSAVE", {0x0f, 0x01, 0xdb, INT_DONE}},  {"STGI", {0x0f, 0x01, 0xdc, INT_DONE}},
	{"CLGI", {0x0f, 0x01, 0xdd, INT_DONE}},	   {"SKINIT", {0x0f, 0x01, 0xde, INT_DONE}},
	{"INVLPGA", {0x0f, 0x01, 0xdf, INT_DONE}},
};

static void check_undefined(const char *name, struct state state, void (*runs)(struct state *))
{
	uint64_t before = exits(EXIT_VIRT_INSN);
	struct state start = state;

	state.rax = kept_memory().base; /* what VMRUN and VMSAVE would like to have */
	runs(&state);
	if (state.vector != VECTOR_UD || state.rip != start.rip || state.rsp == 0)
		fail(__FILE__, __LINE__, "%s: vector %llu", name, state.vector);
	EXPECT_EQ("RAX", state.rax, kept_memory().base);
	if (under_vellum())
		EXPECT_EQ("exits", exits(EXIT_VIRT_INSN), before + !is_intel());
}

void guest_main(void)
{
	static const uint8_t vmcall[] = {0x0f, 0x01, 0xc1, INT_DONE};
	static const uint8_t vmmcall[] = {0x0f, 0x01, 0xd9, INT_DONE};
	const uint8_t *others = is_intel() ? vmmcall : vmcall; /* the other vendor's hypercall */

	for (unsigned int i = 0; i < ARRAY_SIZE(instructions); i++) {
		const char *name = instructions[i].name;
		const uint8_t *code = instructions[i].code;
		unsigned int user = vector_of_user(code);

		check_undefined(name, state_for(code), run);
		check_undefined(name, state_for64(code), run64);
		if (user != VECTOR_UD && !(under_vellum() && user == VECTOR_GP))
			fail(__FILE__, __LINE__, "%s at CPL 3: vector %u", name, user);
	}
	say_same("other's call: vector %u, at CPL 3 %u", vector_of(others), vector_of_user(others));
}
