/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines for machines: one JSON object after "VELLUM ", at most 4 KiB. */
#ifndef VELLUM_DEBUG_RECORD_H
#define VELLUM_DEBUG_RECORD_H

#include "lib/types.h"

struct vcpu;

struct record_boot {
	const char *vendor; /* "AMD-V", "VT-x", or "none" */
	const char *mode, *vmi, *paging;
	unsigned int cpus;
	uint64_t memory_given; /* bytes of RAM that the guest sees */
	uint64_t memory_kept;  /* bytes that Vellum keeps */
	uint64_t cycles;       /* TSC ticks since Multiboot entry */
};

/* {"event":"boot"}: once, right before the guest's first instruction. */
void record_boot(const struct record_boot *boot);

/*
 * {"event":"exits"}: one vcpu's exits by reason, and its VMI calls. If these are too many
 * for one line, the rest follow as {"event":"vmi_calls"}.
 */
void record_exits(const struct vcpu *vcpu);

/*
 * The last words: the exits of each vcpu that runs, if the word stats= wants them, then
 * {"event":"end"}. why: poweroff, reset, triple-fault, machine-check, panic, park, error.
 */
void record_end(const char *why);

/*
 * {"event":"trace"}: the ring of trace.h, the oldest exit first, in as many lines as it takes.
 */
void record_trace(void);

/* From here on record_end() tells this vcpu's exits. */
void record_attach(const struct vcpu *vcpu);

#endif
