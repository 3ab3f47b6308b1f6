/* SPDX-License-Identifier: GPL-2.0-only */
/* The local APIC of this processor: SDM volume 3A, 11.4 to 11.6; APM volume 2, 16.3 to 16.5. */
#ifndef VELLUM_TESTS_GUEST_APIC_H
#define VELLUM_TESTS_GUEST_APIC_H

#include "lib/types.h"

#define APIC_ID		 0xfee00020u
#define APIC_VERSION	 0xfee00030u
#define APIC_TPR	 0xfee00080u
#define APIC_EOI	 0xfee000b0u
#define APIC_SPURIOUS	 0xfee000f0u
#define APIC_ICR	 0xfee00300u
#define APIC_ICR_HIGH	 0xfee00310u
#define APIC_LVTT	 0xfee00320u
#define APIC_TIMER_COUNT 0xfee00380u

#define APIC_ENABLED	     0x100u
#define APIC_SPURIOUS_VECTOR 0xffu
#define APIC_LVT_MASKED	     0x10000u
#define APIC_LVT_MODE	     0x60000u

/* Commands: level assert, physical destination */
#define ICR_FIXED   0x4000u /* and a vector */
#define ICR_NMI	    0x4400u
#define ICR_INIT    0x4500u
#define ICR_STARTUP 0x4600u
#define ICR_PENDING 0x1000u
#define ICR_OTHERS  0xc0000u /* shorthand: all but this one */

/* The level-triggered INIT of old processors, and its end */
#define ICR_INIT_LEVEL	 0xc500u
#define ICR_INIT_RELEASE 0x8500u

static inline volatile uint32_t *apic_register(uint32_t address)
{
	return (volatile uint32_t *)address;
}

/* To this processor goes what is written to APIC_ICR from now on. */
static inline void apic_aim_at_self(void)
{
	*apic_register(APIC_ICR_HIGH) = *apic_register(APIC_ID);
}

static inline void apic_send_to_self(uint32_t command)
{
	apic_aim_at_self();
	*apic_register(APIC_ICR) = command;
}

#endif
