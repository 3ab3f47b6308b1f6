/* SPDX-License-Identifier: GPL-2.0-only */
#include "timer.h"
#include "core/cpu.h"

/* Intel 8259A and 8254, at the PC's ports */
#define PIC_COMMAND	  0x20
#define PIC_DATA	  0x21
#define PIC_INIT	  0x11
#define PIC_CASCADE	  0x04
#define PIC_8086	  0x01
#define PIC_EOI		  0x20
#define PIC_READ_REQUESTS 0x0a
#define PIC_IRQ0	  0x01
#define PIT_DATA	  0x40
#define PIT_COMMAND	  0x43
#define PIT_RATE	  0x34 /* channel 0, both bytes, rate generator */
#define PIT_DIVISOR	  1193 /* 1 kHz */

void timer_start(void)
{
	outb(PIC_COMMAND, PIC_INIT);
	outb(PIC_DATA, VECTOR_TIMER);
	outb(PIC_DATA, PIC_CASCADE);
	outb(PIC_DATA, PIC_8086);
	outb(PIC_DATA, (uint8_t)~PIC_IRQ0);
	outb(PIT_COMMAND, PIT_RATE);
	outb(PIT_DATA, PIT_DIVISOR & 0xff);
	outb(PIT_DATA, PIT_DIVISOR >> 8);
}

void timer_stop(void)
{
	outb(PIC_DATA, 0xff);
}

void timer_await(void)
{
	do
		outb(PIC_COMMAND, PIC_READ_REQUESTS);
	while (!(inb(PIC_COMMAND) & PIC_IRQ0));
}

void timer_acknowledge(void)
{
	outb(PIC_COMMAND, PIC_EOI);
}
