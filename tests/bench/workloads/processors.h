/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a row runs. A process that the scheduler may move gives another value on each
 * processor, because of what it has left behind on the other: free pages, TLBs to be flushed.
 */
#ifndef VELLUM_BENCH_PROCESSORS_H
#define VELLUM_BENCH_PROCESSORS_H

#include <stdbool.h>

/* Finds out which processors there are; before anything else of this file. */
void processors_init(void);

/* From the first one on; false behind the last. Processes to come inherit it. */
bool processors_run_on(unsigned int number);

/* The last one, where rows run: the first has the devices' interrupts. */
void processors_run_at_home(void);

#endif
