/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/triple_fault.h"
#include "core/cpu.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "mm/guest_memory.h"

/* Interrupt gates: APM volume 2, 4.8.3 (8 bytes) and 4.8.4 (16 bytes) */
#define GATE_SIZE_32 8u
#define GATE_SIZE_64 16u
#define GATE_TYPE    5 /* the byte that holds P, DPL and the type */
#define GATE_PRESENT 0x80
#define REAL_VECTOR  4u /* an entry of the real-mode vector table */

/* What is wrong with the gate of the double fault; NULL if nothing is. */
static const char *judge_gate(const struct fault_state *state)
{
	uint32_t size = state->long_mode ? GATE_SIZE_64 : GATE_SIZE_32;
	uint8_t gate[GATE_SIZE_64];

	if (state->idt_limit < VECTOR_DF * size + size - 1)
		return "the IDT ends before the double fault's entry (8)";
	if (guest_memory_read(&state->paging, gva(state->idt.raw + VECTOR_DF * size), gate, size))
		return "the IDT is not mapped";
	if (!(gate[GATE_TYPE] & GATE_PRESENT))
		return "the IDT's entry for the double fault (8) is not present";
	return NULL;
}

static const char *judge_stack(const struct fault_state *state)
{
	uint32_t word;

	if (guest_memory_read(&state->paging, gva(state->stack.raw - sizeof(word)), &word,
			      sizeof(word)))
		return "the stack is not mapped (or the #DF gate's task or stack is bad)";
	return NULL;
}

static const char *judge(const struct fault_state *state)
{
	const char *why;

	if (!(state->paging.cr0 & CR0_PE))
		return state->idt_limit < (VECTOR_DF + 1) * REAL_VECTOR - 1
			       ? "the real-mode vector table ends before the double fault's entry"
			       : NULL;
	why = judge_gate(state);
	return why ? why : judge_stack(state);
}

void triple_fault_explain(const struct vcpu *vcpu)
{
	struct fault_state state;
	const char *why;

	vendor->read_fault_state(vcpu, &state);
	why = judge(&state);
	pr_error("  IDT at %lx, limit %x; stack at %lx", state.idt.raw, state.idt_limit,
		 state.stack.raw);
	pr_error("  likely reason: %s", why ? why
					    : "none to be seen in IDT and stack; look at "
					      "the #DF handler's segments");
}
