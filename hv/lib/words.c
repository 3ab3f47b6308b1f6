// SPDX-License-Identifier: GPL-2.0-only
#include "lib/words.h"

#include "lib/string.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct word word_next(const char **cursor)
{
	const char *start = *cursor;
	const char *end;

	while (is_blank(*start))
		start++;
	for (end = start; *end != '\0' && !is_blank(*end);)
		end++;
	*cursor = end;
	return (struct word){start, (int)(end - start)};
}

bool word_equals(struct word word, const char *text)
{
	size_t length = strlen(text);

	return (size_t)word.length == length && memcmp(word.text, text, length) == 0;
}

bool word_split(struct word word, struct word *name, struct word *value)
{
	for (int i = 0; i < word.length && word.text[i] != '/'; i++) {
		if (word.text[i] != '=')
			continue;
		*name = (struct word){word.text, i};
		*value = (struct word){word.text + i + 1, word.length - i - 1};
		return true;
	}
	return false;
}

struct word word_file_name(const char **cursor)
{
	const char *start = *cursor;
	struct word first = word_next(cursor);
	struct word name, value;

	if (!word_split(first, &name, &value))
		return first;
	*cursor = start;
	return (struct word){start, 0};
}
