/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: interrupts between processors that are lost or exit where they need not; a second
 * processor whose exits go wrong, or are counted for the first.
 * Manual: SDM volume 3A, 11.6.1; APM volume 2, 16.5.
 * Vendors: VT-x: no exit. AMD-V: each write to the APIC's page is one, where it is caught.
 * Cannot tell apart: the order in which two processors see things.
 */
#include "apic.h"
#include "guest.h"
#include "processors.h"

const char guest_name[] = "smp_ipi";

#define VECTOR_IPI     0x40
#define ROUNDS	       1000
#define PATIENCE       100000000
#define WRITES_TO_SEND 2u /* destination, command */
#define WRITES_TO_TAKE 1u /* EOI */

static volatile uint32_t taken, asked, answered;
static volatile bool up;
static volatile uint64_t other_exits, other_apic_exits;

static void take(void)
{
	taken++;
	*apic_register(APIC_EOI) = 0;
}

/* The second processor: takes interrupts, and makes exits when it is asked to. */
static void second(uint32_t apic_id)
{
	(void)apic_id;
	*apic_register(APIC_SPURIOUS) = APIC_ENABLED | APIC_SPURIOUS_VECTOR;
	up = true;
	asm volatile("sti");
	for (;;) {
		cpu_relax();
		if (asked == answered)
			continue;
		other_exits = exits(VELLUM_CPUID_EXITS_ALL);
		other_apic_exits = exits(EXIT_APIC);
		answered = asked;
	}
}

static void ask_second(void)
{
	asked++;
	for (int i = 0; i < PATIENCE && answered != asked; i++)
		cpu_relax();
	EXPECT_EQ("answers", answered, asked);
}

static void interrupt(uint32_t other, uint32_t count)
{
	send_to(other, ICR_FIXED | VECTOR_IPI);
	for (int i = 0; i < PATIENCE && taken != count; i++)
		cpu_relax();
	EXPECT_EQ("interrupts taken", taken, count);
}

static void start(uint32_t other)
{
	processors_init();
	processors_set_entry(second);
	run_set_handler(VECTOR_IPI, take);
	send_to(other, ICR_INIT);
	wait_a_while();
	send_to(other, ICR_STARTUP | START_PAGE);
	for (int i = 0; i < PATIENCE && !up; i++)
		cpu_relax();
	EXPECT(up);
}

/* Each exit by itself is one: CPUID asks for their number. */
static void check_exits(uint32_t other)
{
	bool caught = !is_intel();
	uint64_t own = exits(VELLUM_CPUID_EXITS_ALL), own_apic = exits(EXIT_APIC);
	uint64_t its, its_apic;

	ask_second();
	its = other_exits;
	its_apic = other_apic_exits;
	for (uint32_t i = 1; i <= ROUNDS; i++)
		interrupt(other, taken + 1);
	EXPECT_EQ("the sender's APIC exits", exits(EXIT_APIC) - own_apic,
		  caught ? ROUNDS * WRITES_TO_SEND : 0);
	EXPECT_EQ("the sender's exits", exits(VELLUM_CPUID_EXITS_ALL) - own,
		  (caught ? ROUNDS * WRITES_TO_SEND : 0) + 3);
	ask_second();
	EXPECT_EQ("the receiver's APIC exits", other_apic_exits - its_apic,
		  caught ? ROUNDS * WRITES_TO_TAKE : 0);
	EXPECT_EQ("the receiver's exits", other_exits - its,
		  (caught ? ROUNDS * WRITES_TO_TAKE : 0) + 2);
}

void guest_main(void)
{
	uint32_t other = own_apic_id() ^ 1;

	start(other);
	interrupt(other, 1);
	if (under_vellum())
		check_exits(other);
	send_to(other, ICR_INIT); /* so that it is not in the way of what follows */
	wait_a_while();
}
