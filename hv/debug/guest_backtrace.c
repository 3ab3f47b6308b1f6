/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/guest_backtrace.h"
#include "core/cpu.h"
#include "debug/breakpoints.h"
#include "debug/guest_symbols.h"

#define STACK_SIZE   8192 /* of Linux on i386, and its alignment */
#define STACKS_MAX   2	  /* soft and hard interrupts */
#define FRAME_MAX    4096 /* a frame pointer that is further up is none */
#define CALL_PEEK    7	  /* bytes of the longest call with ModRM, SIB and displacement */
#define CALL_REL32   0xe8
#define CALL_MODRM   0xff
#define MODRM_REG(m) ((m) >> 3 & 7)
#define MODRM_CALL   2

struct stack {
	struct guest_paging paging;
	uint64_t base; /* what is added to SP */
	uint64_t mask;
	unsigned int word; /* bytes */
	uint64_t code_base;
};

static struct stack describe(const struct guest_state *s)
{
	bool wide = s->efer & EFER_LMA;

	return (struct stack){
		.paging = {s->cr0, s->cr3, s->cr4, s->efer},
		.base = wide ? 0 : s->ss.base,
		.mask = wide ? UINT64_MAX : UINT32_MAX,
		.word = wide ? 8 : 4,
		.code_base = wide ? 0 : s->cs.base,
	};
}

static bool read_word(const struct stack *stack, uint64_t address, uint64_t *value)
{
	*value = 0;
	return breakpoints_read(&stack->paging, (stack->base + address) & stack->mask, value,
				stack->word) == stack->word;
}

/* True if a call stands right before address: E8 and its offset, or FF /2 of any length. */
static bool follows_call(const struct stack *stack, uint64_t address)
{
	uint8_t code[CALL_PEEK];

	if (breakpoints_read(&stack->paging, address - CALL_PEEK, code, CALL_PEEK) != CALL_PEEK)
		return false;
	if (code[CALL_PEEK - 5] == CALL_REL32)
		return true;
	for (unsigned int i = 0; i + 2 <= CALL_PEEK; i++)
		if (code[i] == CALL_MODRM && MODRM_REG(code[i + 1]) == MODRM_CALL)
			return true;
	return false;
}

/* A frame: the caller's frame pointer, and behind it the return address. */
static bool next_frame(const struct stack *stack, uint64_t *pointer, uint64_t *address)
{
	uint64_t next, from = *pointer;

	if (!is_aligned(from, stack->word) || !read_word(stack, from, &next) ||
	    !read_word(stack, from + stack->word, address))
		return false;
	*pointer = next;
	return follows_call(stack, *address) && (!next || next - from - 1 < FRAME_MAX);
}

static bool is_code(uint64_t address)
{
	uint64_t offset;

	return guest_symbol_at(address - 1, &offset).length;
}

static unsigned int search(const struct stack *stack, uint64_t from, struct backtrace_frame *frames,
			   unsigned int count, unsigned int max)
{
	uint64_t end = align_up(from + 1, STACK_SIZE), value;

	for (; from < end && count < max && read_word(stack, from, &value); from += stack->word)
		if (is_code(value) && follows_call(stack, value))
			frames[count++] = (struct backtrace_frame){value, true};
	return count;
}

/* Linux notes at the lowest address of an interrupt's stack where the interrupted one is. */
static bool find_outer_stack(const struct stack *stack, uint64_t *sp)
{
	uint64_t start = align_down(*sp, STACK_SIZE), outer;

	if (!read_word(stack, start, &outer) || !is_aligned(outer, stack->word) ||
	    outer - start < STACK_SIZE || outer < PAGE_SIZE)
		return false;
	*sp = outer;
	return true;
}

static unsigned int search_stacks(const struct stack *stack, uint64_t sp,
				  struct backtrace_frame *frames, unsigned int max)
{
	unsigned int count = search(stack, sp, frames, 1, max);

	for (unsigned int i = 0; i < STACKS_MAX && find_outer_stack(stack, &sp); i++)
		count = search(stack, sp, frames, count, max);
	return count;
}

unsigned int guest_backtrace(const struct guest_state *state, struct backtrace_frame *frames,
			     unsigned int max)
{
	struct stack stack = describe(state);
	uint64_t sp = state->regs.rsp & stack.mask, pointer = state->regs.rbp & stack.mask;
	uint64_t address = (stack.code_base + state->rip) & stack.mask;
	unsigned int count = 0;

	frames[count++] = (struct backtrace_frame){address, false};
	while (count < max && pointer && pointer >= sp && pointer - sp < STACK_SIZE &&
	       next_frame(&stack, &pointer, &address)) {
		frames[count++] = (struct backtrace_frame){address, false};
		sp = pointer;
	}
	if (count == 1)
		count = search_stacks(&stack, align_down(sp, stack.word), frames, max);
	return count;
}
