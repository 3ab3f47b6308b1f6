/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys are those of ECMA-48 (CSI sequences) and of Emacs, as readline has them. */
#include "debug/line_editor.h"
#include "lib/string.h"

#define CTRL(letter)	((letter) - '@')
#define ESCAPE		0x1b
#define DELETE		0x7f
#define CANDIDATES_MAX	48 /* that are listed */
#define CSI_FINAL_FIRST '@'
#define PARAMETER_MAX	1000

enum { KEY_HOME = 1, KEY_DELETE = 3, KEY_END = 4, KEY_HOME_TOO = 7, KEY_END_TOO = 8 };

static void put_char(struct line_editor *line, char c)
{
	char text[2] = {c, '\0'};

	line->put(text);
}

static void put_times(struct line_editor *line, char c, unsigned int times)
{
	while (times--)
		put_char(line, c);
}

/* ---- the text, and the cursor in it ---- */

/* Prints what stands at and behind the cursor, blanks over what was longer, and comes back. */
static void redraw_rest(struct line_editor *line, unsigned int blanks)
{
	line->put(line->text + line->cursor);
	put_times(line, ' ', blanks);
	put_times(line, '\b', line->length - line->cursor + blanks);
}

static void move_to(struct line_editor *line, unsigned int position)
{
	for (; line->cursor > position; line->cursor--)
		put_char(line, '\b');
	for (; line->cursor < position; line->cursor++)
		put_char(line, line->text[line->cursor]);
}

static void move_left(struct line_editor *line)
{
	if (line->cursor)
		move_to(line, line->cursor - 1);
}

static void move_right(struct line_editor *line)
{
	if (line->cursor < line->length)
		move_to(line, line->cursor + 1);
}

static void insert(struct line_editor *line, char c)
{
	if (line->length == LINE_LENGTH_MAX) {
		line->too_long = true;
		return;
	}
	memmove(line->text + line->cursor + 1, line->text + line->cursor,
		line->length - line->cursor + 1);
	line->text[line->cursor] = c;
	line->length++;
	line->cursor++;
	put_char(line, c);
	if (line->cursor < line->length)
		redraw_rest(line, 0);
}

/* Takes away what stands between start and the cursor, which is behind it. */
static void erase_back_to(struct line_editor *line, unsigned int start)
{
	unsigned int count = line->cursor - start;

	memmove(line->text + start, line->text + line->cursor, line->length - line->cursor + 1);
	line->length -= count;
	put_times(line, '\b', count);
	line->cursor = start;
	redraw_rest(line, count);
}

static void erase_char_at_cursor(struct line_editor *line)
{
	if (line->cursor == line->length)
		return;
	move_right(line);
	erase_back_to(line, line->cursor - 1);
}

static void erase_to_end(struct line_editor *line)
{
	unsigned int start = line->cursor;

	move_to(line, line->length);
	erase_back_to(line, start);
}

static unsigned int word_start(const struct line_editor *line)
{
	unsigned int start = line->cursor;

	while (start && line->text[start - 1] == ' ')
		start--;
	while (start && line->text[start - 1] != ' ')
		start--;
	return start;
}

static void replace(struct line_editor *line, const char *text)
{
	move_to(line, line->length);
	erase_back_to(line, 0);
	for (; *text; text++)
		insert(line, *text);
}

/* ---- history ---- */

static char *entry_back(struct line_editor *line, unsigned int back)
{
	return line->history[(line->count - back) % LINE_HISTORY];
}

static void remember(struct line_editor *line)
{
	if (!line->length || (line->count && !strcmp(entry_back(line, 1), line->text)))
		return;
	string_copy(line->history[line->count++ % LINE_HISTORY], line->text, sizeof(line->text));
}

static void show_history(struct line_editor *line, unsigned int back)
{
	if (!line->back)
		string_copy(line->draft, line->text, sizeof(line->draft));
	line->back = back;
	replace(line, back ? entry_back(line, back) : line->draft);
}

static void go_back(struct line_editor *line)
{
	if (line->back < min_u64(line->count, LINE_HISTORY))
		show_history(line, line->back + 1);
}

static void go_forward(struct line_editor *line)
{
	if (line->back)
		show_history(line, line->back - 1);
}

/* ---- completion ---- */

/* How much the candidates have in common, and how many there are: CANDIDATES_MAX at most. */
static struct word common_part(struct line_editor *line, struct word prefix, bool first,
			       unsigned int *count)
{
	struct word common = line->candidate(prefix, first, 0), next;

	for (*count = common.length > 0; *count && *count < CANDIDATES_MAX; (*count)++) {
		int same = 0;

		next = line->candidate(prefix, first, *count);
		if (!next.length)
			break;
		while (same < common.length && same < next.length &&
		       common.text[same] == next.text[same])
			same++;
		common.length = same;
	}
	return common;
}

static void redraw(struct line_editor *line)
{
	unsigned int cursor = line->cursor;

	line->put(line->prompt);
	line->cursor = 0;
	redraw_rest(line, 0);
	move_to(line, cursor);
}

static void list_candidates(struct line_editor *line, struct word prefix, bool first,
			    unsigned int count)
{
	line->put("\n");
	for (unsigned int i = 0; i < count; i++) {
		struct word one = line->candidate(prefix, first, i);

		for (int k = 0; k < one.length; k++)
			put_char(line, one.text[k]);
		line->put("  ");
	}
	line->put(count == CANDIDATES_MAX ? "...\n" : "\n");
	redraw(line);
}

static void complete(struct line_editor *line)
{
	unsigned int start = line->cursor, count;
	struct word prefix, common;
	bool first = true;

	while (start && line->text[start - 1] != ' ')
		start--;
	for (unsigned int i = 0; i < start; i++)
		first = first && line->text[i] == ' ';
	prefix = (struct word){line->text + start, (int)(line->cursor - start)};
	common = common_part(line, prefix, first, &count);
	if (count > 1 && common.length == prefix.length)
		list_candidates(line, prefix, first, count);
	for (int i = prefix.length; i < common.length; i++)
		insert(line, common.text[i]);
	if (count == 1)
		insert(line, ' ');
}

/* ---- bytes ---- */

static void reset(struct line_editor *line)
{
	line->text[0] = '\0';
	line->length = line->cursor = line->back = 0;
	line->too_long = false;
	line->state = LINE_PLAIN;
}

void line_begin(struct line_editor *line)
{
	reset(line);
	line->put(line->prompt);
}

static enum line_event end_line(struct line_editor *line)
{
	move_to(line, line->length);
	line->put("\n");
	line->state = LINE_PLAIN;
	if (line->too_long)
		return LINE_TOO_LONG;
	remember(line);
	return LINE_DONE;
}

/* The letter that ends a sequence; what nobody knows does nothing. */
static void end_sequence(struct line_editor *line, uint8_t final)
{
	line->state = LINE_PLAIN;
	if (final == '~' && (line->parameter == KEY_HOME || line->parameter == KEY_HOME_TOO))
		final = 'H';
	if (final == '~' && (line->parameter == KEY_END || line->parameter == KEY_END_TOO))
		final = 'F';
	if (final == 'A')
		go_back(line);
	else if (final == 'B')
		go_forward(line);
	else if (final == 'C')
		move_right(line);
	else if (final == 'D')
		move_left(line);
	else if (final == 'H')
		move_to(line, 0);
	else if (final == 'F')
		move_to(line, line->length);
	else if (final == '~' && line->parameter == KEY_DELETE)
		erase_char_at_cursor(line);
}

/* True if the byte belongs to a key's sequence. A control character breaks one off. */
static bool take_sequence(struct line_editor *line, uint8_t byte)
{
	if (byte == ESCAPE) {
		line->state = LINE_ESCAPE;
		return true;
	}
	if (byte < ' ' || byte >= DELETE)
		line->state = LINE_PLAIN;
	if (line->state == LINE_PLAIN)
		return false;
	if (line->state == LINE_ESCAPE) {
		line->parameter = 0;
		line->state = byte == '[' ? LINE_CSI : byte == 'O' ? LINE_SS3 : LINE_PLAIN;
	} else if (line->state == LINE_SS3 || byte >= CSI_FINAL_FIRST) {
		end_sequence(line, byte);
	} else if (byte >= '0' && byte <= '9' && line->parameter < PARAMETER_MAX) {
		line->parameter = line->parameter * 10 + byte - '0';
	}
	return true;
}

static void take_control(struct line_editor *line, uint8_t byte)
{
	switch (byte) {
	case '\b':
	case DELETE:
		if (line->cursor)
			erase_back_to(line, line->cursor - 1);
		break;
	case '\t':
		complete(line);
		break;
	case CTRL('A'):
		move_to(line, 0);
		break;
	case CTRL('B'):
		move_left(line);
		break;
	case CTRL('D'):
		erase_char_at_cursor(line);
		break;
	case CTRL('E'):
		move_to(line, line->length);
		break;
	case CTRL('F'):
		move_right(line);
		break;
	case CTRL('K'):
		erase_to_end(line);
		break;
	case CTRL('L'):
		line->put("\r");
		redraw(line);
		break;
	case CTRL('N'):
		go_forward(line);
		break;
	case CTRL('P'):
		go_back(line);
		break;
	case CTRL('U'):
		erase_back_to(line, 0);
		line->too_long = false;
		break;
	case CTRL('W'):
		erase_back_to(line, word_start(line));
		break;
	}
}

enum line_event line_input(struct line_editor *line, uint8_t byte)
{
	bool second_half = byte == '\n' && line->last == '\r';

	line->last = byte;
	if (second_half || take_sequence(line, byte))
		return LINE_MORE;
	if (byte == '\r' || byte == '\n')
		return end_line(line);
	if (byte == CTRL('C')) {
		line->put("^C\n");
		return LINE_BREAK;
	}
	if (byte >= ' ' && byte < DELETE)
		insert(line, (char)byte);
	else
		take_control(line, byte);
	return LINE_MORE;
}
