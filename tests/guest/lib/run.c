/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"
#include "guest.h"

#define VECTORS	   256
#define STUB_SIZE  16
#define PROCESSORS 2

/* Descriptors, flat and accessed: APM volume 2, 4.8 */
#define SEGMENT_CODE32	    0x00cf9b000000ffffull
#define SEGMENT_DATA32	    0x00cf93000000ffffull
#define SEGMENT_CODE64	    0x00af9b000000ffffull
#define SEGMENT_USER_CODE32 0x00cffb000000ffffull
#define SEGMENT_USER_DATA32 0x00cff3000000ffffull
#define SEGMENT_CODE16	    0x008f9b000000ffffull
#define SEGMENT_DATA16	    0x008f93000000ffffull
#define SEGMENT_TSS32	    0x0000890000000000ull
#define SEGMENT_BASE_BITS   0xff0000ffffff0000ull

#define GATE_INTERRUPT 0x8e00u
#define GATE_USER      0x6000u /* DPL 3 */

struct table {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

/* APM volume 2, 12.2.2; only the stack for CPL 0 is used */
struct tss {
	uint32_t link, esp0, ss0;
	uint32_t unused[22];
	uint16_t trap, io_map;
};

void run64_enter(struct state *state, uint32_t pml4); /* run64.asm */
void run_handled(unsigned int vector);		      /* called by run.asm, as the next */
_Noreturn void run_unexpected(const uint32_t *frame);
extern const uint8_t run_vectors[], run64_vectors[];
extern uint8_t run_fault_stack_2[];
extern struct {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed)) idt64;

void (*run_handlers[VECTORS])(void);

static uint64_t gdt[] = {
	0,
	SEGMENT_CODE32,
	SEGMENT_DATA32,
	SEGMENT_CODE64,
	SEGMENT_USER_CODE32,
	SEGMENT_USER_DATA32,
	SEGMENT_CODE16,
	SEGMENT_DATA16,
	SEGMENT_CODE32,
	SEGMENT_TSS32,
};
static uint64_t idt[VECTORS], long_idt[VECTORS][2];
static struct tss tss[PROCESSORS];
static uint8_t stacks[PROCESSORS][8192] __attribute__((aligned(4096)));

void run_handled(unsigned int vector)
{
	run_handlers[vector]();
}

_Noreturn void run_unexpected(const uint32_t *frame)
{
	fail(__FILE__, __LINE__, "exception %u, error code %x, at %x, outside of any snippet",
	     frame[0], frame[1], frame[2]);
}

static uint64_t based(uint64_t descriptor, uint32_t base)
{
	return (descriptor & ~SEGMENT_BASE_BITS) | (uint64_t)(base & 0xffffff) << 16 |
	       (uint64_t)(base >> 24) << 56;
}

void run_set_base(unsigned int selector, uint32_t base)
{
	uint64_t *descriptor = &gdt[selector / sizeof(*gdt)];

	*descriptor = based(*descriptor, base);
}

void run_set_handler(unsigned int vector, void (*handler)(void))
{
	run_handlers[vector] = handler;
}

/* Without CS: run.asm's stubs are near, and the loader's code segment is flat as well. */
static void load_gdt(void)
{
	struct table table = {sizeof(gdt) - 1, (uint32_t)gdt};

	asm volatile("lgdt %0\n\t"
		     "ljmp %1, $1f\n"
		     "1:\n\t"
		     "mov %2, %%ds\n\t"
		     "mov %2, %%es\n\t"
		     "mov %2, %%ss\n\t"
		     "mov %3, %%fs\n\t"
		     "mov %3, %%gs"
		     :
		     : "m"(table), "i"(CODE32), "r"(DATA32), "r"(0)
		     : "memory");
}

static void load_idt(void)
{
	struct table table = {sizeof(idt) - 1, (uint32_t)idt};

	asm volatile("lidt %0" ::"m"(table));
}

static uint64_t gate(uint32_t stub, unsigned int selector, unsigned int type)
{
	return (uint64_t)(stub & 0xffff0000) << 32 | (uint64_t)type << 32 | selector << 16 |
	       (stub & 0xffff);
}

static void fill_idts(void)
{
	for (unsigned int vector = 0; vector < VECTORS; vector++) {
		unsigned int type = GATE_INTERRUPT | (vector == DONE ? GATE_USER : 0);
		unsigned int offset = vector * STUB_SIZE;

		idt[vector] = gate((uint32_t)run_vectors + offset, CODE32, type);
		long_idt[vector][0] = gate((uint32_t)run64_vectors + offset, CODE64, type);
	}
	idt64.base = (uint32_t)long_idt;
}

/* Its descriptor. */
static uint64_t make_tss(struct tss *made, const uint8_t *fault_stack)
{
	made->ss0 = DATA32;
	made->esp0 = (uint32_t)fault_stack;
	made->io_map = sizeof(*made);
	return based(SEGMENT_TSS32, (uint32_t)made) | (sizeof(*made) - 1);
}

uint64_t run_second_tss(void)
{
	return make_tss(&tss[1], run_fault_stack_2);
}

void run_init(void)
{
	gdt[TSS / sizeof(*gdt)] = make_tss(&tss[0], run_fault_stack);
	load_gdt();
	fill_idts();
	load_idt();
	asm volatile("ltr %w0" ::"r"(TSS));
}

unsigned int run_processor(void)
{
	uint16_t selector;

	asm volatile("str %0" : "=r"(selector));
	return selector == TSS_2;
}

struct state state_for(const void *code)
{
	unsigned int processor = run_processor();

	return (struct state){
		.rip = (uint32_t)code,
		.cs = CODE32,
		.ss = DATA32,
		.rsp = (uint32_t)(stacks[processor] + sizeof(stacks[processor])),
		.rflags = RFLAGS_RESERVED,
	};
}

struct state state_for64(const void *code)
{
	struct state state = state_for(code);

	state.cs = CODE64;
	return state;
}

struct state state_for_user(const void *code)
{
	struct state state = state_for(code);

	state.cs = USER_CODE;
	state.ss = USER_DATA;
	return state;
}

void run64(struct state *state)
{
	run64_enter(state, paging_long_root());
}

unsigned int vector_of(const void *code)
{
	struct state state = state_for(code);

	run(&state);
	return (unsigned int)state.vector;
}

unsigned int vector_of_user(const void *code)
{
	struct state state = state_for_user(code);

	run(&state);
	return (unsigned int)state.vector;
}
