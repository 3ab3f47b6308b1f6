/* SPDX-License-Identifier: GPL-2.0-only */
#include "dev/clock.h"
#include "core/cpu.h"
#include "dev/lapic.h"
#include "lib/errno.h"

#define MEASURE_MS 8

/* ACPI 6.4, 4.8.3.3 */
#define PM_TIMER_HZ   3579545u
#define PM_TIMER_MASK 0xffffffu

/* Intel 8254, channel 2, whose gate and output are bits of port 61h */
#define PORT_PIT_COUNT	 0x42
#define PORT_PIT_COMMAND 0x43
#define PIT_COUNT_DOWN	 0xb0 /* channel 2, both bytes, mode 0 */
#define PIT_LATCH	 0x80 /* channel 2's count */
#define PIT_MASK	 0xffffu
#define PORT_SPEAKER	 0x61
#define SPEAKER_GATE	 BIT(0)
#define SPEAKER_SOUND	 BIT(1)

#define SAMPLES	     5
#define PATIENCE     1000000
#define MHZ	     1000000u
#define WHOLE_PPM    100 /* what a measurement may be off by */
#define COUNT_MAX    0xffffffffu
#define CPUID_TSC    0x15u
#define CPUID_CLOCKS 0x16u

/* The local APIC's timer: SDM volume 3A, 11.5.4 */
#define APIC_BASE_ENABLED BIT(11)
#define LVT_MASKED	  0x10000u
#define DIVIDE_BY_1	  0x0bu

/* A timer of known rate, made to count up. */
struct reference {
	uint32_t (*read)(void);
	uint32_t mask, hz;
};

static uint16_t pm_timer_port;

static uint32_t read_pm_timer(void)
{
	return inl(pm_timer_port) & PM_TIMER_MASK;
}

static uint32_t read_pit(void)
{
	uint32_t low;

	outb(PORT_PIT_COMMAND, PIT_LATCH);
	low = inb(PORT_PIT_COUNT);
	return ~(low | (uint32_t)inb(PORT_PIT_COUNT) << 8) & PIT_MASK;
}

static const struct reference pm_timer = {read_pm_timer, PM_TIMER_MASK, PM_TIMER_HZ};
static const struct reference pit = {read_pit, PIT_MASK, PIT_HZ};

/* All clocks at one moment. */
struct sample {
	uint64_t tsc;
	uint32_t reference, lapic;
};

/* The one of several that took the least time, so that nothing came in between. */
static struct sample take_sample(const struct reference *reference)
{
	struct sample best = {0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < SAMPLES; i++) {
		uint64_t before = rdtsc();
		uint32_t now = reference->read();
		uint32_t lapic = lapic_read(LAPIC_CURRENT);
		uint64_t took = rdtsc() - before;

		if (took < shortest) {
			shortest = took;
			best = (struct sample){before + took / 2, now, lapic};
		}
	}
	return best;
}

static uint32_t ticks_since(const struct reference *reference, const struct sample *start,
			    uint32_t now)
{
	return (now - start->reference) & reference->mask;
}

static int measure(const struct reference *reference, struct clock_rates *rates)
{
	struct sample start = take_sample(reference), end;
	uint32_t wanted = reference->hz / 1000 * MEASURE_MS, ticks;

	for (int i = 0; ticks_since(reference, &start, reference->read()) < wanted; i++)
		if (i == PATIENCE)
			return -ENODEV;
	end = take_sample(reference);
	ticks = ticks_since(reference, &start, end.reference);
	rates->cycles = end.tsc - start.tsc;
	rates->lapic_ticks = start.lapic - end.lapic;
	rates->tsc_hz = rates->cycles * reference->hz / ticks;
	return 0;
}

/* ---- the local APIC's timer counts down along with the others ---- */

struct lapic_timer {
	uint32_t lvt, divide, initial;
};

static struct lapic_timer start_lapic_timer(void)
{
	struct lapic_timer before = {lapic_read(LAPIC_LVT_TIMER), lapic_read(LAPIC_DIVIDE),
				     lapic_read(LAPIC_INITIAL)};

	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED);
	lapic_write(LAPIC_DIVIDE, DIVIDE_BY_1);
	lapic_write(LAPIC_INITIAL, COUNT_MAX);
	return before;
}

static void restore_lapic_timer(const struct lapic_timer *before)
{
	lapic_write(LAPIC_INITIAL, 0);
	lapic_write(LAPIC_DIVIDE, before->divide);
	lapic_write(LAPIC_LVT_TIMER, before->lvt);
	lapic_write(LAPIC_INITIAL, before->initial);
}

/* ---- and the PIT's channel 2, whose sound is off ---- */

static int measure_by_pit(struct clock_rates *rates)
{
	uint8_t speaker = inb(PORT_SPEAKER);
	int error;

	outb(PORT_SPEAKER, (uint8_t)((speaker & ~SPEAKER_SOUND) | SPEAKER_GATE));
	outb(PORT_PIT_COMMAND, PIT_COUNT_DOWN);
	outb(PORT_PIT_COUNT, 0xff);
	outb(PORT_PIT_COUNT, 0xff);
	error = measure(&pit, rates);
	outb(PORT_SPEAKER, speaker);
	return error;
}

static int measure_by_pm_timer(uint16_t port, struct clock_rates *rates)
{
	pm_timer_port = port;
	return measure(&pm_timer, rates);
}

/* ---- a better figure than the measured one ---- */

static bool is_near(uint64_t a, uint64_t b, uint64_t ppm)
{
	return (a > b ? a - b : b - a) <= b / MHZ * ppm;
}

/* SDM volume 2A, CPUID: TSC and crystal, then the base frequency in MHz. 0: not told. */
static uint64_t tsc_hz_by_cpuid(void)
{
	uint64_t leaves = cpuid(0, 0).eax;
	struct cpuid_result tsc;

	if (leaves < CPUID_TSC)
		return 0;
	tsc = cpuid(CPUID_TSC, 0);
	if (!tsc.eax || !tsc.ebx)
		return 0;
	if (tsc.ecx)
		return tsc.ecx * tsc.ebx / tsc.eax;
	return leaves < CPUID_CLOCKS ? 0 : (cpuid(CPUID_CLOCKS, 0).eax & 0xffff) * MHZ;
}

static uint64_t refine(uint64_t measured)
{
	uint64_t told = tsc_hz_by_cpuid();
	uint64_t whole = (measured + MHZ / 2) / MHZ * MHZ;

	if (told && is_near(measured, told, MHZ / 100))
		return told;
	return is_near(measured, whole, WHOLE_PPM) ? whole : measured;
}

static uint64_t tsc_hz;

int clock_measure(uint16_t port, struct clock_rates *rates)
{
	bool has_lapic = rdmsr(MSR_APIC_BASE) & APIC_BASE_ENABLED;
	struct lapic_timer before = {0};
	int error = -ENODEV;

	if (has_lapic)
		before = start_lapic_timer();
	if (port)
		error = measure_by_pm_timer(port, rates);
	if (error)
		error = measure_by_pit(rates);
	if (has_lapic)
		restore_lapic_timer(&before);
	if (error)
		return error;
	rates->tsc_hz = refine(rates->tsc_hz);
	tsc_hz = rates->tsc_hz;
	return 0;
}

uint64_t clock_tsc_hz(void)
{
	return tsc_hz;
}
