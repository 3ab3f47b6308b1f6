// SPDX-License-Identifier: GPL-2.0-only
/* Rates of clocks, measured on a machine whose time passes by a step for each access. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "lib/errno.h"

static uint64_t now_ns; /* an access takes STEP_NS */
static uint64_t tsc_khz, lapic_khz, apic_base;
static bool has_pm_timer, has_pit;
static uint16_t pit_loaded;
static uint64_t pit_started;
static unsigned int pit_bytes;
static uint16_t pit_latched;
static uint8_t speaker;
static uint32_t lapic_registers[1024];
static uint64_t lapic_started;
static struct cpuid_result fake_leaves[0x17];

enum { STEP_NS = 300, PM_TIMER = 0x608, SPEAKER_BEFORE = 0x32 };

static uint64_t ticks(uint64_t hz, uint64_t since)
{
	return (uint64_t)((unsigned __int128)(now_ns - since) * hz / 1000000000);
}

static uint64_t fake_rdtsc(void)
{
	now_ns += 10;
	return ticks(tsc_khz * 1000, 0);
}

static uint32_t fake_inl(uint16_t port)
{
	now_ns += STEP_NS;
	assert_int_equal(port, PM_TIMER);
	return has_pm_timer ? 0x55000000 | ((uint32_t)ticks(3579545, 0) & 0xffffff) : 0xffffffff;
}

static uint8_t fake_inb(uint16_t port)
{
	uint8_t value = (uint8_t)pit_latched;

	now_ns += STEP_NS;
	if (port == 0x61)
		return speaker;
	assert_int_equal(port, 0x42);
	pit_latched >>= 8;
	return value;
}

static void fake_outb(uint16_t port, uint8_t value)
{
	now_ns += STEP_NS;
	if (port == 0x61) {
		speaker = value;
	} else if (port == 0x43 && value == 0x80) {
		pit_latched = (uint16_t)(pit_loaded - (has_pit ? ticks(1193182, pit_started) : 0));
	} else if (port == 0x43) {
		assert_int_equal(value, 0xb0);
	} else {
		assert_int_equal(port, 0x42);
		pit_loaded = (uint16_t)(pit_loaded >> 8 | value << 8);
		pit_started = now_ns;
		pit_bytes++;
	}
}

#define rdtsc()		  fake_rdtsc()
#define inl(port)	  fake_inl(port)
#define inb(port)	  fake_inb(port)
#define outb(port, value) fake_outb(port, value)
#define rdmsr(msr)	  ((void)(msr), apic_base)
#define cpuid(leaf, sub)  ((void)(sub), fake_leaves[leaf])
#include "dev/clock.c"

/* Registers keep what is written; the count runs while the timer's divide is 1. */
uint32_t lapic_read(uint32_t offset)
{
	uint64_t passed = ticks(lapic_khz * 1000, lapic_started);

	now_ns += STEP_NS;
	if (offset != LAPIC_CURRENT)
		return lapic_registers[offset];
	assert_int_equal(lapic_registers[LAPIC_DIVIDE], 0x0b);
	assert_int_equal(lapic_registers[LAPIC_LVT_TIMER], 0x10000);
	return lapic_registers[LAPIC_INITIAL] - (uint32_t)passed;
}

void lapic_write(uint32_t offset, uint32_t value)
{
	now_ns += STEP_NS;
	lapic_registers[offset] = value;
	if (offset == LAPIC_INITIAL)
		lapic_started = now_ns;
}

static int reset(void **state)
{
	(void)state;
	now_ns = 1000000007;
	tsc_khz = 2995123;
	lapic_khz = 24000;
	has_pm_timer = has_pit = true;
	pit_bytes = 0;
	speaker = SPEAKER_BEFORE;
	apic_base = 0xfee00900;
	memset(fake_leaves, 0, sizeof(fake_leaves));
	memset(lapic_registers, 0, sizeof(lapic_registers));
	lapic_registers[LAPIC_LVT_TIMER] = 0x200ef;
	lapic_registers[LAPIC_DIVIDE] = 0x03;
	lapic_registers[LAPIC_INITIAL] = 77;
	return 0;
}

static struct clock_rates measured(uint16_t port)
{
	struct clock_rates rates;

	assert_int_equal(clock_measure(port, &rates), 0);
	return rates;
}

static void assert_near(uint64_t found, uint64_t wanted, uint64_t ppm)
{
	uint64_t margin = wanted / 1000000 * ppm;

	assert_in_range(found, wanted - margin, wanted + margin);
}

static void both_references_give_the_rates(void **state)
{
	static const uint16_t ports[] = {PM_TIMER, 0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		struct clock_rates rates = measured(ports[i]);

		assert_near(rates.tsc_hz, 2995123000, 200);
		assert_near(rates.lapic_ticks * 2995123, rates.cycles * 24000, 100);
		assert_in_range(rates.cycles, 2995123 * 7, 2995123 * 9);
	}
}

static void all_is_left_as_it_was(void **state)
{
	(void)state;
	measured(0);
	assert_int_equal(speaker, SPEAKER_BEFORE);
	assert_int_equal(pit_bytes, 2);
	assert_int_equal(lapic_registers[LAPIC_LVT_TIMER], 0x200ef);
	assert_int_equal(lapic_registers[LAPIC_DIVIDE], 0x03);
	assert_int_equal(lapic_registers[LAPIC_INITIAL], 77);
}

static void a_dead_pm_timer_is_replaced_by_the_pit(void **state)
{
	(void)state;
	has_pm_timer = false;
	assert_near(measured(PM_TIMER).tsc_hz, 2995123000, 200);
	assert_int_equal(pit_bytes, 2);
}

static void without_any_timer_it_is_an_error(void **state)
{
	struct clock_rates rates;

	(void)state;
	has_pm_timer = has_pit = false;
	assert_int_equal(clock_measure(PM_TIMER, &rates), -ENODEV);
	assert_int_equal(clock_measure(0, &rates), -ENODEV);
	assert_int_equal(lapic_registers[LAPIC_LVT_TIMER], 0x200ef);
	assert_int_equal(speaker, SPEAKER_BEFORE);
}

static void an_apic_that_is_off_makes_no_ticks(void **state)
{
	(void)state;
	apic_base = 0xfee00100;
	lapic_registers[LAPIC_DIVIDE] = 0x0b;
	lapic_registers[LAPIC_LVT_TIMER] = 0x10000;
	lapic_khz = 0;
	assert_int_equal(measured(PM_TIMER).lapic_ticks, 0);
	assert_int_equal(lapic_registers[LAPIC_INITIAL], 77);
}

static void a_whole_number_of_mhz_is_taken_for_what_is_near(void **state)
{
	(void)state;
	tsc_khz = 3000000;
	assert_int_equal(measured(PM_TIMER).tsc_hz, 3000000000);
	tsc_khz = 1000000;
	assert_int_equal(measured(PM_TIMER).tsc_hz, 1000000000);
}

static void cpuid_is_believed_if_it_is_about_right(void **state)
{
	(void)state;
	fake_leaves[0].eax = 0x16;
	fake_leaves[0x15] = (struct cpuid_result){.eax = 2, .ebx = 250, .ecx = 24000000};
	fake_leaves[0x16].eax = 2900;
	assert_int_equal(measured(PM_TIMER).tsc_hz, 3000000000); /* measured: 2995123 kHz */
	fake_leaves[0x15].ecx = 38400000;
	assert_near(measured(PM_TIMER).tsc_hz, 2995123000, 200);
	fake_leaves[0x15].ecx = 0;
	assert_near(measured(PM_TIMER).tsc_hz, 2995123000, 200);
	fake_leaves[0x16].eax = 2990;
	assert_int_equal(measured(PM_TIMER).tsc_hz, 2990000000);
	fake_leaves[0].eax = 0x15;
	assert_near(measured(PM_TIMER).tsc_hz, 2995123000, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_references_give_the_rates, reset),
		cmocka_unit_test_setup(all_is_left_as_it_was, reset),
		cmocka_unit_test_setup(a_dead_pm_timer_is_replaced_by_the_pit, reset),
		cmocka_unit_test_setup(without_any_timer_it_is_an_error, reset),
		cmocka_unit_test_setup(an_apic_that_is_off_makes_no_ticks, reset),
		cmocka_unit_test_setup(a_whole_number_of_mhz_is_taken_for_what_is_near, reset),
		cmocka_unit_test_setup(cpuid_is_believed_if_it_is_about_right, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
