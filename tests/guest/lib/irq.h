/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the interrupts of IRQ 0, by way of the PIC, and of the local APIC's LVTT: the two
 * wirings of VMI's alarms.
 */
#ifndef VELLUM_TESTS_GUEST_IRQ_H
#define VELLUM_TESTS_GUEST_IRQ_H

#include "lib/types.h"

enum irq {
	IRQ_PIC,
	IRQ_APIC,
	IRQS,
};

#define VECTOR_IRQ0 0x20
#define VECTOR_LVTT 0x31 /* Linux' FIRST_DEVICE_VECTOR */

/*
 * PIC: IRQ 0 only. PIT: stopped by mode 5, as Linux' VMI timer does. APIC: on, LVTT with a bare
 * vector, count 0. Interrupts stay off.
 */
void irq_init(void);

/* The APIC's part of it, for a processor that starts later. Counts are each processor's own. */
void irq_init_apic(void);

/* LVTT gets this vector, masked or not, in one-shot mode. The vector counts as IRQ_APIC. */
void irq_set_lvtt(unsigned int vector, bool masked);

/* The same by a read and a write, as Linux masks it: the timer's mode stays. */
void irq_change_lvtt(unsigned int vector, bool masked);

/* Taken since irq_init() or irq_reset(). */
unsigned int irq_count(enum irq irq);
void irq_reset(void);

/* Is called from each handler, behind the count and the EOI; NULL: nothing. */
void irq_set_hook(void (*hook)(enum irq irq));

/* Waits with interrupts on until so many were taken; fails the guest if they do not come. */
void irq_await(const char *what, enum irq irq, unsigned int count);

/*
 * Interrupts that come of a count of channel 0 that was stopped by a new mode: 0, as by the
 * 8254's data sheet, or 1, as QEMU 7.2 lets it run to its end. Tried out by irq_init().
 */
unsigned int irq_pit_overrun(void);

/* Lets what is pending come: interrupts are on for a moment. */
void irq_let_in(void);

#endif
