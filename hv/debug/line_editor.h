/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line as a person types it at a terminal: cursor keys, history, completion. Bytes come one
 * at a time, and any byte may come at any time; nothing here touches the serial line.
 */
#ifndef VELLUM_DEBUG_LINE_EDITOR_H
#define VELLUM_DEBUG_LINE_EDITOR_H

#include "lib/types.h"
#include "lib/words.h"

#define LINE_LENGTH_MAX 255
#define LINE_HISTORY	16 /* lines */

enum line_event {
	LINE_MORE,     /* go on */
	LINE_DONE,     /* Enter: text holds the line */
	LINE_TOO_LONG, /* Enter, behind more than fits: the line is dropped */
	LINE_BREAK,    /* Ctrl-C: the line is dropped */
};

/*
 * The number-th word (from 0) that begins as prefix does, for the first word of the line or
 * another one; length 0 behind the last.
 */
typedef struct word (*line_candidate_t)(struct word prefix, bool first, unsigned int number);

/* Zero but for the first three is an empty line. */
struct line_editor {
	void (*put)(const char *text);
	const char *prompt;
	line_candidate_t candidate;

	char text[LINE_LENGTH_MAX + 1]; /* always with a NUL */
	unsigned int length, cursor;
	bool too_long;

	enum { LINE_PLAIN, LINE_ESCAPE, LINE_CSI, LINE_SS3 } state; /* within a key's sequence */
	unsigned int parameter;					    /* of CSI */
	uint8_t last;						    /* byte, for CR LF */

	char history[LINE_HISTORY][LINE_LENGTH_MAX + 1]; /* a ring */
	unsigned int count;				 /* lines that have ever gone into it */
	unsigned int back;				 /* how many lines back is shown; 0: none */
	char draft[LINE_LENGTH_MAX + 1];		 /* what was being typed then */
};

/* Prints the prompt, and begins an empty line. */
void line_begin(struct line_editor *line);

/* One byte more has come. */
enum line_event line_input(struct line_editor *line, uint8_t byte);

#endif
