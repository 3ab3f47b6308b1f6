/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_DEBUG_CONSOLE_PORT_H
#define VELLUM_DEBUG_CONSOLE_PORT_H

#include "core/cmdline.h"

/*
 * Opens the serial port of this choice for console.h; again with another choice moves
 * it there. A port named by the user is used even if no UART answers.
 */
void console_open(enum option_console choice);

/* The speed that console_open() opens ports with. */
void console_set_speed(unsigned int baud);

/* True if that is the port of this address. */
bool console_is_on(uint16_t address);

/* Sets the port up again: a guest that looks for serial ports has left its own settings there. */
void console_reopen(void);

#endif
