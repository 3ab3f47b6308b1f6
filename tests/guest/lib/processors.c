/* SPDX-License-Identifier: GPL-2.0-only */
#include "processors.h"
#include "apic.h"
#include "guest.h"

#define ARRIVALS 0x7000u /* processors.asm has it as a segment */
#define PATIENCE 100000000
#define A_WHILE	 20000 /* reads of a port of the ISA bus */

/* What processors.asm reads in real mode: the offsets are there, too. */
struct orders {
	void (*entry)(uint32_t apic_id);
	struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) gdt, idt;
} __attribute__((packed));

_Static_assert(offsetof(struct orders, gdt) == 4, "processors.asm");
_Static_assert(offsetof(struct orders, idt) == 10, "processors.asm");

extern const uint8_t processors_low[], processors_low_end[];

uint8_t processors_stacks[PROCESSORS_MAX][PAGE_SIZE] __attribute__((aligned(4096)));

static struct orders *orders(void)
{
	return (struct orders *)(ARRIVALS + PROCESSORS_MAX * sizeof(struct arrival));
}

struct arrival *arrival_of(uint32_t apic_id)
{
	return (struct arrival *)ARRIVALS + apic_id;
}

static void copy_code(uint32_t page)
{
	memcpy((void *)(page << 12), processors_low, (size_t)(processors_low_end - processors_low));
}

void processors_init(void)
{
	memset(arrival_of(0), 0, PROCESSORS_MAX * sizeof(struct arrival));
	memset(orders(), 0, sizeof(struct orders));
	copy_code(START_PAGE);
	copy_code(OTHER_START_PAGE);
}

void processors_set_entry(void (*entry)(uint32_t apic_id))
{
	orders()->entry = entry;
	asm volatile("sgdt %0; sidt %1" : "=m"(orders()->gdt), "=m"(orders()->idt));
}

static void send(uint32_t command)
{
	*apic_register(APIC_ICR) = command;
	while (*apic_register(APIC_ICR) & ICR_PENDING)
		cpu_relax();
}

void send_to(uint32_t apic_id, uint32_t command)
{
	*apic_register(APIC_ICR_HIGH) = apic_id << 24;
	send(command);
}

void send_to_others(uint32_t command)
{
	send(command | ICR_OTHERS);
}

uint32_t own_apic_id(void)
{
	return *apic_register(APIC_ID) >> 24;
}

void await_arrival(uint32_t apic_id, uint32_t count)
{
	for (int i = 0; i < PATIENCE && arrival_of(apic_id)->count < count; i++)
		cpu_relax();
	EXPECT_EQ("starts of the processor", arrival_of(apic_id)->count, count);
}

void wait_a_while(void)
{
	for (int i = 0; i < A_WHILE; i++)
		inb(0x80);
}
