/* SPDX-License-Identifier: GPL-2.0-only */
/* The hypervisor's own end: say everything that is known, then stop. */
#ifndef VELLUM_CORE_PANIC_H
#define VELLUM_CORE_PANIC_H

struct exception_frame;

/* What Vellum is busy with, for the dump: a short text that lives on. */
void panic_set_activity(const char *activity);

/* An exception in the hypervisor: registers, backtrace, activity; then stops. */
_Noreturn void panic_exception(const struct exception_frame *frame);

/* A condition that leaves no way to go on: the text, where from, then stops. */
__attribute__((format(printf, 1, 2))) _Noreturn void panic(const char *format, ...);

/*
 * The user's input can't be used; the reasons have been printed. Prints the end
 * record and stops.
 */
_Noreturn void stop_after_error(void);

#endif
