/* SPDX-License-Identifier: GPL-2.0-only */
/* How far the guest has come with what c and s asked for. */
#ifndef VELLUM_DEBUG_MONITOR_RUN_H
#define VELLUM_DEBUG_MONITOR_RUN_H

#include "lib/types.h"

enum monitor_stop {
	MONITOR_STOPS,	 /* it stands, and the user is told why */
	MONITOR_SHOWS,	 /* a step of several: it runs on, but the user sees where it is */
	MONITOR_RUNS_ON, /* it was only on the way: nobody needs to know */
};

/* The vcpu has stopped, at the linear address next. Sets how it goes on, unless it stops. */
enum monitor_stop monitor_run_stopped(unsigned int vcpu, uint64_t next);

#endif
