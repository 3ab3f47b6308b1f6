/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest that panics or hangs. A panic is seen by a breakpoint of the processor's at the
 * function of that name, which costs nothing until it is called; that takes the guest's
 * System.map. A hang is seen by looking at the guest now and then: the word watchdog=.
 */
#ifndef VELLUM_DEBUG_GUEST_DEATH_H
#define VELLUM_DEBUG_GUEST_DEATH_H

#include "lib/types.h"

struct vcpu;
struct stopped;

/*
 * Before the guest starts. watch_panic: gdb's user does that for himself. seconds: of the
 * watchdog; 0: none. True if there is something to do.
 */
bool guest_death_init(bool watch_panic, unsigned int seconds);

/* True if the vcpu has stopped because the guest has called panic(). */
bool guest_has_panicked(const struct stopped *stopped);

/* Prints the report; returns true if the guest is to go on, as onfault= says. */
bool guest_panic_report(struct vcpu *vcpu);

/* The vcpu has made an exit to be looked at. Returns true once, when it hangs. */
bool guest_hangs(struct vcpu *vcpu);

/* Prints the report, and does what onfault= says; returns for onfault=monitor. */
void guest_hang_report(struct vcpu *vcpu);

#endif
