/* SPDX-License-Identifier: GPL-2.0-only */
/* The PIT's interrupts, by way of the PIC. */
#ifndef VELLUM_TESTS_GUEST_TIMER_H
#define VELLUM_TESTS_GUEST_TIMER_H

#include "lib/types.h"

#define VECTOR_TIMER 0x20

/* One interrupt a millisecond, no other one; taken only where interrupts are on. */
void timer_start(void);

/* No more interrupts. */
void timer_stop(void);

/* Returns once an interrupt waits to be taken. */
void timer_await(void);

/* To be called for each interrupt taken. */
void timer_acknowledge(void);

#endif
