/* SPDX-License-Identifier: GPL-2.0-only */
#include "dev/lapic.h"
#include "core/cpu.h"
#include "mm/physmap.h"

#define APIC_BASE_X2APIC  BIT(10)
#define APIC_BASE_ADDRESS 0x000ffffffffff000ull

#define XAPIC_ID_SHIFT		   24 /* of the id register, and of the destination */
#define SVR_INITIAL		   0xffu
#define DFR_INITIAL		   0xffffffffu
#define LVT_MASKED		   0x10000u
#define VERSION_LVT_COUNT(version) (((version) >> 16 & 0xff) + 1)
#define ISR_WORDS		   8
#define INTERRUPTS_MAX		   256
#define PATIENCE		   1000000

bool lapic_is_x2apic(void)
{
	return rdmsr(MSR_APIC_BASE) & APIC_BASE_X2APIC;
}

hpa_t lapic_page(void)
{
	return hpa(rdmsr(MSR_APIC_BASE) & APIC_BASE_ADDRESS);
}

static volatile uint32_t *registers(void)
{
	return phys_to_virt(lapic_page());
}

uint32_t lapic_read(uint32_t offset)
{
	if (lapic_is_x2apic())
		return (uint32_t)rdmsr(MSR_X2APIC_BASE + offset / 16);
	return registers()[offset / 4];
}

void lapic_write(uint32_t offset, uint32_t value)
{
	if (lapic_is_x2apic())
		wrmsr(MSR_X2APIC_BASE + offset / 16, value);
	else
		registers()[offset / 4] = value;
}

/* Also of an APIC that is switched off. */
uint32_t lapic_id(void)
{
	if (lapic_is_x2apic())
		return (uint32_t)rdmsr(MSR_X2APIC_BASE + LAPIC_ID / 16);
	return (uint32_t)cpuid(CPUID_FEATURES, 0).ebx >> CPUID_1_EBX_APIC_SHIFT;
}

static void wait_until_sent(volatile uint32_t *apic)
{
	for (int i = 0; i < PATIENCE && (apic[LAPIC_ICR / 4] & ICR_PENDING); i++)
		cpu_relax();
}

void lapic_send(uint32_t apic_id, uint32_t command)
{
	volatile uint32_t *apic = registers();
	uint32_t destination;

	asm volatile("mfence" ::: "memory"); /* the MSR does not wait for what was stored */
	if (lapic_is_x2apic()) {
		wrmsr(MSR_X2APIC_ICR, (uint64_t)apic_id << 32 | command);
		return;
	}
	wait_until_sent(apic);
	destination = apic[LAPIC_ICR_HIGH / 4];
	apic[LAPIC_ICR_HIGH / 4] = apic_id << XAPIC_ID_SHIFT;
	apic[LAPIC_ICR / 4] = command;
	wait_until_sent(apic);
	apic[LAPIC_ICR_HIGH / 4] = destination;
}

/* Each EOI ends one; what is only requested cannot be taken back. */
static void end_interrupts(void)
{
	for (unsigned int i = 0; i < INTERRUPTS_MAX; i++) {
		uint32_t in_service = 0;

		for (uint32_t word = 0; word < ISR_WORDS; word++)
			in_service |= lapic_read(LAPIC_ISR + word * 16);
		if (!in_service)
			return;
		lapic_write(LAPIC_EOI, 0);
	}
}

/* An entry of the local vector table, and how many of them a processor that has it has. */
static const struct {
	uint32_t offset, count;
} lvt[] = {
	{LAPIC_LVT_TIMER, 1}, {LAPIC_LVT_LINT0, 1},    {LAPIC_LVT_LINT1, 1},
	{LAPIC_LVT_ERROR, 1}, {LAPIC_LVT_COUNTERS, 5}, {LAPIC_LVT_THERMAL, 6},
};

/* In x2APIC mode one that is not there is #GP (SDM volume 3A, 11.5.1). */
static void mask_lvt(void)
{
	uint32_t count = VERSION_LVT_COUNT(lapic_read(LAPIC_VERSION));

	for (unsigned int i = 0; i < ARRAY_SIZE(lvt); i++)
		if (count >= lvt[i].count)
			lapic_write(lvt[i].offset, LVT_MASKED);
}

void lapic_reset(void)
{
	end_interrupts();
	mask_lvt();
	lapic_write(LAPIC_INITIAL, 0);
	lapic_write(LAPIC_DIVIDE, 0);
	lapic_write(LAPIC_TPR, 0);
	lapic_write(LAPIC_ESR, 0);
	lapic_write(LAPIC_SVR, SVR_INITIAL);
	if (lapic_is_x2apic())
		return;
	lapic_write(LAPIC_LDR, 0);
	lapic_write(LAPIC_DFR, DFR_INITIAL);
}
