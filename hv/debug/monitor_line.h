/* SPDX-License-Identifier: GPL-2.0-only */
/* The monitor on a serial line: Enter stops the guest, and what is typed then are commands. */
#ifndef VELLUM_DEBUG_MONITOR_LINE_H
#define VELLUM_DEBUG_MONITOR_LINE_H

#include "core/cmdline.h"

/*
 * Before the guest's processors are set up: takes the port, and hides it from the guest.
 * wait: the guest stops at its first instruction.
 */
void monitor_init(enum option_monitor where, bool wait);

#endif
