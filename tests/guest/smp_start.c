/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an INIT or STARTUP that is lost, reaches the wrong processor or starts one twice, or
 * in another state than hardware does; one that starts a processor outside of Vellum.
 * Manual: SDM volume 3A, 9.4.4 (the sequence), 11.6.1 (ICR), table 10-1 (state after INIT);
 * APM volume 2, 14.1.3 and 16.5.
 * Vendors: AMD-V has no exit for STARTUP, so Vellum catches the sender's ICR; on VT-x both exit.
 * Cannot tell apart: a STARTUP that the processor ignores from one that Vellum does.
 */
#include "apic.h"
#include "guest.h"
#include "processors.h"

const char guest_name[] = "smp_start";

#define ABSENT	      9u /* no processor has this APIC id */
#define REPETITIONS   20
#define CR0_LEFT_BITS (CR0_CD | CR0_NW) /* INIT leaves them as they are */

static uint32_t other; /* the APIC id of the processor that is started */

static void send_init(void)
{
	send_to(other, ICR_INIT_LEVEL);
	send_to(other, ICR_INIT_RELEASE);
	wait_a_while();
}

static void check_state(uint32_t page)
{
	const struct arrival *arrival = arrival_of(other);

	EXPECT_EQ("CS", arrival->cs, page << 8);
	EXPECT_EQ("DS, ES and SS", arrival->ds_ss, 0);
	if (under_vellum()) /* Bochs itself leaves 0 there */
		EXPECT_EQ("EDX", arrival->edx, leaf_read(CPUID_FEATURES, 0).eax);
	say_same("CR0 %x", arrival->cr0 & ~(uint32_t)CR0_LEFT_BITS);
}

/* Linux sends STARTUP twice; the second one finds the processor running. */
static void check_linux_sequence(void)
{
	send_init();
	send_to(other, ICR_STARTUP | START_PAGE);
	await_arrival(other, 1);
	send_to(other, ICR_STARTUP | START_PAGE);
	wait_a_while();
	EXPECT_EQ("starts after the second STARTUP", arrival_of(other)->count, 1);
	check_state(START_PAGE);
}

static void check_startup_without_init(void)
{
	send_to(other, ICR_STARTUP | OTHER_START_PAGE);
	wait_a_while();
	EXPECT_EQ("starts without an INIT", arrival_of(other)->count, 1);
}

static void check_again(void)
{
	for (uint32_t i = 2; i <= REPETITIONS; i++) {
		uint32_t page = i & 1 ? START_PAGE : OTHER_START_PAGE;

		send_init();
		EXPECT_EQ("starts by INIT alone", arrival_of(other)->count, i - 1);
		send_to(other, ICR_STARTUP | page);
		await_arrival(other, i);
		check_state(page);
	}
}

static void check_broadcast(void)
{
	uint32_t before = arrival_of(other)->count;

	send_to_others(ICR_INIT);
	wait_a_while();
	send_to_others(ICR_STARTUP | START_PAGE);
	await_arrival(other, before + 1);
	EXPECT_EQ("starts of this processor", arrival_of(own_apic_id())->count, 0);
	check_state(START_PAGE);
}

static void check_absent(void)
{
	uint32_t before = arrival_of(other)->count;

	send_to(ABSENT, ICR_INIT);
	wait_a_while();
	send_to(ABSENT, ICR_STARTUP | START_PAGE);
	wait_a_while();
	EXPECT_EQ("starts of a processor that was not meant", arrival_of(other)->count, before);
	EXPECT_EQ("starts of an absent processor", arrival_of(ABSENT)->count, 0);
}

void guest_main(void)
{
	processors_init();
	other = own_apic_id() ^ 1;
	check_linux_sequence();
	check_startup_without_init();
	check_again();
	check_broadcast();
	check_absent();
}
