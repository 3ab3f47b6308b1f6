/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a periodic alarm (68) that comes before its time, ends by itself, or makes up for the
 * ticks that were missed while interrupts were off.
 * Manual: docs/vmi.md, the calls: the next expiry is the first one of expiry + n * period that
 * is still to come.
 * Vendors: no difference.
 * Cannot tell apart: a tick that is late by itself from one that the host has held up.
 */
#include "alarm.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"

#define UNITS_A_SECOND 5000u

const char guest_name[] = "vmi_alarm_ticks";

#define TICKS 10u

static uint32_t counter, wiring;
static enum irq irq;
static uint64_t unit; /* cycles that make 200 microseconds */

/* With interrupts off all the time, which a call of pv.h's would not be. */
static void spin(uint64_t length)
{
	uint64_t start, now;

	asm volatile("rdtsc" : "=A"(start));
	do
		asm volatile("rdtsc" : "=A"(now));
	while (now - start < length);
}

/* No more of them than there are multiples of the period up to now. */
static void expect_count(const char *what, uint64_t first, uint64_t period)
{
	uint64_t found = cycles(counter);
	unsigned int most = found < first ? 0 : (unsigned int)((found - first) / period) + 1;

	if (irq_count(irq) > most)
		fail(__FILE__, __LINE__, "%s: %u ticks, only %u were due", what, irq_count(irq),
		     most);
}

static void end(void)
{
	EXPECT(alarm_cancel(counter | wiring | ALARM_PERIODIC));
	irq_let_in();
	irq_reset();
	spin(3 * unit);
	irq_let_in();
	EXPECT_EQ("by LVTT after CancelAlarm", irq_count(IRQ_APIC), 0);
	EXPECT(irq_count(IRQ_PIC) <= (irq == IRQ_PIC ? irq_pit_overrun() : 0));
}

static void check_ticks(const char *what, uint64_t delta, uint64_t period)
{
	uint64_t first = cycles(counter) + delta;

	irq_reset();
	alarm_set(counter | wiring | ALARM_PERIODIC, first, period);
	for (unsigned int n = 1; n <= TICKS; n++) {
		irq_await(what, irq, n);
		expect_count(what, first, period);
	}
	end();
}

/* The first expiry is long past: one tick at once, and then on the grid. */
static void check_past(uint64_t period)
{
	uint64_t first = cycles(counter) - 10 * period - period / 2;

	irq_reset();
	alarm_set(counter | wiring | ALARM_PERIODIC, first, period);
	irq_await("ticks from the past, the first", irq, 1);
	EXPECT(irq_count(irq) <= 2);
	for (unsigned int n = 2; n <= TICKS; n++) {
		irq_await("ticks from the past", irq, n);
		expect_count("ticks from the past", first + 10 * period, period);
	}
	end();
}

/* One is pending, none is kept behind it, and the grid is the old one. */
static void check_missed(uint64_t period)
{
	uint64_t first = cycles(counter) + period;

	irq_reset();
	alarm_set(counter | wiring | ALARM_PERIODIC, first, period);
	irq_await("before they are missed", irq, 2);
	irq_reset();
	spin(10 * period + period / 2);
	irq_let_in();
	EXPECT(irq_count(irq) >= 1 && irq_count(irq) <= 2);
	for (unsigned int n = 3; n <= TICKS; n++) {
		irq_await("after they were missed", irq, n);
		expect_count("after they were missed", first + 10 * period, period);
	}
	end();
}

static void check_all(uint32_t on_counter, uint32_t wired, enum irq by)
{
	counter = on_counter;
	wiring = wired;
	irq = by;
	check_ticks("ticks of 2 ms", 10 * unit, 10 * unit);
	check_ticks("ticks of 200 us", unit, unit);
	check_ticks("ticks of 800 us, the first one soon", unit, 4 * unit);
	check_ticks("ticks of 800 us, the first one late", 20 * unit, 4 * unit);
	check_ticks("ticks of 10 ms", 50 * unit, 50 * unit);
	check_past(4 * unit);
	check_missed(4 * unit);
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
