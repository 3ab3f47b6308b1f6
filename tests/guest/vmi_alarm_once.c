/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a one-shot alarm (68, 69) that comes early, twice, or not at all; one whose time is
 * past and that waits; one that is cancelled or set anew and comes all the same.
 * Manual: docs/vmi.md, the calls: an alarm is due when its counter has reached the expiry;
 * setting an armed one cancels it first; CancelAlarm tells whether it was armed.
 * Vendors: no difference.
 * Cannot tell apart: an alarm that is late by itself from one that the host has held up.
 */
#include "alarm.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"

#define UNITS_A_SECOND 5000u

const char guest_name[] = "vmi_alarm_once";

/* One of the four ways to be woken. */
static uint32_t counter, wiring;
static enum irq irq;
static uint64_t unit; /* cycles that make 200 microseconds */

static void expect_at(const char *what, uint64_t expiry)
{
	irq_await(what, irq, 1);
	if (cycles(counter) < expiry)
		fail(__FILE__, __LINE__, "%s: too early, by %llu us", what,
		     (expiry - cycles(counter)) * 200 / unit);
}

/* No more interrupts than these and, of the PIT, those of as many stopped counts. */
static void expect_silence(const char *what, unsigned int count, unsigned int stops,
			   uint64_t length)
{
	uint64_t until = cycles(counter) + length;

	while (cycles(counter) < until)
		irq_let_in();
	if (irq_count(irq) > count && irq == IRQ_PIC)
		count += stops * irq_pit_overrun();
	EXPECT_EQ(what, irq_count(IRQ_PIC) + irq_count(IRQ_APIC), count);
}

static void check_to_come(uint64_t delta)
{
	uint64_t expiry = cycles(counter) + delta;

	irq_reset();
	alarm_set(counter | wiring, expiry, 0);
	expect_at("to come", expiry);
	EXPECT(!alarm_cancel(counter | wiring));
	expect_silence("after it came", 1, 0, 3 * delta);
}

/* Close to the 55 ms that the PIT can count to; the processor sleeps meanwhile. */
static void check_long(uint64_t delta)
{
	uint64_t expiry = cycles(counter) + delta;

	irq_reset();
	alarm_set(counter | wiring, expiry, 0);
	while (!irq_count(irq))
		asm volatile("sti; hlt; cli" ::: "memory");
	expect_at("after a long time", expiry);
	EXPECT(!alarm_cancel(counter | wiring));
}

static void check_past(uint64_t expiry)
{
	irq_reset();
	alarm_set(counter | wiring, expiry, 0);
	expect_at("past", expiry);
	EXPECT(!alarm_cancel(counter | wiring));
	expect_silence("after a past one", 1, 0, 2 * unit);
}

/* At first with interrupts off all the time: the alarm must not leave one behind. */
static void check_cancelled(void)
{
	irq_reset();
	alarm_set(counter | wiring, cycles(counter) + 5 * unit, 0);
	EXPECT(alarm_cancel(counter | wiring));
	EXPECT(!alarm_cancel(counter | wiring));
	expect_silence("after CancelAlarm", 0, 1, 10 * unit);
	alarm_set(counter | wiring, cycles(counter) + 5 * unit, 0);
	EXPECT(alarm_cancel(counter | wiring | ALARM_PERIODIC));
	expect_silence("after CancelAlarm with other flags", 0, 1, 10 * unit);
}

static void check_set_again(void)
{
	uint64_t expiry = cycles(counter) + 15 * unit;

	irq_reset();
	alarm_set(counter | wiring, expiry - 10 * unit, 0);
	alarm_set(counter | wiring, expiry, 0);
	expect_at("set again, later", expiry);
	expect_silence("after the later one", 1, 0, 10 * unit);
	irq_reset();
	expiry = cycles(counter) + 5 * unit;
	alarm_set(counter | wiring, expiry + 20 * unit, 0);
	alarm_set(counter | wiring, expiry, 0);
	expect_at("set again, sooner", expiry);
	expect_silence("after the sooner one", 1, 0, 25 * unit);
}

/* The end of time is armed, and never comes. */
static void check_far(void)
{
	irq_reset();
	alarm_set(counter | wiring, ~0ull, 0);
	expect_silence("before the end of time", 0, 0, 10 * unit);
	EXPECT(alarm_cancel(counter | wiring));
}

/* A period of 0, or one that the flags do not ask for. */
static void check_not_periodic(void)
{
	irq_reset();
	alarm_set(counter | wiring | ALARM_PERIODIC, cycles(counter) + 3 * unit, 0);
	irq_await("periodic with period 0", irq, 1);
	expect_silence("after a period of 0", 1, 0, 10 * unit);
	irq_reset();
	alarm_set(counter | wiring, cycles(counter) + 3 * unit, 2 * unit);
	irq_await("one-shot with a period", irq, 1);
	expect_silence("after a one-shot with a period", 1, 0, 10 * unit);
}

static void check_all(uint32_t on_counter, uint32_t wired, enum irq by)
{
	counter = on_counter;
	wiring = wired;
	irq = by;
	check_to_come(10 * unit);
	check_to_come(unit);
	check_long(250 * unit);
	check_past(cycles(counter));
	check_past(cycles(counter) - unit);
	check_past(0);
	check_cancelled();
	check_set_again();
	check_far();
	check_not_periodic();
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	alarm_read_clock_in_handlers();
	unit = cycles_frequency() / UNITS_A_SECOND;
	check_all(CYCLES_REAL, 0, IRQ_PIC);
	check_all(CYCLES_AVAILABLE, 0, IRQ_PIC);
	check_all(CYCLES_REAL, ALARM_WIRED_LVTT, IRQ_APIC);
	check_all(CYCLES_AVAILABLE, ALARM_WIRED_LVTT, IRQ_APIC);
}
