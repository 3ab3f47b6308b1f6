/* SPDX-License-Identifier: GPL-2.0-only */
/* Vellum's count of exits on this processor, as its CPUID leaves tell it. */
#ifndef VELLUM_BENCH_EXITS_H
#define VELLUM_BENCH_EXITS_H

#include <stdbool.h>
#include <stdint.h>

/* A reading is an exit too: two in a row differ by this much. */
enum { EXITS_PER_READ = 1 };

/* True under Vellum. */
bool exits_are_counted(void);

/* Exits so far, this reading included; a number without meaning if none are counted. */
uint64_t exits_read(void);

#endif
