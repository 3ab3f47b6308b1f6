/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a routine that is right on one processor alone: an IRET site that two of them change at
 * a time, or that one runs through while the other changes it; a page table entry or a
 * descriptor that another processor sees half; interrupt calls that touch what processors share;
 * an alarm of one processor that comes on another, or ends another one's.
 * Manual: docs/vmi.md, calls 29 to 33, 11 to 13, 39, 62, 68, 69; SDM volume 3A, 9.1.
 * Vendors: no difference.
 * Cannot tell apart: two processors from one that an emulator takes in turn; with icount QEMU
 * does that, in stretches too long to see half an entry.
 */
#include "alarm.h"
#include "apic.h"
#include "guest.h"
#include "irq.h"
#include "processors.h"
#include "pv.h"
#include "segments.h"
#include "site.h"

const char guest_name[] = "vmi_smp";

#define CR0_LINUX    0x80050023u
#define FLAG_IF	     0x200u
#define LOW	     0x0000000a00001001ull /* entries that share no half */
#define HIGH	     0x0000000b00002001ull
#define ROUNDS	     300u
#define STORES	     3000u
#define PATIENCE     100000000u
#define AP_VECTOR    0xe0u
#define STACK_SIZE   4096u
#define HALF(number) ((uint32_t)(number))

/* What both processors do at a time, and how far each has come. */
static void (*volatile job)(void);
static volatile uint32_t jobs, done, torn, looks;
static volatile bool storing;
static uint8_t stack[STACK_SIZE] __attribute__((aligned(16)));
static volatile uint64_t entry, table[2];
static struct site site;
static uint32_t no_op = 0x0badbab0, other;

struct table_register {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

/* ---- the other processor ---- */

static _Noreturn void secondary(void)
{
	for (uint32_t number = 1;; number++) {
		while (jobs < number)
			cpu_relax();
		job();
		done = number;
	}
}

static void start_other(void)
{
	static struct vmi_ap_state state;
	struct table_register gdt, idt;
	uint32_t cr3;

	asm volatile("sgdt %0; sidt %1; mov %%cr3, %2" : "=m"(gdt), "=m"(idt), "=r"(cr3));
	state = (struct vmi_ap_state){
		.cr0 = CR0_LINUX,
		.cr3 = cr3,
		.cr4 = cr4_read(),
		.eip = (uint32_t)secondary,
		.esp = (uint32_t)(stack + sizeof(stack) - 4),
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
	send_to(other, ICR_INIT_LEVEL);
	send_to(other, ICR_INIT_RELEASE);
	EXPECT_EQ("SetInitialAPState", HALF(VMI(SetInitialAPState, (uint32_t)&state, other)), 0);
	send_to(other, ICR_STARTUP | START_PAGE);
}

static void begin_on_other(void (*what)(void))
{
	job = what;
	jobs++;
}

static void await_other(const char *what)
{
	for (unsigned int i = 0; i < PATIENCE && done != jobs; i++)
		cpu_relax();
	if (done != jobs)
		fail(__FILE__, __LINE__, "%s: the other processor does not come back", what);
}

/* ---- IRET, to the next instruction ---- */

static void iret_by_site(void)
{
	asm volatile("pushf; push %%cs; push $1f; jmp *%0; 1:" ::"r"(site.bytes) : "memory");
}

/* Who still sees the CALL has to find its four other bytes as well. */
static void check_iret(void)
{
	uint32_t distance;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		site_make(&site, SITE_JUMP, &no_op, NULL);
		site_patch(&site, VMI_CALL_IRET);
		memcpy(&distance, site.bytes + 1, sizeof(distance));
		begin_on_other(iret_by_site);
		for (unsigned int pause = 0; pause < i % 8; pause++)
			cpu_relax();
		iret_by_site();
		await_other("IRET");
		EXPECT_EQ("bytes behind the CALL's first", *(uint32_t *)(site.bytes + 1), distance);
	}
}

/* ---- interrupt calls: registers and flags are each processor's own ---- */

static uint32_t call_mask(uint32_t routine, uint32_t eax)
{
	asm volatile("call *%1" : "+a"(eax) : "r"(routine) : "cc", "memory");
	return eax;
}

static uint32_t enable, disable, get, set;

static void switch_interrupts(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		call_mask(i & 1 ? enable : set, FLAG_IF);
		if (!(call_mask(get, 0) & FLAG_IF))
			torn++;
		call_mask(i & 1 ? disable : set, 0);
		if (call_mask(get, 0) & FLAG_IF)
			torn++;
	}
}

static void check_interrupt_calls(void)
{
	enable = pv_reloc(VMI_CALL_EnableInterrupts).routine;
	disable = pv_reloc(VMI_CALL_DisableInterrupts).routine;
	get = pv_reloc(VMI_CALL_GetInterruptMask).routine;
	set = pv_reloc(VMI_CALL_SetInterruptMask).routine;
	begin_on_other(switch_interrupts);
	switch_interrupts();
	await_other("interrupt calls");
	EXPECT_EQ("masks that were another processor's", torn, 0);
}

/* ---- entries in one piece ---- */

/* CMPXCHG8B with what is there already, or is not: reads eight bytes at once. */
static uint64_t read_whole(volatile uint64_t *at)
{
	uint64_t value = 0;

	asm volatile("lock cmpxchg8b %1" : "+A"(value), "+m"(*at) : "b"(0), "c"(0) : "cc");
	return value;
}

static void look(void)
{
	while (storing) {
		uint64_t one = read_whole(&entry), two = read_whole(&table[1]);

		torn += (one != LOW && one != HIGH) + (two != LOW && two != HIGH);
		looks++;
	}
}

static void check_stores(void)
{
	entry = table[1] = LOW;
	storing = true;
	begin_on_other(look);
	for (unsigned int i = 0; i < STORES; i++) {
		uint64_t value = i & 1 ? LOW : HIGH;

		VMI(SetPxELong, HALF(value), HALF(value >> 32), HALF(&entry), 1);
		VMI(WriteGDTEntry, HALF(table), 1, HALF(value), HALF(value >> 32));
	}
	storing = false;
	await_other("looking at entries");
	EXPECT(looks > 0);
	EXPECT_EQ("entries that were half", torn, 0);
}

/* ---- alarms: this processor only waits while the other one calls ---- */

static void set_alarm(void)
{
	*apic_register(APIC_SPURIOUS) = APIC_ENABLED | APIC_SPURIOUS_VECTOR;
	irq_set_lvtt(AP_VECTOR, false);
	irq_reset();
	alarm_set(ALARM_WIRED_LVTT | CYCLES_REAL, cycles(CYCLES_REAL) + cycles_frequency() / 1000,
		  0);
	irq_await("the other processor's alarm", IRQ_APIC, 1);
}

static void cancel_none(void)
{
	EXPECT(!alarm_cancel(CYCLES_REAL));
}

static void check_alarms(void)
{
	irq_set_lvtt(VECTOR_LVTT, false);
	alarm_set(ALARM_WIRED_LVTT | CYCLES_REAL, cycles(CYCLES_REAL) + cycles_frequency() * 60, 0);
	begin_on_other(set_alarm);
	await_other("an alarm of its own");
	EXPECT_EQ("alarms", irq_count(IRQ_APIC), 1);
	begin_on_other(cancel_none);
	await_other("none to cancel");
	EXPECT(alarm_cancel(CYCLES_REAL));
}

void guest_main(void)
{
	other = 1 - own_apic_id();
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	processors_init();
	start_other();
	check_interrupt_calls();
	check_iret();
	if (pv_has(VMI_CALL_SetPxELong))
		check_stores();
	if (pv_has(VMI_CALL_SetAlarm))
		check_alarms();
}
