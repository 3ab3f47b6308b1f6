/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an alarm (68) that has the vector which LVTT had when it was set, that does not heed
 * LVTT's mask, that Linux' writes to LVTT stop; two alarms of which one loses the other; an
 * alarm on a counter that has none; a Halt (35) that an alarm does not end.
 * Manual: docs/vmi.md, the calls; Linux, vmiclock.c: LVTT holds a bare vector, whose mask
 * changes while alarms are armed.
 * Vendors: no difference.
 * Cannot tell apart: an alarm that is late by itself from one that the host has held up.
 */
#include "alarm.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"

#define UNITS_A_SECOND 5000u

const char guest_name[] = "vmi_alarm_wiring";

#define OTHER_VECTOR 0x41
#define FLAG_IF	     0x200u

static uint64_t unit; /* cycles that make 200 microseconds */

static void let_pass(uint64_t length)
{
	uint64_t until = cycles(CYCLES_REAL) + length;

	while (cycles(CYCLES_REAL) < until)
		irq_let_in();
}

/* The old vector has no handler any more, so that it would fail the guest. */
static void check_vector(uint32_t flags, unsigned int count)
{
	irq_reset();
	irq_set_lvtt(VECTOR_LVTT, false);
	alarm_set(flags | ALARM_WIRED_LVTT, cycles(CYCLES_REAL) + 3 * unit, 3 * unit);
	run_set_handler(VECTOR_LVTT, NULL);
	irq_change_lvtt(OTHER_VECTOR, false);
	irq_await("by the new vector", IRQ_APIC, count);
	alarm_set(flags | ALARM_WIRED_LVTT, cycles(CYCLES_REAL) + 3 * unit, 3 * unit);
	irq_await("by the new vector, set again", IRQ_APIC, 2 * count);
	alarm_cancel(flags | ALARM_WIRED_LVTT);
	irq_let_in();
	irq_set_lvtt(VECTOR_LVTT, false);
}

/* Another way for an alarm that is armed: it comes by that one only. */
static void check_rewired(uint32_t first_wiring, uint32_t second_wiring)
{
	irq_reset();
	alarm_set(CYCLES_REAL | first_wiring, cycles(CYCLES_REAL) + 4 * unit, 0);
	alarm_set(CYCLES_REAL | second_wiring, cycles(CYCLES_REAL) + 8 * unit, 0);
	irq_await("by the second wiring", second_wiring ? IRQ_APIC : IRQ_PIC, 1);
	let_pass(5 * unit);
	EXPECT_EQ("by the second wiring", irq_count(second_wiring ? IRQ_APIC : IRQ_PIC), 1);
	EXPECT(irq_count(first_wiring ? IRQ_APIC : IRQ_PIC) <=
	       (first_wiring ? 0 : irq_pit_overrun()));
}

/* vmi_time_ap_init() arms the first alarm, and then writes a bare vector. */
static void check_late_lvtt(uint64_t delta)
{
	irq_reset();
	irq_set_lvtt(VECTOR_LVTT, true);
	alarm_set(ALARM_PERIODIC | ALARM_WIRED_LVTT, cycles(CYCLES_REAL) + delta, 3 * unit);
	irq_set_lvtt(VECTOR_LVTT, false);
	let_pass(20 * unit);
	if (irq_count(IRQ_APIC) < 3 || irq_count(IRQ_APIC) > 7)
		fail(__FILE__, __LINE__, "first after %llu us: %u ticks within 4 ms",
		     delta * 200 / unit, irq_count(IRQ_APIC));
	EXPECT(alarm_cancel(ALARM_PERIODIC | ALARM_WIRED_LVTT));
	irq_let_in();
}

/* Masked, they come to nothing; unmasked, the next one is there. */
static void check_mask(void)
{
	irq_reset();
	alarm_set(ALARM_PERIODIC | ALARM_WIRED_LVTT, cycles(CYCLES_REAL) + 3 * unit, 3 * unit);
	irq_await("before the mask", IRQ_APIC, 2);
	irq_change_lvtt(VECTOR_LVTT, true);
	irq_let_in();
	irq_reset();
	let_pass(10 * unit);
	EXPECT_EQ("while masked", irq_count(IRQ_APIC), 0);
	irq_change_lvtt(VECTOR_LVTT, false);
	irq_await("behind the mask", IRQ_APIC, 2);
	EXPECT(alarm_cancel(ALARM_PERIODIC | ALARM_WIRED_LVTT));
	irq_let_in();
}

/* Of each counter one; they may share the way to the processor. */
static void check_both(uint32_t first, uint32_t second)
{
	enum irq first_irq = first & ALARM_WIRED_LVTT ? IRQ_APIC : IRQ_PIC;
	enum irq second_irq = second & ALARM_WIRED_LVTT ? IRQ_APIC : IRQ_PIC;
	uint64_t now = cycles(CYCLES_REAL);

	irq_reset();
	alarm_set(first, now + 4 * unit, 0);
	alarm_set(second, now + 9 * unit, 0);
	irq_await("the first of two", first_irq, 1);
	EXPECT(cycles(CYCLES_REAL) >= now + 4 * unit);
	irq_await("the second of two", second_irq, first_irq == second_irq ? 2 : 1);
	EXPECT(cycles(CYCLES_REAL) >= now + 9 * unit);
	let_pass(10 * unit);
	EXPECT_EQ("interrupts of two alarms", irq_count(IRQ_PIC) + irq_count(IRQ_APIC), 2);
	EXPECT(!alarm_cancel(CYCLES_REAL));
	EXPECT(!alarm_cancel(CYCLES_AVAILABLE));
}

static void check_pairs(void)
{
	static const uint32_t wirings[] = {0, ALARM_WIRED_LVTT};

	for (unsigned int i = 0; i < 4; i++) {
		check_both(CYCLES_REAL | wirings[i & 1], CYCLES_AVAILABLE | wirings[i >> 1]);
		check_both(CYCLES_AVAILABLE | wirings[i & 1], CYCLES_REAL | wirings[i >> 1]);
	}
}

/* Cancelling one leaves the other. */
static void check_one_of_both(uint32_t cancelled, uint32_t kept, uint32_t wiring)
{
	irq_reset();
	alarm_set(cancelled | wiring, cycles(cancelled) + 4 * unit, 0);
	alarm_set(kept | wiring, cycles(kept) + 8 * unit, 0);
	EXPECT(alarm_cancel(cancelled | wiring));
	irq_await("the one that is kept", wiring ? IRQ_APIC : IRQ_PIC, 1);
	let_pass(5 * unit);
	EXPECT_EQ("interrupts", irq_count(IRQ_PIC) + irq_count(IRQ_APIC), 1);
}

static void check_no_counter(void)
{
	static const uint32_t none[] = {CYCLES_STOLEN, 3, 0x80, 0xff};

	irq_reset();
	for (unsigned int i = 0; i < ARRAY_SIZE(none); i++) {
		alarm_set(none[i], 0, 0);
		alarm_set(none[i] | ALARM_WIRED_LVTT | ALARM_PERIODIC, 0, unit);
		EXPECT(!alarm_cancel(none[i]));
	}
	let_pass(5 * unit);
	EXPECT_EQ("interrupts", irq_count(IRQ_PIC) + irq_count(IRQ_APIC), 0);
}

/* As a kernel with no answer for Halt does it. */
static void halt_natively(void)
{
	asm volatile("sti; hlt; cli" ::: "memory");
}

static void halt_by_call(bool interrupts)
{
	struct call call = pv_canaries();

	pv_aim(VMI_CALL_Halt, &call);
	call.eflags = interrupts ? call.eflags | FLAG_IF : call.eflags & ~FLAG_IF;
	pv_run("Halt", &call, PV_STD | PV_IF);
	EXPECT_EQ("IF behind Halt", call.eflags & FLAG_IF, FLAG_IF);
}

/* Halt returns behind the interrupt, with interrupts on, whatever they were. */
static void check_halt(uint32_t wiring, bool interrupts)
{
	uint64_t expiry = cycles(CYCLES_REAL) + 5 * unit;

	irq_reset();
	alarm_set(CYCLES_REAL | wiring, expiry, 0);
	if (pv_has(VMI_CALL_Halt))
		halt_by_call(interrupts);
	else
		halt_natively();
	EXPECT_EQ("interrupts at Halt", irq_count(IRQ_PIC) + irq_count(IRQ_APIC), 1);
	EXPECT(cycles(CYCLES_REAL) >= expiry);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	alarm_read_clock_in_handlers();
	unit = cycles_frequency() / UNITS_A_SECOND;
	check_vector(0, 1);
	check_vector(ALARM_PERIODIC, 3);
	check_late_lvtt(0);
	check_late_lvtt(3 * unit);
	check_mask();
	check_rewired(0, ALARM_WIRED_LVTT);
	check_rewired(ALARM_WIRED_LVTT, 0);
	check_pairs();
	check_one_of_both(CYCLES_REAL, CYCLES_AVAILABLE, 0);
	check_one_of_both(CYCLES_AVAILABLE, CYCLES_REAL, ALARM_WIRED_LVTT);
	check_no_counter();
	for (unsigned int i = 0; i < 4; i++)
		check_halt(i & 1 ? ALARM_WIRED_LVTT : 0, i & 2);
}
