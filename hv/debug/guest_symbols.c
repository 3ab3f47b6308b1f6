/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map is kept as it came, less the lines that nobody asks for: it is sorted by address
 * already, and its lines ("c1000000 T _stext") are short.
 */
#include "debug/guest_symbols.h"
#include "debug/console.h"
#include "guest/module.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/physmap.h"

#define MAP_NAME	  "System.map"
#define FUNCTION_SIZE_MAX (1 * MIB) /* what is further behind a name has another one */

static const char *map; /* whole lines, each with its newline */
static uint64_t map_size;

struct line {
	uint64_t address;
	char kind;
	struct word name;
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static const char *line_end(const char *at, const char *end)
{
	while (at < end && *at != '\n')
		at++;
	return at;
}

/* False for what is no line of a map. end is at its newline, or at the text's end. */
static bool parse_line(const char *at, const char *end, struct line *line)
{
	const char *digits = at;

	for (line->address = 0; at < end && is_hex(*at); at++)
		line->address =
			line->address << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	if (at == digits || at - digits > 16 || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line->kind = at[1];
	line->name = (struct word){at + 3, (int)(end - at - 3)};
	return true;
}

static bool is_code(char kind)
{
	return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W';
}

static bool begins_with(struct word word, const char *text)
{
	size_t length = strlen(text);

	return (size_t)word.length >= length && !memcmp(word.text, text, length);
}

/* Not the tables of what is exported, which name every such symbol again and again. */
static bool is_wanted(const struct line *line)
{
	return line->kind != 'a' && line->kind != 'A' && !begins_with(line->name, "__ksymtab") &&
	       !begins_with(line->name, "__kstrtab") && !begins_with(line->name, "__UNIQUE_ID");
}

/* ---- reading it ---- */

/* How many bytes its wanted lines take; copies them to to if that is not NULL. */
static uint64_t copy_wanted(const char *from, const char *end, char *to)
{
	uint64_t size = 0;

	while (from < end) {
		const char *newline = line_end(from, end);
		uint64_t length = (uint64_t)(newline - from);
		struct line line;

		if (newline < end && parse_line(from, newline, &line) && is_wanted(&line)) {
			if (to)
				memcpy(to + size, from, length + 1);
			size += length + 1;
		}
		from = newline + 1;
	}
	return size;
}

static bool is_map(const struct boot_module *module)
{
	struct word name = module_file_name(module);

	for (int i = name.length; i > 0; i--)
		if (name.text[i - 1] == '/')
			return begins_with((struct word){name.text + i, name.length - i}, MAP_NAME);
	return begins_with(name, MAP_NAME);
}

static void keep(const struct boot_module *module)
{
	const char *from = phys_to_virt(module->start), *end = from + module->size;
	uint64_t size = copy_wanted(from, end, NULL), pages = align_up(size, PAGE_SIZE) / PAGE_SIZE;
	hpa_t frames;

	map_size = 0;
	if (!size || frames_allocate((unsigned int)pages, 1, &frames)) {
		pr_warn("%s: %s; the guest's addresses stay without names", MAP_NAME,
			size ? "no memory for it"
			     : "no line of it looks like \"c1000000 T _text\"");
		return;
	}
	copy_wanted(from, end, phys_to_virt(frames));
	map = phys_to_virt(frames);
	map_size = size;
	pr_info("%s: %lu KiB of the guest's symbols kept", MAP_NAME, size / KIB);
}

void guest_symbols_take(struct boot_info *boot)
{
	unsigned int i = 0;

	while (i < boot->module_count && !is_map(&boot->module[i]))
		i++;
	if (i == boot->module_count)
		return;
	keep(&boot->module[i]);
	boot->module_count--;
	memmove(&boot->module[i], &boot->module[i + 1],
		(boot->module_count - i) * sizeof(boot->module[0]));
}

/* ---- asking it ---- */

/* The start of the line that the byte at at belongs to. */
static const char *line_start(const char *at)
{
	while (at > map && at[-1] != '\n')
		at--;
	return at;
}

/* The last line whose address is not above this one; NULL if there is none. */
static const char *search(uint64_t address)
{
	uint64_t low = 0, high = map_size; /* lines that start in [0, low) are not above */
	const char *found = NULL;

	while (low < high) {
		const char *start = line_start(map + low + (high - low) / 2);
		const char *end = line_end(start, map + map_size);
		struct line line;

		if (!parse_line(start, end, &line))
			return NULL;
		if (line.address <= address) {
			found = start;
			low = (uint64_t)(end + 1 - map);
		} else {
			high = (uint64_t)(start - map);
		}
	}
	return found;
}

struct word guest_symbol_at(uint64_t address, uint64_t *offset)
{
	const char *at = search(address);
	struct line line;

	if (!at)
		return (struct word){"", 0};
	parse_line(at, line_end(at, map + map_size), &line);
	*offset = address - line.address;
	if (!is_code(line.kind) || *offset > FUNCTION_SIZE_MAX)
		return (struct word){"", 0};
	return line.name;
}

static const char *next_line(const char *at, struct line *line)
{
	const char *end = line_end(at, map + map_size);

	parse_line(at, end, line);
	return end + 1;
}

bool guest_symbol_find(struct word name, uint64_t *address)
{
	struct line line;

	for (const char *at = map; at < map + map_size;) {
		at = next_line(at, &line);
		if (line.name.length == name.length &&
		    !memcmp(line.name.text, name.text, (size_t)name.length)) {
			*address = line.address;
			return true;
		}
	}
	return false;
}

struct word guest_symbol_match(struct word prefix, unsigned int number)
{
	struct line line;

	for (const char *at = map; at < map + map_size;) {
		at = next_line(at, &line);
		if (line.name.length >= prefix.length &&
		    !memcmp(line.name.text, prefix.text, (size_t)prefix.length) && !number--)
			return line.name;
	}
	return (struct word){"", 0};
}

static const char *write_text(struct word name, uint64_t offset, char *text)
{
	text[0] = '\0';
	if (name.length && offset)
		text_format(text, GUEST_SYMBOL_TEXT_SIZE, "  %.*s+%lx", WORD_ARGS(name), offset);
	else if (name.length)
		text_format(text, GUEST_SYMBOL_TEXT_SIZE, "  %.*s", WORD_ARGS(name));
	return text;
}

const char *guest_symbol_text(uint64_t address, char text[GUEST_SYMBOL_TEXT_SIZE])
{
	uint64_t offset = 0;
	struct word name = guest_symbol_at(address, &offset);

	return write_text(name, offset, text);
}

/* A function that does not return may end with the call. */
const char *guest_symbol_caller(uint64_t address, char text[GUEST_SYMBOL_TEXT_SIZE])
{
	uint64_t offset = 0;
	struct word name = guest_symbol_at(address - 1, &offset);

	return write_text(name, offset + 1, text);
}
