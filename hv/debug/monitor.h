/* SPDX-License-Identifier: GPL-2.0-only */
/* The monitor's commands, for people at Vellum's line and behind gdb's "monitor". */
#ifndef VELLUM_DEBUG_MONITOR_H
#define VELLUM_DEBUG_MONITOR_H

/*
 * Does what line says, about the vcpu of that number, all vcpus standing still. print gets
 * the answer, a piece at a time.
 */
void monitor_run(const char *line, unsigned int vcpu, void (*print)(const char *text));

#endif
