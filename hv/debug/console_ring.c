/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/console_ring.h"

#define PIECE 256

static char ring[CONSOLE_RING_SIZE];
static uint64_t end; /* bytes that have ever been added */

void console_ring_add(const char *text)
{
	for (; *text; text++)
		ring[end++ % CONSOLE_RING_SIZE] = *text;
}

static char at(uint64_t position)
{
	return ring[position % CONSOLE_RING_SIZE];
}

/* Where the last lines start. The oldest line may be cut, and is left out then. */
static uint64_t find_start(uint64_t lines)
{
	uint64_t oldest = end > CONSOLE_RING_SIZE ? end - CONSOLE_RING_SIZE : 0;
	uint64_t start = end, line = end;

	while (start > oldest && lines) {
		start--;
		if (start == 0 || (start > oldest && at(start - 1) == '\n')) {
			line = start;
			lines--;
		}
	}
	return line;
}

void console_ring_show(uint64_t lines, void (*put)(const char *text))
{
	char piece[PIECE + 1];
	unsigned int length = 0;
	uint64_t stop = end; /* what put() itself adds is not shown */

	for (uint64_t position = find_start(lines); position < stop; position++) {
		piece[length++] = at(position);
		if (length < PIECE && position + 1 < stop)
			continue;
		piece[length] = '\0';
		put(piece);
		length = 0;
	}
}
