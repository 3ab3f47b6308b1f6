/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second processor, started as Linux starts one with VMI: by INIT, SetInitialAPState and
 * STARTUP. It has the first one's tables and stacks of its own, and does what it is told
 * while the first one goes on.
 */
#ifndef VELLUM_TESTS_GUEST_SECOND_H
#define VELLUM_TESTS_GUEST_SECOND_H

#include "lib/types.h"

/*
 * Behind pv_start(). send is how a kernel sends a command to an APIC id: send_to(), or a way of
 * its own. Returns once the processor runs.
 */
void second_start(void (*send)(uint32_t apic_id, uint32_t command));

/* It begins this now; the one before has to be over. */
void second_begin(void (*job)(void));

/* Waits for its end; fails the guest, in the name of what, if that does not come. */
void second_await(const char *what);

#endif
