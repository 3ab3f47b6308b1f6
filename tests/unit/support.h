/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every unit test stands on: a console that remembers its lines, an arena in
 * the place of physical memory, the lock, and repeatable random numbers.
 */
#ifndef VELLUM_TESTS_UNIT_SUPPORT_H
#define VELLUM_TESTS_UNIT_SUPPORT_H

/* cmocka.h wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debug/console.h"
#include "lib/types.h"

/* Forgets the lines captured so far. */
void console_clear(void);

/* How many lines of this level came since then. */
unsigned int console_count(enum log_level level);

/* Fails the test unless some line of this level contains the text. */
void assert_console(enum log_level level, const char *text);

/* Fails the test if anything was printed at LOG_WARN or LOG_ERROR. */
void assert_console_quiet(void);

bool lock_is_taken(void);

/* Fails the test if the lock was taken more often than it was given back. */
void assert_lock_free(void);

/*
 * Physical memory from 0 to size, all zero; physmap_base and physmap_limit
 * follow it. size is a multiple of PAGE_SIZE; touching what lies behind it is a
 * crash. Pages are used only once touched, so that GiBs are cheap. A second call
 * frees the first arena.
 */
void arena_create(uint64_t size);
void arena_free(void);

/* Where the arena holds a physical address. */
void *arena_at(uint64_t address);

/* Pseudo-random, the same in every run: xorshift64. */
uint64_t random_next(uint64_t *state);

/* Uniform enough in [0, limit). */
uint64_t random_below(uint64_t *state, uint64_t limit);

#endif
