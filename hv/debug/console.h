/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Vellum says to the person at its serial line. Each line starts with
 * "vellum: "; messages above the level of the word log= are dropped.
 */
#ifndef VELLUM_DEBUG_CONSOLE_H
#define VELLUM_DEBUG_CONSOLE_H

#include <stdatomic.h>

#include "lib/types.h"

enum log_level {
	LOG_ERROR = 0, /* something the user asked for won't happen */
	LOG_WARN = 1,  /* it happens, but not as asked */
	LOG_INFO = 2,  /* the course of a normal boot */
	LOG_DEBUG = 3, /* for Vellum's own developers */
};

/* Prints one line; the newline is added here. */
__attribute__((format(printf, 2, 3))) void console_print(enum log_level level, const char *format,
							 ...);

#define pr_error(...) console_print(LOG_ERROR, __VA_ARGS__)
#define pr_warn(...)  console_print(LOG_WARN, __VA_ARGS__)
#define pr_info(...)  console_print(LOG_INFO, __VA_ARGS__)
#define pr_debug(...) console_print(LOG_DEBUG, __VA_ARGS__)

/*
 * For what a guest can do in a loop: the console is slow, and one line is enough. The text
 * says that there will be no other.
 */
#define pr_warn_once(...)                          \
	do {                                       \
		static atomic_bool said;           \
		if (!atomic_exchange(&said, true)) \
			pr_warn(__VA_ARGS__);      \
	} while (0)

/* Gets errors and warnings a second time, in pieces; NULL: nobody does. */
typedef void (*console_mirror_t)(const char *text);

void console_set_mirror(console_mirror_t put);

/* The level up to which messages are printed, an enum log_level. */
void console_set_level(unsigned int level);

/*
 * From now on whatever would go to the serial line is given to put, a piece of a line at a
 * time, with the lock held; NULL takes that back.
 */
void console_divert(void (*put)(const char *text));

/*
 * Prints one line for machines, as it is, whatever the level: no prefix, never
 * broken. The caller gives whole "VELLUM {json}" lines, 4 KiB at most.
 */
void console_print_record(const char *line);

#endif
