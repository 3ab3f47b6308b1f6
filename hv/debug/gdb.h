/* SPDX-License-Identifier: GPL-2.0-only */
/* The gdb stub: gdb's remote protocol (gdb manual, appendix E) on a serial line. */
#ifndef VELLUM_DEBUG_GDB_H
#define VELLUM_DEBUG_GDB_H

#include "core/cmdline.h"

/*
 * Before the guest's processors are set up: takes the port, and hides it from the guest.
 * wide: the guest is going to be 64-bit code, whatever it starts as.
 */
void gdb_init(enum option_gdb where, bool wide);

/* The machine is about to end: a debugger that waits for the guest is told. */
void gdb_end(void);

#endif
