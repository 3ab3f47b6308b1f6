// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local APIC in both of its modes, as a page in the arena and as MSRs: what is sent, that
 * the guest's destination is left, and what INIT leaves.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"

#define APIC	   0x5000u
#define MSRS	   0x800u
#define NO_MSR(at) ((at) == 0x0d || (at) == 0x0e || (at) == 0x31) /* LDR is read-only */

static uint64_t apic_base;
static uint64_t msrs[0x40];
static unsigned int msr_writes, eois;

/* Interrupts in service: each EOI ends the highest. */
static unsigned int in_service;

static uint64_t fake_rdmsr(uint32_t msr)
{
	if (msr == 0x1b)
		return apic_base;
	assert_in_range(msr, MSRS, MSRS + ARRAY_SIZE(msrs) - 1);
	assert_int_not_equal(msr, 0x831);
	if (msr == 0x812)
		return in_service ? 1u << 7 : 0;
	return msrs[msr - MSRS];
}

static void fake_wrmsr(uint32_t msr, uint64_t value)
{
	assert_in_range(msr, MSRS, MSRS + ARRAY_SIZE(msrs) - 1);
	assert_false(NO_MSR(msr - MSRS)); /* #GP */
	msrs[msr - MSRS] = value;
	msr_writes++;
	if (msr != 0x80b)
		return;
	eois++;
	if (in_service)
		in_service--;
}

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	assert_int_equal(leaf, 1);
	return (struct cpuid_result){.ebx = 0x07020800};
}

/* Vellum waits until the interrupt is sent: bit 12 of the command register. */
static uint32_t destination, command;
static unsigned int waits;

static void fake_cpu_relax(void)
{
	uint32_t *icr = arena_at(APIC + 0x300);

	destination = *(uint32_t *)arena_at(APIC + 0x310);
	command = *icr;
	*icr &= ~(1u << 12);
	waits++;
}

#define cpu_relax()	     fake_cpu_relax()
#define rdmsr(msr)	     fake_rdmsr(msr)
#define wrmsr(msr, value)    fake_wrmsr(msr, value)
#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "dev/lapic.c"

static uint32_t *xapic(uint32_t offset)
{
	return arena_at(APIC + offset);
}

static int make_apic(void **state)
{
	(void)state;
	arena_create(16 * PAGE_SIZE);
	memset(msrs, 0, sizeof(msrs));
	msr_writes = eois = in_service = waits = 0;
	apic_base = APIC | 0x900;
	return 0;
}

static void use_x2apic(void)
{
	apic_base = APIC | 0xd00;
	memset(arena_at(APIC), 0xee, PAGE_SIZE);
}

static void assert_page_untouched(void)
{
	for (unsigned int i = 0; i < PAGE_SIZE; i++)
		assert_int_equal(((uint8_t *)arena_at(APIC))[i], 0xee);
}

static void the_mode_and_the_page_are_the_machines(void **state)
{
	(void)state;
	assert_false(lapic_is_x2apic());
	assert_int_equal(lapic_page().raw, APIC);
	apic_base = 0xfee00d00;
	assert_true(lapic_is_x2apic());
	assert_int_equal(lapic_page().raw, 0xfee00000);
}

static void registers_are_in_the_page_or_msrs(void **state)
{
	(void)state;
	*xapic(0x310) = 0x12345678;
	assert_int_equal(lapic_read(0x310), 0x12345678);
	lapic_write(0x3e0, 0x9abcdef0);
	assert_int_equal(*xapic(0x3e0), 0x9abcdef0);
	assert_int_equal(msr_writes, 0);
	use_x2apic();
	msrs[0x0f] = 0x1ff;
	assert_int_equal(lapic_read(0xf0), 0x1ff);
	lapic_write(0x380, 0x9abcdef0);
	assert_int_equal(msrs[0x38], 0x9abcdef0);
	assert_page_untouched();
}

/* An APIC that is off has no id register that counts; CPUID knows. */
static void the_id_is_known_in_each_mode(void **state)
{
	(void)state;
	assert_int_equal(lapic_id(), 7);
	use_x2apic();
	msrs[2] = 0x12345678;
	assert_int_equal(lapic_id(), 0x12345678);
}

static void an_interrupt_leaves_the_guests_destination(void **state)
{
	(void)state;
	*xapic(0x310) = 0x55000000;
	*xapic(0x300) = 0x10fd; /* the guest's own is still under way */
	lapic_send(0x9a, 0x5608);
	assert_int_equal(waits, 2);
	assert_int_equal(command, 0x5608);
	assert_int_equal(destination, 0x9a000000);
	assert_int_equal(*xapic(0x310), 0x55000000);
	assert_int_equal(msr_writes, 0);
}

static void in_x2apic_mode_it_is_one_write(void **state)
{
	(void)state;
	use_x2apic();
	lapic_send(0x1234, 0x4608);
	assert_int_equal(msrs[0x30], 0x0000123400004608);
	assert_int_equal(msr_writes, 1);
	assert_page_untouched();
}

/* SDM volume 3A, 11.4.7.1: after power-up or INIT */
static void a_reset_apic_takes_no_interrupts(void **state)
{
	(void)state;
	for (uint32_t offset = 0; offset < PAGE_SIZE; offset += 16)
		*xapic(offset) = 0x10123;
	for (uint32_t word = 0x100; word < 0x180; word += 16)
		*xapic(word) = 0;
	*xapic(0x30) = 0x50014; /* six entries */
	lapic_reset();
	for (uint32_t lvt = 0x320; lvt <= 0x370; lvt += 16)
		assert_int_equal(*xapic(lvt), 0x10000);
	assert_int_equal(*xapic(0x380) | *xapic(0x3e0) | *xapic(0x80) | *xapic(0xd0), 0);
	assert_int_equal(*xapic(0xe0), UINT32_MAX);
	assert_int_equal(*xapic(0xf0), 0xff); /* software-disabled */
	assert_int_equal(*xapic(0x20), 0x10123);
}

static void interrupts_in_service_are_ended(void **state)
{
	(void)state;
	use_x2apic();
	in_service = 3;
	lapic_reset();
	assert_int_equal(in_service, 0);
	assert_int_equal(eois, 3);
	assert_int_equal(msrs[0x0f], 0xff);
	assert_int_equal(msrs[0x32], 0x10000);
	assert_int_equal(msrs[0x37], 0x10000);
	assert_page_untouched();
}

/* Thermal sensor and counters have one only where there are six, or five. */
static void entries_that_are_not_there_are_left(void **state)
{
	(void)state;
	use_x2apic();
	msrs[0x03] = 0x40014;
	msrs[0x33] = msrs[0x34] = 0x77;
	lapic_reset();
	assert_int_equal(msrs[0x33], 0x77);
	assert_int_equal(msrs[0x34], 0x10000);
	assert_int_equal(msrs[0x37], 0x10000);
}

/* One that no EOI ends, as on a broken machine, must not hang Vellum. */
static void ending_ends(void **state)
{
	(void)state;
	use_x2apic();
	in_service = 100000;
	lapic_reset();
	assert_int_equal(eois, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_apic)
		T(the_mode_and_the_page_are_the_machines),
		T(registers_are_in_the_page_or_msrs),
		T(the_id_is_known_in_each_mode),
		T(an_interrupt_leaves_the_guests_destination),
		T(in_x2apic_mode_it_is_one_write),
		T(a_reset_apic_takes_no_interrupts),
		T(entries_that_are_not_there_are_left),
		T(interrupts_in_service_are_ended),
		T(ending_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
