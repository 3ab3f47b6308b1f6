/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: what would stop Linux 2.6.21 on this ROM: an answer to 29 to 32 that cuts its site of
 * two calls in half, periodic alarms that run on AVAILABLE only in part, two alarms that
 * disturb each other.
 * Manual: docs/vmi.md; Linux 2.6.21, arch/i386/kernel/vmi.c and vmitime.c.
 * Vendors: no difference.
 * Cannot tell apart: a kernel that lives from one that lives well.
 */
#include "alarm.h"
#include "guest.h"
#include "irq.h"
#include "linux.h"

const char guest_name[] = "vmi_linux_2_6_21";

#define HZ	     100u /* vmi_timer_alarm_hz= */
#define TICKS	     5u
#define TIMER_VECTOR 0xefu

/* vmi_time_init(): the tick by IRQ 0. */
static void time_init(uint64_t period)
{
	irq_reset();
	alarm_set(ALARM_PERIODIC | CYCLES_AVAILABLE, cycles(CYCLES_AVAILABLE) + period, period);
	irq_await("ticks by IRQ 0", IRQ_PIC, TICKS);
}

/* vmi_timer_setup_boot_alarm() and what follows: the tick moves to the local APIC. */
static void setup_local_timer(uint64_t period)
{
	irq_set_lvtt(TIMER_VECTOR, false);
	alarm_cancel(CYCLES_AVAILABLE);
	irq_let_in(); /* a tick that was on its way */
	irq_reset();
	alarm_set(ALARM_PERIODIC | CYCLES_AVAILABLE | ALARM_WIRED_LVTT,
		  cycles(CYCLES_AVAILABLE) + period, period);
	irq_await("ticks by LVTT", IRQ_APIC, TICKS);
	EXPECT(irq_count(IRQ_PIC) <= irq_pit_overrun());
}

/* vmi_stop_hz_timer() and back: the periodic one is armed again beside the one-shot. */
static void idle_without_ticks(uint64_t period)
{
	alarm_cancel(CYCLES_AVAILABLE);
	irq_let_in(); /* a tick that was on its way */
	irq_reset();
	alarm_set(CYCLES_REAL | ALARM_WIRED_LVTT, cycles(CYCLES_REAL) + period, 0);
	if (!irq_count(IRQ_APIC)) /* it may have come in the call already */
		linux_idle();
	irq_await("the one-shot of idle", IRQ_APIC, 1);
	alarm_set(CYCLES_REAL | ALARM_WIRED_LVTT, cycles(CYCLES_REAL) + 1000 * period, 0);
	alarm_set(ALARM_PERIODIC | CYCLES_AVAILABLE | ALARM_WIRED_LVTT,
		  cycles(CYCLES_AVAILABLE) + period, period);
	irq_await("ticks beside a one-shot", IRQ_APIC, 1 + TICKS);
	EXPECT(alarm_cancel(CYCLES_REAL));
	alarm_cancel(CYCLES_AVAILABLE);
}

/* Linux has the tick of the processors that start later at their local APICs from the start. */
static void live(void)
{
	uint64_t period;

	linux_live(200);
	if (!linux_has(VMI_CALL_GetCycleFrequency))
		return;
	period = cycles_frequency() / HZ;
	if (run_processor() == 0)
		time_init(period);
	setup_local_timer(period);
	linux_live(200);
	idle_without_ticks(period);
}

void guest_main(void)
{
	const struct linux_kernel kernel = {
		.paging = told("pae") ? PAGING_PAE : PAGING_4K,
		.save_disable = true,
		.apic_write_atomic = true,
	};

	linux_boot(&kernel);
	EXPECT(linux_has(VMI_CALL_GetCycleFrequency) || !told("timer"));
	if (linux_has(VMI_CALL_GetCycleFrequency))
		alarm_read_clock_in_handlers();
	live();
	if (told("two"))
		linux_live_on_two(live);
}
