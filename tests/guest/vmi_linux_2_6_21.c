/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: what would stop Linux 2.6.21 on this ROM: an answer to 29 to 32 that cuts its site of
 * two calls in half, periodic alarms that run on AVAILABLE only in part, two alarms that
 * disturb each other.
 * Manual: docs/vmi.md; Linux 2.6.21, arch/i386/kernel/vmi.c and vmitime.c.
 * Vendors: no difference.
 * Cannot tell apart: a kernel that lives from one that lives well.
 */
#include "guest.h"
#include "irq.h"
#include "linux.h"

const char guest_name[] = "vmi_linux_2_6_21";

#define REAL	     0u
#define AVAILABLE    1u
#define PERIODIC     0x100u
#define WIRED_LVTT   0x10000u
#define HZ	     100u /* vmi_timer_alarm_hz= */
#define TICKS	     5u
#define TIMER_VECTOR 0xefu
#define LOW(value)   ((uint32_t)(value))
#define HIGH(value)  ((uint32_t)((value) >> 32))

static void set_alarm(uint32_t flags, uint64_t expiry, uint64_t period)
{
	LINUX_OP(SetAlarm, flags, LOW(expiry), HIGH(expiry), LOW(period), HIGH(period));
}

static uint64_t now(uint32_t counter)
{
	return LINUX_OP(GetCycleCounter, counter);
}

/* vmi_time_init(): the tick by IRQ 0. */
static void time_init(uint64_t period)
{
	irq_reset();
	set_alarm(PERIODIC | AVAILABLE, now(AVAILABLE) + period, period);
	irq_await("ticks by IRQ 0", IRQ_PIC, TICKS);
}

/* vmi_timer_setup_boot_alarm() and what follows: the tick moves to the local APIC. */
static void setup_local_timer(uint64_t period)
{
	irq_set_lvtt(TIMER_VECTOR, false);
	LINUX_OP(CancelAlarm, AVAILABLE);
	irq_let_in(); /* a tick that was on its way */
	irq_reset();
	set_alarm(PERIODIC | AVAILABLE | WIRED_LVTT, now(AVAILABLE) + period, period);
	irq_await("ticks by LVTT", IRQ_APIC, TICKS);
	EXPECT(irq_count(IRQ_PIC) <=
	       1); /* QEMU's PIT runs to the end of a count that was stopped */
}

/* vmi_stop_hz_timer() and back: the periodic one is armed again beside the one-shot. */
static void idle_without_ticks(uint64_t period)
{
	LINUX_OP(CancelAlarm, AVAILABLE);
	irq_let_in();
	irq_reset();
	set_alarm(REAL | WIRED_LVTT, now(REAL) + period, 0);
	if (!irq_count(IRQ_APIC)) /* it may have come in the call already */
		linux_idle();
	irq_await("the one-shot of idle", IRQ_APIC, 1);
	set_alarm(REAL | WIRED_LVTT, now(REAL) + 1000 * period, 0);
	set_alarm(PERIODIC | AVAILABLE | WIRED_LVTT, now(AVAILABLE) + period, period);
	irq_await("ticks beside a one-shot", IRQ_APIC, 1 + TICKS);
	EXPECT_EQ("the one-shot, armed", LOW(LINUX_OP(CancelAlarm, REAL)), 1);
	LINUX_OP(CancelAlarm, AVAILABLE);
}

void guest_main(void)
{
	const struct linux_kernel kernel = {
		.paging = told("pae") ? PAGING_PAE : PAGING_4K,
		.save_disable = true,
		.apic_write_atomic = true,
	};

	linux_boot(&kernel);
	linux_live(200);
	EXPECT(linux_has(VMI_CALL_GetCycleFrequency) || !told("timer"));
	if (linux_has(VMI_CALL_GetCycleFrequency)) {
		uint64_t period = LINUX_OP(GetCycleFrequency) / HZ;

		time_init(period);
		setup_local_timer(period);
		linux_live(200);
		idle_without_ticks(period);
	}
}
