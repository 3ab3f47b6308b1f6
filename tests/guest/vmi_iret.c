/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an IRET routine (call 33) that changes a register of the interrupted code, reaches
 * the stack through DS, keeps CALL's return address on the stack, or opens a gap in which an
 * interrupt comes on the kernel's stack instead of behind the IRET.
 * Manual: docs/vmi.md, call 33; SDM volume 2A, IRET: frames to the same CPL, to an outer
 * one, to virtual-8086 mode.
 * Vendors: no difference.
 * Cannot tell apart: a routine that restores IOPL from one that need not (both may be).
 */
#include "apic.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"
#include "segments.h"
#include "site.h"

const char guest_name[] = "vmi_iret";

#define FLAG_IF	  0x200u
#define NOP	  0x90
#define HLT	  0xf4
#define CALL	  0xe8
#define JMP	  0xe9
#define PUSH	  0x68
#define CALL_SIZE 5
#define WRITABLE  0x02u
#define LOW_CODE  0x8000u /* below 1 MiB, for virtual-8086 mode */
#define LOW_CS	  0x07f3u /* RPL bits set, as run() tells CPL 3 by them */
#define LOW_IP	  ((uint16_t)(LOW_CODE - (LOW_CS << 4)))

static const uint8_t landing[] = {NOP, INT_DONE};
static struct site site;
static uint32_t no_op = 0x0badbab0;
static uint8_t stack[512], user_stack[64];

/* The state right before the site, with frame's words on the stack, skew bytes off. */
static struct state before_site(const uint32_t *frame, unsigned int words, unsigned int skew)
{
	struct state state = state_for(site.lead);
	uint8_t *top = stack + sizeof(stack) - 64 + skew;

	memcpy(top, frame, words * sizeof(*frame));
	state.cs = LINUX_KERNEL_CS;
	state.rsp = (uint32_t)top;
	state.rax = 0xa0a0a0a0;
	state.rcx = 0xc0c0c0c0;
	state.rdx = 0xd0d0d0d0;
	state.rbx = 0xb0b0b0b0;
	state.rbp = 0xb9b9b9b9;
	state.rsi = 0x51515151;
	state.rdi = 0xd1d1d1d1;
	return state;
}

static void expect_registers(const struct state *end)
{
	EXPECT_EQ("EAX", end->rax, 0xa0a0a0a0);
	EXPECT_EQ("ECX", end->rcx, 0xc0c0c0c0);
	EXPECT_EQ("EDX", end->rdx, 0xd0d0d0d0);
	EXPECT_EQ("EBX", end->rbx, 0xb0b0b0b0);
	EXPECT_EQ("EBP", end->rbp, 0xb9b9b9b9);
	EXPECT_EQ("ESI", end->rsi, 0x51515151);
	EXPECT_EQ("EDI", end->rdi, 0xd1d1d1d1);
}

static void expect_landed(const struct state *end, uint32_t cs, uint32_t eflags, uint32_t esp)
{
	EXPECT_EQ("vector", end->vector, DONE);
	EXPECT_EQ("EIP", end->rip, (uint32_t)landing + sizeof(landing));
	EXPECT_EQ("CS", end->cs, cs);
	EXPECT_EQ("EFLAGS", end->rflags, eflags);
	EXPECT_EQ("ESP", end->rsp, esp);
	expect_registers(end);
}

static void check_to_user(uint32_t eflags, unsigned int skew)
{
	uint32_t esp = (uint32_t)user_stack + sizeof(user_stack) - skew;
	uint32_t frame[] = {(uint32_t)landing, LINUX_USER_CS, eflags, esp, LINUX_USER_DS};
	struct state state = before_site(frame, ARRAY_SIZE(frame), skew);

	run(&state);
	expect_landed(&state, LINUX_USER_CS, eflags, esp);
}

static void check_to_kernel(uint32_t eflags, unsigned int skew)
{
	uint32_t frame[] = {(uint32_t)landing, LINUX_KERNEL_CS, eflags};
	struct state state = before_site(frame, ARRAY_SIZE(frame), skew);
	uint32_t esp = (uint32_t)state.rsp + sizeof(frame);

	run(&state);
	expect_landed(&state, LINUX_KERNEL_CS, eflags, esp);
}

/* HLT is #GP in virtual-8086 mode, and is the frame's first instruction. */
static void check_to_vm86(void)
{
	uint32_t frame[] = {LOW_IP, LOW_CS, (uint32_t)RFLAGS_VM | 2, 0x10, 0x700, 0, 0, 0, 0};
	struct state state = before_site(frame, ARRAY_SIZE(frame), 0);

	*(uint8_t *)LOW_CODE = HLT;
	run(&state);
	EXPECT_EQ("vector", state.vector, VECTOR_GP);
	EXPECT_EQ("VM", state.rflags & RFLAGS_VM, RFLAGS_VM);
	EXPECT_EQ("CS", state.cs, LOW_CS);
	EXPECT_EQ("IP", state.rip, LOW_IP);
	EXPECT_EQ("SP", state.rsp, 0x10);
	expect_registers(&state);
}

/* One interrupt waits; the frame lets it in, and nothing before that may. */
static void check_pending(void)
{
	uint32_t esp = (uint32_t)user_stack + sizeof(user_stack);
	uint32_t frame[] = {(uint32_t)landing, LINUX_USER_CS, FLAG_IF | 2, esp, LINUX_USER_DS};
	struct state state = before_site(frame, ARRAY_SIZE(frame), 0);

	run_set_handler(VECTOR_LVTT, NULL);
	apic_send_to_self(ICR_FIXED | VECTOR_LVTT);
	run(&state);
	*apic_register(APIC_EOI) = 0;
	EXPECT_EQ("vector", state.vector, VECTOR_LVTT);
	EXPECT_EQ("CS interrupted", state.cs, LINUX_USER_CS);
	EXPECT_EQ("EIP interrupted", state.rip, (uint32_t)landing);
	expect_registers(&state);
}

/* A debugger's TF traps behind the first instruction of the user. */
static void check_single_step(void)
{
	uint32_t esp = (uint32_t)user_stack + sizeof(user_stack);
	uint32_t frame[] = {(uint32_t)landing, LINUX_USER_CS, (uint32_t)RFLAGS_TF | 2, esp,
			    LINUX_USER_DS};
	struct state state = before_site(frame, ARRAY_SIZE(frame), 0);

	run(&state);
	EXPECT_EQ("vector", state.vector, VECTOR_DB);
	EXPECT_EQ("EIP stepped to", state.rip, (uint32_t)landing + 1);
	expect_registers(&state);
}

/* The routine may change its site, which the kernel has made read-only for itself as well. */
static void check_read_only(void)
{
	static uint8_t page[PAGE_SIZE] __attribute__((aligned(4096)));
	struct site *there = (struct site *)WINDOW;
	uint32_t *entry = paging_window_entry(told("pae") ? PAGING_PAE : PAGING_4K, 0);

	paging_map_window(0, (uint32_t)page);
	site_make(there, SITE_JUMP, &no_op, NULL);
	site_patch(there, VMI_CALL_IRET);
	*entry &= ~WRITABLE;
	asm volatile("invlpg (%0)" ::"r"(WINDOW));
	cr0_write(cr0_read() | (uint32_t)CR0_WP);
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t frame[] = {(uint32_t)landing, LINUX_KERNEL_CS, 2};
		struct state state = before_site(frame, ARRAY_SIZE(frame), 0);
		uint32_t esp = (uint32_t)state.rsp + sizeof(frame);

		state.rip = (uint32_t)there->bytes;
		run(&state);
		expect_landed(&state, LINUX_KERNEL_CS, 2, esp);
		EXPECT_EQ("CR0.WP", cr0_read() & CR0_WP, CR0_WP);
	}
}

static void put_jump(uint8_t *at, uint8_t opcode, uint32_t target)
{
	uint32_t distance = target - (uint32_t)(at + CALL_SIZE);

	at[0] = opcode;
	memcpy(at + 1, &distance, sizeof(distance));
}

/* Whoever comes by anything but a CALL of the routine gets an IRET, and keeps his code. */
static void expect_unchanged(void)
{
	struct site before = site;

	check_to_user(0x202, 0);
	check_to_kernel(0x8d7, 1);
	EXPECT(!memcmp(&site, &before, sizeof(site)));
}

static void check_other_ways(void)
{
	static uint32_t routine;
	uint32_t behind = (uint32_t)(site.bytes + 15);

	routine = pv_reloc(VMI_CALL_IRET).routine;
	put_jump(site.bytes, CALL, (uint32_t)(site.bytes + 8));
	put_jump(site.bytes + 8, JMP, routine);
	expect_unchanged();

	site.bytes[0] = PUSH; /* an address behind what looks like a CALL, but for its opcode */
	memcpy(site.bytes + 1, &behind, sizeof(behind));
	put_jump(site.bytes + 5, JMP, routine);
	put_jump(site.bytes + 10, NOP, routine);
	expect_unchanged();
}

void guest_main(void)
{
	/* PUSH 0; POP DS; PUSH 0; POP ES: only CS and SS can be used behind it. */
	static const uint8_t poison[] = {0x6a, 0x00, 0x1f, 0x6a, 0x00, 0x07};
	static const uint32_t flags[] = {0x002, 0x202, 0x8d7, 0x402, 0x240002};

	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	site_make(&site, SITE_JUMP, &no_op, NULL);
	EXPECT_EQ("the site's size", site.size, 7);
	site_patch(&site, VMI_CALL_IRET);
	memcpy(site.lead, poison, sizeof(poison));
	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++)
		for (unsigned int skew = 0; skew < 4; skew++) {
			check_to_user(flags[i], skew);
			check_to_kernel(flags[i], skew);
		}
	check_to_vm86();
	check_pending();
	check_single_step();
	check_read_only();
	check_other_ways();
}
