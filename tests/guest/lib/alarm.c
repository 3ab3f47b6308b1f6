/* SPDX-License-Identifier: GPL-2.0-only */
#include "alarm.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"

#define LOW(value)  ((uint32_t)(value))
#define HIGH(value) ((uint32_t)((value) >> 32))

uint64_t cycles_frequency(void)
{
	return VMI(GetCycleFrequency);
}

uint64_t cycles(uint32_t counter)
{
	return VMI(GetCycleCounter, counter, ~0u);
}

void alarm_set(uint32_t flags, uint64_t expiry, uint64_t period)
{
	VMI(SetAlarm, flags, LOW(expiry), HIGH(expiry), LOW(period), HIGH(period));
}

/* Not by VMI(): that may be what is interrupted. */
typedef uint64_t (*read_counter_t)(uint32_t counter) __attribute__((regparm(1)));
static read_counter_t read_counter;

static void read_clock(enum irq irq)
{
	(void)irq;
	read_counter(CYCLES_REAL);
}

void alarm_read_clock_in_handlers(void)
{
	struct call call;

	pv_aim(VMI_CALL_GetCycleCounter, &call);
	read_counter = (read_counter_t)call.target;
	irq_set_hook(read_clock);
}

bool alarm_cancel(uint32_t flags)
{
	uint32_t armed = LOW(VMI(CancelAlarm, flags));

	EXPECT(armed <= 1);
	return armed;
}
