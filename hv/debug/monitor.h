/* SPDX-License-Identifier: GPL-2.0-only */
/* The monitor's commands, for people at Vellum's line and behind gdb's "monitor". */
#ifndef VELLUM_DEBUG_MONITOR_H
#define VELLUM_DEBUG_MONITOR_H

#include "lib/types.h"
#include "lib/words.h"

/*
 * Does what line says, about the vcpu of that number, all vcpus standing still. print gets
 * the answer, a line at a time.
 */
void monitor_run(const char *line, unsigned int vcpu, void (*print)(const char *text));

/*
 * The same on the monitor's own line: *vcpu changes if the user wants another one. True: the
 * guest is to go on, as each vcpu's resume says.
 */
bool monitor_run_own(const char *line, unsigned int *vcpu, void (*print)(const char *text));

/* For the line editor: a line_candidate_t of commands and of the guest's symbols. */
struct word monitor_candidate(struct word prefix, bool first, unsigned int number);

#endif
