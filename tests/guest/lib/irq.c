/* SPDX-License-Identifier: GPL-2.0-only */
#include "irq.h"
#include "apic.h"
#include "guest.h"
#include "stopwatch.h"

/* Intel 8259A and 8254, at the PC's ports */
#define PIC_COMMAND  0x20
#define PIC_DATA     0x21
#define PIC2_DATA    0xa1
#define PIC_INIT     0x11
#define PIC_CASCADE  0x04
#define PIC_8086     0x01
#define PIC_EOI	     0x20
#define PIC_IRQ0     0x01
#define PIT_DATA     0x40
#define PIT_ONE_SHOT 0x30 /* channel 0, both bytes, mode 0 */
#define PIT_SHORT    120
#define PIT_COMMAND  0x43
#define PIT_STOPPED  0x3a /* channel 0, both bytes, mode 5: waits for a gate that never comes */

#define PATIENCE 20000000 /* rounds; one to some seconds */

static volatile unsigned int counts[2][IRQS]; /* by processor */
static unsigned int pit_overrun;
static void (*volatile irq_hook)(enum irq);

static void taken(enum irq irq)
{
	counts[run_processor()][irq]++;
	if (irq_hook)
		irq_hook(irq);
}

static void take_pic(void)
{
	outb(PIC_COMMAND, PIC_EOI);
	taken(IRQ_PIC);
}

static void take_apic(void)
{
	*apic_register(APIC_EOI) = 0;
	taken(IRQ_APIC);
}

static void init_pic(void)
{
	outb(PIC2_DATA, 0xff);
	outb(PIC_COMMAND, PIC_INIT);
	outb(PIC_DATA, VECTOR_IRQ0);
	outb(PIC_DATA, PIC_CASCADE);
	outb(PIC_DATA, PIC_8086);
	outb(PIC_DATA, (uint8_t)~PIC_IRQ0);
}

/* Starts a count of some 100 microseconds, stops it, and waits for twice as long. */
static void try_pit(void)
{
	outb(PIT_COMMAND, PIT_ONE_SHOT);
	outb(PIT_DATA, PIT_SHORT);
	outb(PIT_DATA, 0);
	outb(PIT_COMMAND, PIT_ONE_SHOT);
	stopwatch_start(200);
	stopwatch_await();
	irq_reset();
	irq_let_in();
	pit_overrun = irq_count(IRQ_PIC);
}

unsigned int irq_pit_overrun(void)
{
	return pit_overrun;
}

void irq_init_apic(void)
{
	*apic_register(APIC_SPURIOUS) = APIC_ENABLED | APIC_SPURIOUS_VECTOR;
	*apic_register(APIC_TIMER_COUNT) = 0;
	irq_set_lvtt(VECTOR_LVTT, false);
}

void irq_init(void)
{
	init_pic();
	run_set_handler(VECTOR_IRQ0, take_pic);
	irq_init_apic();
	irq_let_in(); /* what the BIOS has left in the PIC */
	try_pit();
	outb(PIT_COMMAND, PIT_STOPPED); /* its output rises, which is an interrupt */
	irq_let_in();
	irq_reset();
}

static void write_lvtt(uint32_t mode, unsigned int vector, bool masked)
{
	run_set_handler(vector, take_apic);
	*apic_register(APIC_LVTT) = mode | vector | (masked ? APIC_LVT_MASKED : 0);
}

void irq_set_lvtt(unsigned int vector, bool masked)
{
	write_lvtt(0, vector, masked);
}

void irq_change_lvtt(unsigned int vector, bool masked)
{
	write_lvtt(*apic_register(APIC_LVTT) & APIC_LVT_MODE, vector, masked);
}

unsigned int irq_count(enum irq irq)
{
	return counts[run_processor()][irq];
}

void irq_reset(void)
{
	volatile unsigned int *own = counts[run_processor()];

	own[IRQ_PIC] = own[IRQ_APIC] = 0;
}

void irq_set_hook(void (*hook)(enum irq))
{
	irq_hook = hook;
}

void irq_await(const char *what, enum irq irq, unsigned int count)
{
	for (unsigned int i = 0; irq_count(irq) < count; i++) {
		if (i == PATIENCE)
			fail(__FILE__, __LINE__, "%s: %u interrupts, expected %u", what,
			     irq_count(irq), count);
		irq_let_in();
	}
}

void irq_let_in(void)
{
	asm volatile("sti; nop; nop; cli" ::: "memory");
}
