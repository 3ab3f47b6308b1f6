/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/event.h"
#include "core/cpu.h"

/* #DE, #TS, #NP, #SS, #GP and #CP: SDM volume 3A, table 6-4 */
#define CONTRIBUTORY (BIT(0) | BIT(10) | BIT(11) | BIT(12) | BIT(13) | BIT(21))

static bool is_contributory(unsigned int vector)
{
	return CONTRIBUTORY >> vector & 1;
}

enum event_outcome event_combine(unsigned int first, unsigned int second)
{
	bool is_fault = is_contributory(second) || second == VECTOR_PF;

	if (first == VECTOR_DF && is_fault)
		return EVENT_SHUTDOWN;
	if (first == VECTOR_PF && is_fault)
		return EVENT_DOUBLE_FAULT;
	if (is_contributory(first) && is_contributory(second))
		return EVENT_DOUBLE_FAULT;
	return EVENT_SECOND;
}
