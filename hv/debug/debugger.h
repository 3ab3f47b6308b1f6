/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stopping the guest's processors, and letting them go: what gdb and the monitor share. A
 * processor stops inside one of its exits. The first one that does serves the line; the
 * others stop at their next exit, and wait.
 *
 * While debugger_is_on is false nothing here is called, and the guest makes no exit for it.
 */
#ifndef VELLUM_DEBUG_DEBUGGER_H
#define VELLUM_DEBUG_DEBUGGER_H

#include "core/guest_state.h"
#include "lib/types.h"
#include "mm/guest_memory.h"

struct vcpu;

extern bool debugger_is_on;

enum stop_reason {
	STOP_NONE,	 /* it stands still because another one has stopped */
	STOP_START,	 /* at the guest's first instruction */
	STOP_ATTENTION,	 /* somebody is at the line */
	STOP_BREAKPOINT, /* an INT3 of the debugger's */
	STOP_HARDWARE,	 /* DR0 to DR3, for execution */
	STOP_WATCH,	 /* the same, for data; address is the watched one */
	STOP_STEP,
	STOP_SHUTDOWN, /* a triple fault: the guest can't go on */
	STOP_HANG,     /* the watchdog's time is over */
};

struct stop {
	enum stop_reason reason;
	uint64_t address;
	unsigned int access; /* of STOP_WATCH: enum breakpoint_access */
};

enum resume { RESUME_HOLD, RESUME_RUN, RESUME_STEP };

/* A vcpu as the debugger sees it; its number is the vcpu's. */
struct stopped {
	bool is_there; /* it stands still, and the rest means something */
	struct stop why;
	struct guest_state state; /* what is changed here goes back when it runs again */
	enum resume resume;	  /* what to do then */
};

/* Who serves the line; gdb.c or monitor.c fills it in. */
struct debugger_line {
	/* True if what has come in means that somebody wants the guest to stop; NULL: nobody. */
	bool (*wants_attention)(void);

	bool waits_at_start; /* the guest stops at its first instruction */

	/* by has stopped, all others with it. Returns when they shall go on, as resume says. */
	void (*serve)(unsigned int by);
};

/* Once, before the guest starts. NULL: nobody is asked, a guest that dies is only reported. */
void debugger_init(const struct debugger_line *line);

/* Number is below processor_count(). */
struct stopped *debugger_vcpu(unsigned int number);

static inline struct guest_paging debugger_paging(const struct stopped *stopped)
{
	const struct guest_state *state = &stopped->state;

	return (struct guest_paging){state->cr0, state->cr3, state->cr4, state->efer};
}

/* ---- for the vendors' exits ---- */

/* The vcpu is about to run for the first time, or again after INIT; on its processor. */
void debugger_vcpu_starts(struct vcpu *vcpu);

/* An exit that is there for this: stops if somebody wants that. */
void debugger_attend(struct vcpu *vcpu);

/*
 * #DB, and why, by DR6's bits. False if it is the guest's. True: it was the debugger's, the
 * guest does not see it.
 */
bool debugger_takes_debug_exception(struct vcpu *vcpu, uint64_t causes);

/* An INT3; RIP is still there. False if it is the guest's own. */
bool debugger_takes_breakpoint(struct vcpu *vcpu);

/* The guest is lost. Returns when the debugger has seen enough. */
void debugger_shows_shutdown(struct vcpu *vcpu);

/*
 * MOV to or from a debug register that the debugger uses; the guest's own values are kept
 * for it. number: 0 to 7, general: as in struct guest_registers.
 */
void debugger_moves_register(struct vcpu *vcpu, unsigned int number, unsigned int general,
			     bool to_debug_register);

#endif
