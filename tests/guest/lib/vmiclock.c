/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmiclock.h"
#include "alarm.h"
#include "guest.h"
#include "irq.h"
#include "linux.h"

#define HZ    250u
#define TICKS 5u

/* vmi_timer_set_mode(PERIODIC): the first expiry is now, and so it is due. */
static void tick(const char *what, uint32_t wiring, enum irq irq, uint64_t period)
{
	irq_reset();
	alarm_set(ALARM_PERIODIC | wiring | CYCLES_REAL, cycles(CYCLES_REAL), period);
	irq_await(what, irq, TICKS);
	alarm_cancel(ALARM_PERIODIC | wiring | CYCLES_REAL);
	irq_let_in(); /* a tick that was on its way */
}

/* vmi_timer_next_event(), then the idle loop. */
static void one_shot(uint64_t delta)
{
	irq_reset();
	alarm_set(ALARM_WIRED_LVTT | CYCLES_REAL, cycles(CYCLES_REAL) + delta, 0);
	if (!irq_count(IRQ_APIC)) /* it may have come in the call already */
		linux_idle();
	irq_await("the one-shot", IRQ_APIC, 1);
	EXPECT(!alarm_cancel(ALARM_WIRED_LVTT | CYCLES_REAL));
}

static bool run_clock(void)
{
	uint64_t frequency;

	if (!linux_has(VMI_CALL_GetCycleFrequency))
		return false;
	alarm_read_clock_in_handlers();
	frequency = cycles_frequency();
	EXPECT(LINUX_OP(GetWallclockTime) != 0);
	if (run_processor() == 0)
		tick("ticks by IRQ 0", 0, IRQ_PIC, frequency / HZ);
	irq_set_lvtt(VECTOR_LVTT, false);
	tick("ticks by LVTT", ALARM_WIRED_LVTT, IRQ_APIC, frequency / HZ);
	for (unsigned int i = 1; i <= TICKS; i++)
		one_shot(frequency / HZ / i);
	return true;
}

void vmiclock_live(void)
{
	linux_live(200);
	EXPECT(run_clock() || !told("timer"));
	linux_live(200);
}
