/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a task switch, which VT-x leaves to Vellum, that forgets something: a register, the
 * link, NT, a busy or accessed bit, CR0.TS, CR3, the LDT, an error code on the new stack, the
 * new task's T bit, where the old task goes on; a bad segment with the wrong exception.
 * Manual: SDM volume 3A, 8.3 (what is saved, loaded, marked), 8.4 (table 8-2: NT, busy, link
 * by kind), 7.12.2 (task gates in the IDT); volume 3C, 26.4.2.
 * Vendors: AMD-V does the switch by itself.
 * Cannot tell apart: an old task that was saved before from one saved after the new one was
 * read; the context that the exception for a bad segment comes in. 16-bit and virtual-8086
 * tasks are not tried.
 */
#include "guest.h"

const char guest_name[] = "task_switch";

/* Selectors of this guest's GDT, behind those of the library's */
#define TSS2	 0x50
#define GATE	 0x58
#define LDT	 0x60
#define ABSENT	 0x68
#define NO_DATA	 0x70
#define GDT_SIZE 15
#define LOCAL	 0x04 /* the first one of the LDT */

#define TYPE_TSS  0x0000890000000000ull
#define TYPE_GATE 0x0000850000000000ull
#define TYPE_LDT  0x0000820000000000ull
#define TYPE_DATA 0x0040930000000000ull
#define ACCESSED  BIT(40)
#define PRESENT	  BIT(47)
#define BUSY(n)	  ((unsigned int)(gdt[(n) / 8] >> 41 & 1))

#define FLAG_NT	    0x4000u
#define REGION	    0x00400000u /* a large page of RAM */
#define STACK	    64
#define NO_SELECTOR 0x1234u
#define TASK_GATE   (TYPE_GATE | TSS2 << 16)

struct tss32 {
	uint32_t link, stacks[6], cr3, eip, eflags;
	uint32_t eax, ecx, edx, ebx, esp, ebp, esi, edi;
	uint32_t es, cs, ss, ds, fs, gs, ldt, trap_io;
};

struct table {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

extern const uint8_t task_entry[];
extern struct {
	uint32_t eflags, esp, top, tr, ldt, cr0, cr3, ebx, fs, local, window;
} task_seen;
uint32_t task_window, *task_eip, task_skip;

static uint64_t gdt[GDT_SIZE], ldt[1];
static struct tss32 second, *first;
static uint32_t stack[STACK], local_word = 0x10ca1, plain_word = 0x11111111;
static uint32_t directory[1024] __attribute__((aligned(4096)));

static uint64_t descriptor(uint64_t type, const void *base, uint32_t limit)
{
	uint32_t address = (uint32_t)base;

	return type | (uint64_t)(address & 0xffffff) << 16 | (uint64_t)(address >> 24) << 56 |
	       limit;
}

static void make_gdt(void)
{
	struct table table;

	asm volatile("sgdt %0" : "=m"(table));
	memcpy(gdt, (const void *)table.base, table.limit + 1u);
	gdt[TSS2 / 8] = descriptor(TYPE_TSS, &second, sizeof(second) - 1);
	gdt[GATE / 8] = TYPE_GATE | TSS2 << 16;
	gdt[LDT / 8] = descriptor(TYPE_LDT, ldt, sizeof(ldt) - 1);
	gdt[ABSENT / 8] = descriptor(TYPE_TSS & ~PRESENT, &second, sizeof(second) - 1);
	gdt[NO_DATA / 8] = TYPE_DATA & ~PRESENT;
	ldt[0] = descriptor(TYPE_DATA & ~ACCESSED, &local_word, 3);
	first = (struct tss32 *)(uint32_t)((gdt[TSS / 8] >> 16 & 0xffffff) |
					   (gdt[TSS / 8] >> 56 << 24));
	table = (struct table){sizeof(gdt) - 1, (uint32_t)gdt};
	asm volatile("lgdt %0" ::"m"(table));
}

static uint64_t *idt_entry(unsigned int vector)
{
	struct table table;

	asm volatile("sidt %0" : "=m"(table));
	return (uint64_t *)table.base + vector;
}

static void prepare(void)
{
	uint32_t cr3;

	asm volatile("mov %%cr3, %0" : "=r"(cr3));
	memset(&task_seen, 0, sizeof(task_seen));
	memset(stack, 0x77, sizeof(stack));
	second = (struct tss32){
		.link = 0xdead,
		.cr3 = cr3,
		.eip = (uint32_t)task_entry,
		.eflags = RFLAGS_RESERVED,
		.ebx = 0xb0b0b0b0,
		.esp = (uint32_t)(stack + STACK / 2),
		.cs = CODE32,
		.ss = DATA32,
		.ds = DATA32,
		.es = DATA32,
		.trap_io = sizeof(struct tss32) << 16,
	};
	first->cr3 = cr3;
	task_window = (uint32_t)&plain_word;
	task_eip = &first->eip;
	task_skip = 0;
	gdt[TSS2 / 8] &= ~BIT(41);
}

/* All that is left of a switch there and back, and what the task saw in between. */
static void say_traces(const char *what)
{
	uint32_t flags;

	asm volatile("pushf; pop %0" : "=r"(flags));
	say_same("%s: NT %x, ESP %d, top %x, TR %x, LDT %x, TS %u, EBX %x", what,
		 task_seen.eflags & FLAG_NT, (int)(task_seen.esp - (uint32_t)(stack + STACK / 2)),
		 task_seen.top, task_seen.tr, task_seen.ldt, task_seen.cr0 >> 3 & 1, task_seen.ebx);
	say_same("%s: FS %x %x, window %x, CR3 %x", what, task_seen.fs, task_seen.local,
		 task_seen.window, task_seen.cr3);
	say_same("%s: then link %x, saved NT %x, saved at +%x, busy %u %u, NT %x, TS %u", what,
		 second.link & 0xffff, second.eflags & FLAG_NT, second.eip - (uint32_t)task_entry,
		 BUSY(TSS), BUSY(TSS2), flags & FLAG_NT, cr0_read() >> 3 & 1);
	asm volatile("clts");
}

/* Every register of the first task has to come back, ESP and segments too. */
#define SWITCH(code)                                                                           \
	do {                                                                                   \
		uint32_t a = 1, b = 2, c = 3, d = 4, s = 5, t = 6, before, after;              \
                                                                                               \
		prepare();                                                                     \
		asm volatile("mov %%esp, %0" : "=r"(before));                                  \
		asm volatile("push %%ebp; mov $0xbbbb, %%ebp; " code                           \
			     "; cmp $0xbbbb, %%ebp; je 1f; ud2; 1: pop %%ebp"                  \
			     : "+a"(a), "+b"(b), "+c"(c), "+d"(d), "+S"(s), "+D"(t)::"memory", \
			       "cc");                                                          \
		asm volatile("mov %%esp, %0" : "=r"(after));                                   \
		EXPECT_EQ("ESP", after, before);                                               \
		EXPECT(a == 1 && b == 2 && c == 3 && d == 4 && s == 5 && t == 6);              \
		say_traces(code);                                                              \
	} while (0)

static void by_instruction(void)
{
	SWITCH("lcall $0x50, $0");
	SWITCH("lcall $0x58, $0");
	SWITCH("ljmp $0x50, $0");
	SWITCH("ljmp $0x58, $0");
	/* Twice without new state in between: the second time goes on behind the IRET. */
	SWITCH("lcall $0x50, $0; lcall $0x50, $0");
	SWITCH("ljmp $0x50, $0; ljmp $0x50, $0");
}

static void check_refused(void)
{
	static const uint8_t busy[] = {0x9a, 0, 0, 0, 0, TSS, 0, INT_DONE};
	static const uint8_t jump_busy[] = {0xea, 0, 0, 0, 0, TSS, 0, INT_DONE};
	static const uint8_t absent[] = {0x9a, 0, 0, 0, 0, ABSENT, 0, INT_DONE};
	static const uint8_t *const codes[] = {busy, jump_busy, absent};

	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++) {
		struct state state = state_for(codes[i]);

		run(&state);
		say_same("refused: vector %llu, error %llx, +%llu", state.vector, state.error,
			 state.rip - (uint32_t)codes[i]);
	}
	say_same("user: vector %u", vector_of_user(absent));
}

static uint64_t set_gate(unsigned int vector, uint64_t entry)
{
	uint64_t old = *idt_entry(vector);

	*idt_entry(vector) = entry;
	return old;
}

static void by_interrupt(void)
{
	uint64_t old = set_gate(0x81, TASK_GATE);

	SWITCH("int $0x81");
	set_gate(0x81, old);
	old = set_gate(3, TASK_GATE);
	SWITCH("int3");
	set_gate(3, old);
}

static void with_paging(void)
{
	uint32_t cr3;

	*(uint32_t *)REGION = 0x22222222;
	paging_on(PAGING_4M);
	asm volatile("mov %%cr3, %0" : "=r"(cr3));
	memcpy(directory, (const void *)cr3, sizeof(directory));
	directory[WINDOW >> 22] = REGION | 0x83; /* present, writable, large */
	prepare();
	second.cr3 = (uint32_t)directory;
	second.ldt = LDT;
	second.fs = LOCAL;
	task_window = WINDOW;
	asm volatile("lcall $0x50, $0" ::: "memory");
	EXPECT_EQ("CR3 there", task_seen.cr3, (uint32_t)directory);
	asm volatile("mov %%cr3, %0" : "=r"(task_seen.cr3));
	EXPECT_EQ("CR3 again", task_seen.cr3, cr3);
	task_seen.cr3 = 0;
	say_traces("paging and LDT");
	say_same("accessed %u", (unsigned int)(ldt[0] >> 40 & 1));
	paging_off();
}

/* The task moves the first one past the two bytes that fault. */
static void run_fault(const char *what, const uint8_t *code)
{
	struct state state = state_for(code);

	prepare();
	task_skip = 2;
	state.rbx = NO_SELECTOR;
	run(&state);
	say_same("%s: vector %llu, +%llu, EBX %llx", what, state.vector, state.rip - (uint32_t)code,
		 state.rbx);
	say_traces(what);
}

static void by_fault(void)
{
	static const uint8_t ud2[] = {0x0f, 0x0b, INT_DONE};
	static const uint8_t mov_ds_ebx[] = {0x8e, 0xdb, INT_DONE};
	uint64_t ud = set_gate(VECTOR_UD, TASK_GATE), gp = set_gate(VECTOR_GP, TASK_GATE), df;

	run_fault("#UD", ud2);
	run_fault("#GP", mov_ds_ebx);
	set_gate(VECTOR_GP, gp & ~PRESENT);
	df = set_gate(VECTOR_DF, TASK_GATE);
	run_fault("#DF", mov_ds_ebx);
	set_gate(VECTOR_DF, df);
	set_gate(VECTOR_GP, gp);
	set_gate(VECTOR_UD, ud);
}

/* A handler of the library ran, in one task or the other: back to the first. */
static void recover(void)
{
	gdt[TSS / 8] &= ~BIT(41);
	gdt[TSS2 / 8] &= ~BIT(41);
	asm volatile("ltr %w0; clts; pushf; andl $~0x4000, (%%esp); popf" ::"r"(TSS) : "memory");
}

static void spoil(const char *what, const uint8_t *code, uint32_t ds, uint32_t trap)
{
	struct state state = state_for(code);

	prepare();
	second.ds = ds;
	second.trap_io |= trap;
	state.rbx = NO_SELECTOR;
	run(&state);
	recover();
	say_same("%s: vector %llu, error %llx, DR6 %llx", what, state.vector, state.error,
		 state.dr6 & 0xe00f);
	if (trap)
		say_same("%s: +%x", what, (uint32_t)state.rip - (uint32_t)task_entry);
}

static void spoilt(void)
{
	static const uint8_t call[] = {0x9a, 0, 0, 0, 0, TSS2, 0, INT_DONE};
	static const uint8_t int81[] = {0xcd, 0x81, INT_DONE};
	static const uint8_t ud2[] = {0x0f, 0x0b, INT_DONE};
	static const uint8_t mov_ds_ebx[] = {0x8e, 0xdb, INT_DONE};
	uint64_t old[] = {set_gate(0x81, TASK_GATE), set_gate(VECTOR_UD, TASK_GATE),
			  set_gate(VECTOR_GP, TASK_GATE)};

	spoil("no DS", call, NO_DATA, 0);
	spoil("bad DS", call, NO_SELECTOR, 0);
	spoil("no DS, INT n", int81, NO_DATA, 0);
	spoil("no DS, #UD", ud2, NO_DATA, 0);
	spoil("no DS, #GP", mov_ds_ebx, NO_DATA, 0);
	spoil("T", call, DATA32, 1);
	spoil("T, INT n", int81, DATA32, 1);
	set_gate(0x81, old[0]);
	set_gate(VECTOR_UD, old[1]);
	set_gate(VECTOR_GP, old[2]);
}

void guest_main(void)
{
	make_gdt();
	by_instruction();
	check_refused();
	by_interrupt();
	by_fault();
	spoilt();
	with_paging();
	if (under_vellum())
		EXPECT((exits(EXIT_TASK_SWITCH) > 0) == is_intel());
}
