/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/power.h"
#include "core/cpu.h"

#define RESET_HARD	     0x06
#define KEYBOARD_PULSE_RESET 0xfe
#define PATIENCE	     10000000

static void wait_for_reset(void)
{
	for (int i = 0; i < PATIENCE; i++)
		cpu_relax();
}

/* An exception without a handler: the processor shuts down, and a PC resets then. */
_Noreturn static void triple_fault(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) none = {0, 0};

	asm volatile("lidt %0; ud2" ::"m"(none));
	cpu_stop();
}

void power_reset(void)
{
	outb(PORT_RESET_CONTROL, RESET_HARD);
	wait_for_reset();
	outb(PORT_KEYBOARD_COMMAND, KEYBOARD_PULSE_RESET);
	wait_for_reset();
	triple_fault();
}
