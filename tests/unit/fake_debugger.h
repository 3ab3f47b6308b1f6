/* SPDX-License-Identifier: GPL-2.0-only */
/* A debugger that is off unless a test says otherwise, takes what it is told to, and counts. */
#ifndef VELLUM_TESTS_UNIT_FAKE_DEBUGGER_H
#define VELLUM_TESTS_UNIT_FAKE_DEBUGGER_H

#include "debug/debugger.h"

bool debugger_is_on;

static struct {
	bool takes;	 /* #DB and INT3 */
	uint64_t causes; /* of the last #DB */
	unsigned int exceptions, starts, shutdowns;
} debugger;

__attribute__((unused)) static void reset_debugger(void)
{
	debugger_is_on = false;
	memset(&debugger, 0, sizeof(debugger));
}

bool debugger_takes_debug_exception(struct vcpu *vcpu, uint64_t causes)
{
	(void)vcpu;
	debugger.exceptions++;
	debugger.causes = causes;
	return debugger.takes;
}

bool debugger_takes_breakpoint(struct vcpu *vcpu)
{
	(void)vcpu;
	debugger.exceptions++;
	return debugger.takes;
}

void debugger_vcpu_starts(struct vcpu *vcpu)
{
	(void)vcpu;
	debugger.starts++;
}

void debugger_shows_shutdown(struct vcpu *vcpu)
{
	(void)vcpu;
	debugger.shutdowns++;
}

#endif
