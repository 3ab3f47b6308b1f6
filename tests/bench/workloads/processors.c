// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE /* sched_setaffinity() */
#include "processors.h"

#include <sched.h>

static int numbers[CPU_SETSIZE];
static unsigned int count;

void processors_init(void)
{
	cpu_set_t all;

	if (count || sched_getaffinity(0, sizeof(all), &all))
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all))
			numbers[count++] = i;
}

bool processors_run_on(unsigned int number)
{
	cpu_set_t one;

	if (number >= count)
		return false;
	CPU_ZERO(&one);
	CPU_SET(numbers[number], &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

void processors_run_at_home(void)
{
	if (count)
		processors_run_on(count - 1);
}
