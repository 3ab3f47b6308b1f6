/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines as words between blanks, read in place. */
#ifndef VELLUM_LIB_WORDS_H
#define VELLUM_LIB_WORDS_H

#include "lib/types.h"

/* A piece of a longer text, without a NUL of its own. length 0: there is none. */
struct word {
	const char *text;
	int length; /* bytes; int, because that is what "%.*s" takes */
};

/* Arguments for "%.*s" */
#define WORD_ARGS(word) (word).length, (word).text

/* The word that starts at or after *cursor, and moves *cursor to the blank behind it. */
struct word word_next(const char **cursor);

bool word_equals(struct word word, const char *text);

/*
 * True if the word is name=value; sets both parts then. A path or URL with a '='
 * behind its first '/' is none.
 */
bool word_split(struct word word, struct word *name, struct word *value);

/*
 * The file name that most boot loaders put before the words of a command line, also
 * a path or URL; moves *cursor behind it. Length 0 and *cursor as it was if the
 * line starts with name=value: GRUB 2 passes only what the user typed after the name.
 */
struct word word_file_name(const char **cursor);

#endif
