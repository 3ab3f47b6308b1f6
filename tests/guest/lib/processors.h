/* SPDX-License-Identifier: GPL-2.0-only */
/* Other processors: started by INIT and STARTUP, as SDM volume 3A, 9.4.4 does. */
#ifndef VELLUM_TESTS_GUEST_PROCESSORS_H
#define VELLUM_TESTS_GUEST_PROCESSORS_H

#include "lib/types.h"

#define PROCESSORS_MAX 16 /* by APIC id */

/* Pages that a STARTUP may name: both hold the same code. */
#define START_PAGE	 0x08u
#define OTHER_START_PAGE 0x0au

/* What a processor saw when it started; processors.asm has the offsets. */
struct arrival {
	volatile uint32_t count; /* how often it has started */
	uint32_t cs, edx, cr0;
	uint32_t ds_ss; /* or-ed: DS, ES, SS */
	uint32_t reserved[3];
};

_Static_assert(sizeof(struct arrival) == 32, "processors.asm");

/* Puts the code that they start with into both pages. Once. */
void processors_init(void);

struct arrival *arrival_of(uint32_t apic_id);

/* From now on they call entry, in 32-bit code on a stack of their own, and do not halt. */
void processors_set_entry(void (*entry)(uint32_t apic_id));

/* To one processor, or (shorthand) to all others. */
void send_to(uint32_t apic_id, uint32_t command);
void send_to_others(uint32_t command);

/* This processor's APIC id. */
uint32_t own_apic_id(void);

/* Returns once the processor has started count times; fails the guest if that does not come. */
void await_arrival(uint32_t apic_id, uint32_t count);

/* Some milliseconds: time enough for what should not come. */
void wait_a_while(void);

#endif
