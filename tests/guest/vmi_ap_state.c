/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a processor that SetInitialAPState (62) has described and that starts in another
 * state, or at the page that STARTUP names; EFLAGS of 0, as Linux leaves it, that VM entry
 * refuses; a state that is read from the guest too late; one for a processor that is none;
 * writes to the APIC that still exit when INIT and STARTUP come by call 63, or one of these two
 * that is lost then.
 * Manual: docs/vmi.md, call 62; Linux 2.6.32, vmi_32.c and smpboot.c: INIT, the call, then
 * two STARTUPs of the trampoline.
 * Vendors: AMD-V catches the sender's ICR, VT-x the STARTUP.
 * Cannot tell apart: a second STARTUP that is ignored from one that is not delivered.
 */
#include "apic.h"
#include "guest.h"
#include "processors.h"
#include "pv.h"
#include "segments.h"

const char guest_name[] = "vmi_ap_state";

#define ABSENT	   9u /* no processor has this APIC id */
#define CR0_LINUX  0x80050023u
#define STACK_SIZE 1024u
#define PATIENCE   100000000

struct table {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

/* What the processor saw, by start_secondary's first instructions. */
static volatile struct {
	uint32_t count, eax, ebx, ecx, edx, esp, ebp, esi, edi;
	uint32_t eflags, cr0, cr3, cr4, cs, ss, ds, fs, gs;
	struct table gdt, idt;
} seen;

static struct vmi_ap_state state;
static uint8_t stack[STACK_SIZE] __attribute__((aligned(16)));
static uint32_t other;

/* Has no stack frame: ESP and all registers are to be seen as they are. */
__attribute__((naked)) static void start_secondary(void)
{
	asm volatile("mov %%eax, %0; mov %%ebx, %1; mov %%ecx, %2; mov %%edx, %3;"
		     "mov %%esp, %4; mov %%ebp, %5; mov %%esi, %6; mov %%edi, %7"
		     : "=m"(seen.eax), "=m"(seen.ebx), "=m"(seen.ecx), "=m"(seen.edx),
		       "=m"(seen.esp), "=m"(seen.ebp), "=m"(seen.esi), "=m"(seen.edi));
	asm volatile("pushf; pop %0; mov %%cr0, %%eax; mov %%eax, %1; mov %%cr3, %%eax;"
		     "mov %%eax, %2; mov %%cr4, %%eax; mov %%eax, %3"
		     : "=m"(seen.eflags), "=m"(seen.cr0), "=m"(seen.cr3), "=m"(seen.cr4));
	asm volatile("movl %%cs, %%eax; movl %%eax, %0; movl %%ss, %%eax; movl %%eax, %1;"
		     "movl %%ds, %%eax; movl %%eax, %2; movl %%fs, %%eax; movl %%eax, %3;"
		     "movl %%gs, %%eax; movl %%eax, %4"
		     : "=m"(seen.cs), "=m"(seen.ss), "=m"(seen.ds), "=m"(seen.fs), "=m"(seen.gs));
	asm volatile("sgdt %0; sidt %1; lock incl %2; 1: cli; hlt; jmp 1b"
		     : "=m"(seen.gdt), "=m"(seen.idt), "+m"(seen.count));
}

static void describe(void)
{
	struct table gdt, idt;
	uint32_t cr3;

	asm volatile("sgdt %0; sidt %1; mov %%cr3, %2" : "=m"(gdt), "=m"(idt), "=r"(cr3));
	state = (struct vmi_ap_state){
		.cr0 = CR0_LINUX,
		.cr3 = cr3,
		.cr4 = cr4_read(),
		.eip = (uint32_t)start_secondary,
		.eax = 0xa0a0a0a0,
		.ebx = 0xb0b0b0b0,
		.ecx = 0xc0c0c0c0,
		.edx = 0xd0d0d0d0,
		.esp = (uint32_t)(stack + sizeof(stack)),
		.ebp = 0xb9b9b9b9,
		.esi = 0x51515151,
		.edi = 0xd1d1d1d1,
		.cs = LINUX_KERNEL_CS,
		.ss = LINUX_KERNEL_DS,
		.ds = LINUX_USER_DS,
		.es = LINUX_USER_DS,
		.fs = LINUX_PERCPU,
		.gdtr_limit = gdt.limit,
		.gdtr_base = gdt.base,
		.idtr_limit = idt.limit,
		.idtr_base = idt.base,
	};
}

static void expect_seen(void)
{
	EXPECT_EQ("EAX", seen.eax, 0xa0a0a0a0);
	EXPECT_EQ("EBX", seen.ebx, 0xb0b0b0b0);
	EXPECT_EQ("ECX", seen.ecx, 0xc0c0c0c0);
	EXPECT_EQ("EDX", seen.edx, 0xd0d0d0d0);
	EXPECT_EQ("ESP", seen.esp, (uint32_t)(stack + sizeof(stack)));
	EXPECT_EQ("EBP", seen.ebp, 0xb9b9b9b9);
	EXPECT_EQ("ESI", seen.esi, 0x51515151);
	EXPECT_EQ("EDI", seen.edi, 0xd1d1d1d1);
	EXPECT_EQ("EFLAGS", seen.eflags, RFLAGS_RESERVED);
	EXPECT_EQ("CR0", seen.cr0 & ~CR0_ET, CR0_LINUX & ~CR0_ET);
	EXPECT_EQ("CR4", seen.cr4, cr4_read());
	EXPECT_EQ("CS", seen.cs & 0xffff, LINUX_KERNEL_CS);
	EXPECT_EQ("SS", seen.ss & 0xffff, LINUX_KERNEL_DS);
	EXPECT_EQ("DS", seen.ds & 0xffff, LINUX_USER_DS);
	EXPECT_EQ("FS", seen.fs & 0xffff, LINUX_PERCPU);
	EXPECT_EQ("GS", seen.gs & 0xffff, 0);
}

static void await_start(uint32_t count)
{
	for (int i = 0; i < PATIENCE && seen.count < count; i++)
		cpu_relax();
	EXPECT_EQ("starts by the state", seen.count, count);
}

/* As smpboot.c does: the state lies on its stack, and is gone behind the call. */
static void check_start(uint32_t count)
{
	uint32_t cr3;

	send_to(other, ICR_INIT_LEVEL);
	send_to(other, ICR_INIT_RELEASE);
	wait_a_while();
	describe();
	cr3 = state.cr3;
	EXPECT_EQ("SetInitialAPState", (uint32_t)VMI(SetInitialAPState, (uint32_t)&state, other),
		  0);
	memset(&state, 0xff, sizeof(state));
	wait_a_while();
	EXPECT_EQ("starts before STARTUP", seen.count, count - 1);
	send_to(other, ICR_STARTUP | START_PAGE);
	await_start(count);
	send_to(other, ICR_STARTUP | START_PAGE);
	wait_a_while();
	EXPECT_EQ("starts behind the second STARTUP", seen.count, count);
	EXPECT_EQ("starts of the trampoline", arrival_of(other)->count, 0);
	EXPECT_EQ("CR3", seen.cr3, cr3);
	expect_seen();
}

static void send_by_call(uint32_t command)
{
	VMI(APICWrite, APIC_ICR_HIGH & 0xfff, other << 24);
	VMI(APICWrite, APIC_ICR & 0xfff, command);
	wait_a_while();
}

static void expect_no_exits(void)
{
	uint64_t before = exits(VELLUM_CPUID_EXITS_ALL);

	for (uint32_t i = 0; i < 16; i++)
		*apic_register(APIC_TPR) = i << 4;
	*apic_register(APIC_TPR) = 0;
	EXPECT_EQ("exits", exits(VELLUM_CPUID_EXITS_ALL), before + 1);
}

/* A guest that sends INIT and STARTUP by call 63 needs no other write to be caught. */
static void check_start_by_call(uint32_t count)
{
	send_by_call(ICR_INIT_LEVEL);
	expect_no_exits();
	describe();
	EXPECT_EQ("SetInitialAPState", (uint32_t)VMI(SetInitialAPState, (uint32_t)&state, other),
		  0);
	send_by_call(ICR_STARTUP | START_PAGE);
	await_start(count);
	expect_seen();
	expect_no_exits();
}

static void expect_refused(const void *address, uint32_t apic_id)
{
	EXPECT((int32_t)VMI(SetInitialAPState, (uint32_t)address, apic_id) < 0);
}

static void check_refused(void)
{
	describe();
	expect_refused((void *)(WINDOW + 0x1000), other);
	expect_refused((void *)(WINDOW - 8), other);
	expect_refused((void *)0xfffffff8, other);
	expect_refused(&state, ABSENT);
	expect_refused(&state, ~0u);
}

void guest_main(void)
{
	other = 1 - own_apic_id();
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	processors_init();
	check_refused();
	check_start(1);
	check_refused();
	check_start(2);
	if (!pv_has(VMI_CALL_APICWrite))
		return; /* where nothing is caught */
	check_start_by_call(3);
	check_start_by_call(4);
}
