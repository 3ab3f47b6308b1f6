/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a SYSEXIT routine (call 34) that changes a register or uses DS or ES, forgets IF, or
 * lets a pending interrupt in before SYSEXIT: it would run on a stack that is already left.
 * Manual: docs/vmi.md, call 34; SDM volume 2B, SYSEXIT (selectors from SYSENTER_CS), STI (its
 * shadow covers the next instruction).
 * Vendors: no difference.
 * Cannot tell apart: a return address dropped before SYSEXIT from one that stays.
 */
#include "apic.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"
#include "segments.h"
#include "site.h"

const char guest_name[] = "vmi_sysexit";

#define MSR_SYSENTER_CS 0x174u
#define FLAG_IF		0x200u
#define NOP		0x90

static const uint8_t landing[] = {NOP, INT_DONE};
static struct site site;
static uint32_t no_op = 0xfeedbab0;
static uint8_t user_stack[64];

static struct state before_site(uint32_t esp)
{
	struct state state = state_for(site.lead);

	state.cs = LINUX_KERNEL_CS;
	state.rdx = (uint32_t)landing;
	state.rcx = esp;
	state.rax = 0xa0a0a0a0;
	state.rbx = 0xb0b0b0b0;
	state.rbp = 0xb9b9b9b9;
	state.rsi = 0x51515151;
	state.rdi = 0xd1d1d1d1;
	return state;
}

static void expect_user(const struct state *end, uint32_t esp)
{
	EXPECT_EQ("CS", end->cs, LINUX_USER_CS);
	EXPECT_EQ("ESP", end->rsp, esp);
	EXPECT_EQ("IF", end->rflags & FLAG_IF, FLAG_IF);
	EXPECT_EQ("EAX", end->rax, 0xa0a0a0a0);
	EXPECT_EQ("ECX", end->rcx, esp);
	EXPECT_EQ("EDX", end->rdx, (uint32_t)landing);
	EXPECT_EQ("EBX", end->rbx, 0xb0b0b0b0);
	EXPECT_EQ("EBP", end->rbp, 0xb9b9b9b9);
	EXPECT_EQ("ESI", end->rsi, 0x51515151);
	EXPECT_EQ("EDI", end->rdi, 0xd1d1d1d1);
}

static void check_return(unsigned int skew)
{
	uint32_t esp = (uint32_t)user_stack + sizeof(user_stack) - skew;
	struct state state = before_site(esp);

	run(&state);
	EXPECT_EQ("vector", state.vector, DONE);
	EXPECT_EQ("EIP", state.rip, (uint32_t)landing + sizeof(landing));
	expect_user(&state, esp);
}

static void check_pending(void)
{
	uint32_t esp = (uint32_t)user_stack + sizeof(user_stack);
	struct state state = before_site(esp);

	run_set_handler(VECTOR_LVTT, NULL);
	apic_send_to_self(ICR_FIXED | VECTOR_LVTT);
	run(&state);
	*apic_register(APIC_EOI) = 0;
	EXPECT_EQ("vector", state.vector, VECTOR_LVTT);
	EXPECT_EQ("EIP interrupted", state.rip, (uint32_t)landing);
	expect_user(&state, esp);
}

void guest_main(void)
{
	/* PUSH 0; POP DS; PUSH 0; POP ES */
	static const uint8_t poison[] = {0x6a, 0x00, 0x1f, 0x6a, 0x00, 0x07};

	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	EXPECT_EQ("SYSENTER_CS", msr_write(MSR_SYSENTER_CS, LINUX_KERNEL_CS), DONE);
	site_make(&site, SITE_JUMP, &no_op, NULL);
	site_patch(&site, VMI_CALL_SYSEXIT);
	memcpy(site.lead, poison, sizeof(poison));
	for (unsigned int skew = 0; skew < 4; skew++)
		check_return(skew);
	check_pending();
}
