/* SPDX-License-Identifier: GPL-2.0-only */
/* Vellum's count of exits on all processors, as its CPUID leaves tell it on each. */
#ifndef VELLUM_BENCH_EXITS_H
#define VELLUM_BENCH_EXITS_H

#include <stdbool.h>
#include <stdint.h>

/* True under Vellum. */
bool exits_are_counted(void);

/* Exits so far, this reading included; a number without meaning if none are counted. */
uint64_t exits_read(void);

/*
 * By how much two readings in a row differ: an exit a processor, and where interrupts between
 * processors exit, those that move this program to each of them.
 */
uint64_t exits_of_reading(void);

#endif
