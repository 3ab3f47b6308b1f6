/* SPDX-License-Identifier: GPL-2.0-only */
/* What is printed when a guest dies, so that a kernel developer finds the line. */
#ifndef VELLUM_DEBUG_REPORT_H
#define VELLUM_DEBUG_REPORT_H

struct vcpu;

/*
 * Registers, code, who has called it, the last exits, and what to do next. On the vcpu's own
 * processor; the cause has been printed.
 */
void report_guest(struct vcpu *vcpu, const char *what_next);

/* Only the last exits of all processors. */
void report_exits(void);

#endif
