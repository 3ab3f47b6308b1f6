/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmiclock.h"
#include "guest.h"
#include "irq.h"
#include "linux.h"

#define REAL	    0u
#define PERIODIC    0x100u
#define WIRED_LVTT  0x10000u
#define HZ	    250u
#define TICKS	    5u
#define LOW(value)  ((uint32_t)(value))
#define HIGH(value) ((uint32_t)((value) >> 32))

static void set_alarm(uint32_t flags, uint64_t expiry, uint64_t period)
{
	LINUX_OP(SetAlarm, flags, LOW(expiry), HIGH(expiry), LOW(period), HIGH(period));
}

static uint64_t now(void)
{
	return LINUX_OP(GetCycleCounter, REAL);
}

/* vmi_timer_set_mode(PERIODIC): the first expiry is now, and so it is due. */
static void tick(const char *what, uint32_t wiring, enum irq irq, uint64_t period)
{
	irq_reset();
	set_alarm(PERIODIC | wiring | REAL, now(), period);
	irq_await(what, irq, TICKS);
	LINUX_OP(CancelAlarm, PERIODIC | wiring | REAL);
	irq_let_in(); /* a tick that was on its way */
}

/* vmi_timer_next_event(), then the idle loop. */
static void one_shot(uint64_t delta)
{
	irq_reset();
	set_alarm(WIRED_LVTT | REAL, now() + delta, 0);
	if (!irq_count(IRQ_APIC)) /* it may have come in the call already */
		linux_idle();
	irq_await("the one-shot", IRQ_APIC, 1);
	EXPECT_EQ("the one-shot, spent", LOW(LINUX_OP(CancelAlarm, WIRED_LVTT | REAL)), 0);
}

bool vmiclock_run(void)
{
	uint64_t frequency;

	if (!linux_has(VMI_CALL_GetCycleFrequency))
		return false;
	frequency = LINUX_OP(GetCycleFrequency);
	EXPECT(LINUX_OP(GetWallclockTime) != 0);
	tick("ticks by IRQ 0", 0, IRQ_PIC, frequency / HZ);
	irq_set_lvtt(VECTOR_LVTT, false);
	tick("ticks by LVTT", WIRED_LVTT, IRQ_APIC, frequency / HZ);
	for (unsigned int i = 1; i <= TICKS; i++)
		one_shot(frequency / HZ / i);
	return true;
}
