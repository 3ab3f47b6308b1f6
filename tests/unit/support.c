// SPDX-License-Identifier: GPL-2.0-only
#include "support.h"

#include "core/lock.h"
#include "mm/physmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_LINES 256
#define LINE_SIZE 4096

#define GUARD_SIZE PAGE_SIZE /* behind the arena: a read past its end is a crash */

struct line {
	enum log_level level;
	char text[LINE_SIZE];
};

uintptr_t physmap_base;
uint64_t physmap_limit;

static struct line lines[MAX_LINES];
static unsigned int line_count;

void console_print(enum log_level level, const char *format, ...)
{
	struct line *line = &lines[line_count % MAX_LINES];
	va_list args;

	line->level = level;
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
	line_count++;
}

void console_set_level(unsigned int level)
{
	(void)level;
}

void console_print_record(const char *record)
{
	console_print(LOG_INFO, "%s", record);
}

void console_clear(void)
{
	line_count = 0;
}

static unsigned int lines_kept(void)
{
	return line_count < MAX_LINES ? line_count : MAX_LINES;
}

unsigned int console_count(enum log_level level)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < lines_kept(); i++)
		count += lines[i].level == level;
	return count;
}

static void dump_lines(void)
{
	for (unsigned int i = 0; i < lines_kept(); i++)
		print_error("console[%d]: %s\n", lines[i].level, lines[i].text);
}

void assert_console(enum log_level level, const char *text)
{
	for (unsigned int i = 0; i < lines_kept(); i++) {
		if (lines[i].level == level && strstr(lines[i].text, text) != NULL)
			return;
	}
	dump_lines();
	fail_msg("no line of level %d contains \"%s\"", level, text);
}

void assert_console_quiet(void)
{
	if (console_count(LOG_ERROR) + console_count(LOG_WARN) == 0)
		return;
	dump_lines();
	fail_msg("unexpected errors or warnings");
}

/* One thread runs the tests: whoever wants the lock has it. */
static unsigned int lock_depth;

void lock_take(void)
{
	lock_depth++;
}

void lock_release(void)
{
	assert_true(lock_depth > 0);
	lock_depth--;
}

bool lock_is_taken(void)
{
	return lock_depth > 0;
}

void assert_lock_free(void)
{
	assert_int_equal(lock_depth, 0);
}

void arena_create(uint64_t size)
{
	void *memory;

	arena_free();
	memory = mmap(NULL, size + GUARD_SIZE, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, size, PROT_READ | PROT_WRITE) != 0)
		fail_msg("no arena of %llu bytes", (unsigned long long)size);
	physmap_base = (uintptr_t)memory;
	physmap_limit = size;
}

void arena_free(void)
{
	if (physmap_base != 0)
		munmap((void *)physmap_base, physmap_limit + GUARD_SIZE);
	physmap_base = 0;
	physmap_limit = 0;
}

void *arena_at(uint64_t address)
{
	return (void *)(physmap_base + address);
}

uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return random_next(state) % limit;
}
