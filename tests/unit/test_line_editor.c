// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a person types, and what a terminal shows of it: the screen is a row of characters
 * here, with a cursor that '\b' moves. At the end random bytes, with all that keys send among
 * them.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "debug/line_editor.h"

#define SCREEN 1024

static char screen[SCREEN]; /* the row that the cursor is in */
static unsigned int cursor;
static unsigned int rows; /* that have been left */

static void put(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n') {
			memset(screen, 0, sizeof(screen));
			cursor = 0;
			rows++;
		} else if (*text == '\b') {
			assert_true(cursor > 0);
			cursor--;
		} else if (*text == '\r') {
			cursor = 0;
		} else {
			assert_true(cursor < SCREEN - 1);
			assert_true(*text >= ' ' && *text < 0x7f);
			screen[cursor++] = *text;
		}
	}
}

static const char *const names[] = {"reset", "regs", "restart", "mem"};

static struct word candidate(struct word prefix, bool first, unsigned int number)
{
	for (unsigned int i = 0; first && i < ARRAY_SIZE(names); i++)
		if (!strncmp(names[i], prefix.text, (size_t)prefix.length) && !number--)
			return (struct word){names[i], (int)strlen(names[i])};
	return (struct word){"", 0};
}

static struct line_editor line;

static int reset(void **state)
{
	(void)state;
	memset(&line, 0, sizeof(line));
	memset(screen, 0, sizeof(screen));
	cursor = rows = 0;
	line.put = put;
	line.prompt = "> ";
	line.candidate = candidate;
	line_begin(&line);
	return 0;
}

static enum line_event type(const char *keys)
{
	enum line_event event = LINE_MORE;

	for (; *keys; keys++) {
		assert_int_equal(event, LINE_MORE);
		event = line_input(&line, (uint8_t)*keys);
	}
	return event;
}

/* What the line and the screen hold, blanks behind it, and where the cursor is. */
static void assert_shows(const char *text, unsigned int at)
{
	size_t length = strlen(text);

	assert_string_equal(line.text, text);
	assert_int_equal(line.length, length);
	assert_int_equal(line.cursor, at);
	assert_memory_equal(screen, "> ", 2);
	assert_memory_equal(screen + 2, text, length);
	assert_int_equal(strspn(screen + 2 + length, " "), strlen(screen + 2 + length));
	assert_int_equal(cursor, at + 2);
}

static void enter(const char *text)
{
	type(text);
	assert_int_equal(type("\r"), LINE_DONE);
	line_begin(&line);
}

static void a_line_ends_with_enter(void **state)
{
	(void)state;
	assert_int_equal(type("regs"), LINE_MORE);
	assert_shows("regs", 4);
	assert_int_equal(type("\r"), LINE_DONE);
	assert_string_equal(line.text, "regs");
	line_begin(&line);
	assert_int_equal(type("\n"), LINE_MORE); /* the second half of CR LF */
	assert_int_equal(type("x\n"), LINE_DONE);
	assert_string_equal(line.text, "x");
}

static void keys_move_and_erase(void **state)
{
	(void)state;
	type("abcd\x1b[D\x1b[D");
	assert_shows("abcd", 2);
	type("X");
	assert_shows("abXcd", 3);
	type("\x7f\x7f");
	assert_shows("acd", 1);
	type("\x1b[3~");
	assert_shows("ad", 1);
	type("\x1b[H_\x1b[F.");
	assert_shows("_ad.", 4);
	type("\x1b[1~\x1b[C\x0b");
	assert_shows("_", 1);
	type(" two words\x17");
	assert_shows("_ two ", 6);
	type("\x15");
	assert_shows("", 0);
	type("\x7f\x1b[D\x1b[3~\x04");
	assert_shows("", 0);
	type("ab\x1bOD\x01z\x05!");
	assert_shows("zab!", 4);
}

static void history_goes_back_and_keeps_the_draft(void **state)
{
	(void)state;
	enter("one");
	enter("two");
	enter("two");
	enter("");
	type("dra\x1b[A");
	assert_shows("two", 3);
	type("\x1b[A");
	assert_shows("one", 3);
	type("\x1b[A");
	assert_shows("one", 3);
	type("\x10\x0e\x1b[B");
	assert_shows("dra", 3);
	type("\x1b[B");
	assert_shows("dra", 3);
}

static void history_has_an_end(void **state)
{
	(void)state;
	for (char c = 'a'; c <= 'z'; c++)
		enter((char[]){c, '\0'});
	for (int i = 0; i < 100; i++)
		type("\x1b[A");
	assert_shows((char[]){'z' - LINE_HISTORY + 1, '\0'}, 1);
}

static void tab_completes(void **state)
{
	(void)state;
	type("m\t");
	assert_shows("mem ", 4);
	type("\x15r\t");
	assert_shows("re", 2);
	assert_int_equal(rows, 0);
	type("\t");
	assert_int_equal(rows, 2); /* the list, and the line again */
	assert_shows("re", 2);
	type("g\t");
	assert_shows("regs ", 5);
	type("x\t");
	assert_shows("regs x", 6);
	type("\x15q\t");
	assert_shows("q", 1);
}

static void too_long_a_line_does_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 10240; i++)
		assert_int_equal(type("x"), LINE_MORE);
	assert_int_equal(line.length, LINE_LENGTH_MAX);
	assert_int_equal(type("\r"), LINE_TOO_LONG);
	line_begin(&line);
	assert_int_equal(type("ok\r"), LINE_DONE);
	assert_string_equal(line.text, "ok");
	line_begin(&line);
	type("\x1b[A");
	assert_shows("ok", 2); /* nor is it in the history */
}

static void ctrl_c_drops_the_line(void **state)
{
	(void)state;
	assert_int_equal(type("reset\x03"), LINE_BREAK);
	line_begin(&line);
	assert_shows("", 0);
}

static void broken_sequences_do_no_harm(void **state)
{
	(void)state;
	type("a\x1b[12;\x1b[D"); /* one in the middle of another */
	assert_shows("a", 0);
	type("\x1b[99999999999999999999~b\x1b[?25h");
	assert_shows("ba", 1);
	assert_int_equal(type("\x1b[1\r"), LINE_DONE); /* Enter is never swallowed */
	assert_string_equal(line.text, "ba");
	line_begin(&line);
	type("x\xff\x80\x01y\x1b");
	assert_int_equal(type("\x03"), LINE_BREAK);
}

static void random_keys_keep_text_and_screen_together(void **state)
{
	static const char *const keys[] = {
		"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[3~", "\x1b", "\x1b[", "\x1bO", "\t",
		"\x7f",	  "\x15",   "\x17",   "\x0b",	"\x01",	   "\r\n", "mem ",  "r",     "xyz"};
	uint64_t random = 6;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		const char *key = keys[random_below(&random, ARRAY_SIZE(keys))];
		char byte[2] = {(char)random_next(&random), '\0'};

		for (key = random_below(&random, 4) ? key : byte; *key; key++) {
			if (line_input(&line, (uint8_t)*key) != LINE_MORE)
				line_begin(&line);
			assert_true(line.cursor <= line.length);
			assert_int_equal(strlen(line.text), line.length);
			assert_int_equal(cursor, line.cursor + 2);
			assert_memory_equal(screen + 2, line.text, line.length);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_line_ends_with_enter),
		TEST(keys_move_and_erase),
		TEST(history_goes_back_and_keeps_the_draft),
		TEST(history_has_an_end),
		TEST(tab_completes),
		TEST(too_long_a_line_does_nothing),
		TEST(ctrl_c_drops_the_line),
		TEST(broken_sequences_do_no_harm),
		TEST(random_keys_keep_text_and_screen_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
