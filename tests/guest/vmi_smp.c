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
#include "guest.h"
#include "irq.h"
#include "processors.h"
#include "pv.h"
#include "second.h"
#include "site.h"

const char guest_name[] = "vmi_smp";

#define FLAG_IF	     0x200u
#define LOW	     0x0000000a00001001ull /* entries that share no half */
#define HIGH	     0x0000000b00002001ull
#define ACCESSED     0x20u
#define ROUNDS	     300u
#define STORES	     3000u
#define AP_VECTOR    0xe0u
#define HALF(number) ((uint32_t)(number))

static volatile uint32_t torn, looks;
static volatile bool storing;
static volatile uint64_t entry, table[2];
static struct site site;
static uint32_t no_op = 0x0badbab0;

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
		second_begin(iret_by_site);
		for (unsigned int pause = 0; pause < i % 8; pause++)
			cpu_relax();
		iret_by_site();
		second_await("IRET");
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
	second_begin(switch_interrupts);
	switch_interrupts();
	second_await("interrupt calls");
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

/* As the processor marks an entry as accessed, whenever it likes. */
static void mark_accessed(void)
{
	while (storing)
		asm volatile("lock orb %1, %0" : "+m"(entry) : "i"(ACCESSED) : "cc");
}

static void check_stores_beside_marks(void)
{
	entry = LOW;
	storing = true;
	second_begin(mark_accessed);
	for (unsigned int i = 0; i < STORES; i++) {
		uint64_t value = i & 1 ? LOW : HIGH;

		VMI(SetPxELong, HALF(value), HALF(value >> 32), HALF(&entry), 1);
		EXPECT_EQ("an entry, stored", read_whole(&entry) & ~(uint64_t)ACCESSED, value);
	}
	storing = false;
	second_await("marking an entry");
}

static void check_stores(void)
{
	entry = table[1] = LOW;
	storing = true;
	second_begin(look);
	for (unsigned int i = 0; i < STORES; i++) {
		uint64_t value = i & 1 ? LOW : HIGH;

		VMI(SetPxELong, HALF(value), HALF(value >> 32), HALF(&entry), 1);
		VMI(WriteGDTEntry, HALF(table), 1, HALF(value), HALF(value >> 32));
	}
	storing = false;
	second_await("looking at entries");
	EXPECT(looks > 0);
	EXPECT_EQ("entries that were half", torn, 0);
}

/* ---- alarms: this processor only waits while the other one calls ---- */

static void set_alarm(void)
{
	irq_set_lvtt(AP_VECTOR, false);
	irq_reset();
	alarm_set(ALARM_WIRED_LVTT | CYCLES_REAL, cycles(CYCLES_REAL) + cycles_frequency() / 1000,
		  0);
	irq_await("the other processor's alarm", IRQ_APIC, 1);
	EXPECT_EQ("alarms", irq_count(IRQ_APIC), 1);
}

static void cancel_none(void)
{
	EXPECT(!alarm_cancel(CYCLES_REAL));
}

static void expect_none(void)
{
	irq_let_in();
	EXPECT_EQ("the other processor's alarms", irq_count(IRQ_APIC), 0);
}

/* It comes by an interrupt that the processor sends: to nobody but itself. */
static void check_overdue_alarm(void)
{
	irq_reset();
	second_begin(irq_reset);
	second_await("a count of 0");
	alarm_set(ALARM_WIRED_LVTT | CYCLES_REAL, cycles(CYCLES_REAL), 0);
	irq_await("an overdue alarm", IRQ_APIC, 1);
	second_begin(expect_none);
	second_await("none here");
}

static void check_alarms(void)
{
	irq_set_lvtt(VECTOR_LVTT, false);
	alarm_set(ALARM_WIRED_LVTT | CYCLES_REAL, cycles(CYCLES_REAL) + cycles_frequency() * 60, 0);
	second_begin(set_alarm);
	second_await("an alarm of its own");
	EXPECT_EQ("the other processor's alarms here", irq_count(IRQ_APIC), 0);
	second_begin(cancel_none);
	second_await("none to cancel");
	EXPECT(alarm_cancel(CYCLES_REAL));
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	second_start(send_to);
	check_interrupt_calls();
	check_iret();
	if (pv_has(VMI_CALL_SetPxELong)) {
		check_stores();
		check_stores_beside_marks();
	}
	if (pv_has(VMI_CALL_SetAlarm)) {
		check_alarms();
		check_overdue_alarm();
	}
}
