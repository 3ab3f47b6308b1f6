// SPDX-License-Identifier: GPL-2.0-only
#include "lib/printf.h"

#include "lib/string.h"
#include "lib/types.h"

#include <limits.h>

#define NUMBER_MAX_DIGITS 20 /* of UINT64_MAX in decimal */
#define NO_PRECISION	  (-1)

struct sink {
	char *text;
	size_t size;
	size_t length; /* of the whole text, also of what didn't fit */
};

/* A va_list may be an array type; in a structure it can be handed on by address. */
struct arguments {
	va_list list;
};

enum length { LENGTH_CHAR, LENGTH_SHORT, LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE };

struct conversion {
	bool left;	/* '-' */
	bool zero;	/* '0' */
	bool alternate; /* '#' */
	int width;
	int precision; /* or NO_PRECISION */
	enum length length;
	char type;
};

static void sink_char(struct sink *sink, char c)
{
	if (sink->length < sink->size) /* sink_end puts the NUL over the last one */
		sink->text[sink->length] = c;
	sink->length++;
}

static void sink_repeat(struct sink *sink, char c, int count)
{
	for (int i = 0; i < count; i++)
		sink_char(sink, c);
}

static void sink_text(struct sink *sink, const char *text, int length)
{
	for (int i = 0; i < length; i++)
		sink_char(sink, text[i]);
}

static void sink_end(struct sink *sink)
{
	if (sink->size == 0)
		return;
	sink->text[sink->length < sink->size ? sink->length : sink->size - 1] = '\0';
}

/* Returns the format behind the flags. */
static const char *parse_flags(const char *format, struct conversion *conversion)
{
	for (;; format++) {
		if (*format == '-')
			conversion->left = true;
		else if (*format == '0')
			conversion->zero = true;
		else if (*format == '#')
			conversion->alternate = true;
		else
			return format;
	}
}

/* A decimal number, or '*' for the next argument. */
static const char *parse_number(const char *format, struct arguments *arguments, int *number)
{
	if (*format == '*') {
		*number = va_arg(arguments->list, int);
		return format + 1;
	}
	for (*number = 0; *format >= '0' && *format <= '9'; format++)
		*number = *number * 10 + (*format - '0');
	return format;
}

static const char *parse_width(const char *format, struct arguments *arguments,
			       struct conversion *conversion)
{
	format = parse_number(format, arguments, &conversion->width);
	if (conversion->width < 0) {
		conversion->left = true;
		conversion->width = -conversion->width;
	}
	return format;
}

static const char *parse_precision(const char *format, struct arguments *arguments,
				   struct conversion *conversion)
{
	conversion->precision = NO_PRECISION;
	if (*format != '.')
		return format;
	format = parse_number(format + 1, arguments, &conversion->precision);
	if (conversion->precision < 0)
		conversion->precision = NO_PRECISION;
	return format;
}

static const char *parse_length(const char *format, enum length *length)
{
	static const struct {
		const char *text;
		enum length length;
	} lengths[] = {
		{"hh", LENGTH_CHAR},	  {"h", LENGTH_SHORT}, /* the longer text first */
		{"ll", LENGTH_LONG_LONG}, {"l", LENGTH_LONG},  {"z", LENGTH_SIZE},
	};

	*length = LENGTH_INT;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t size = strlen(lengths[i].text);

		if (strncmp(format, lengths[i].text, size) == 0) {
			*length = lengths[i].length;
			return format + size;
		}
	}
	return format;
}

static const char *parse_conversion(const char *format, struct arguments *arguments,
				    struct conversion *conversion)
{
	*conversion = (struct conversion){0};
	format = parse_flags(format, conversion);
	format = parse_width(format, arguments, conversion);
	format = parse_precision(format, arguments, conversion);
	format = parse_length(format, &conversion->length);
	conversion->type = *format;
	return *format == '\0' ? format : format + 1;
}

static uint64_t next_unsigned(struct arguments *arguments, enum length length)
{
	switch (length) {
	case LENGTH_CHAR:
		return (unsigned char)va_arg(arguments->list, unsigned int);
	case LENGTH_SHORT:
		return (unsigned short)va_arg(arguments->list, unsigned int);
	case LENGTH_LONG:
		return va_arg(arguments->list, unsigned long);
	case LENGTH_LONG_LONG:
		return va_arg(arguments->list, unsigned long long);
	case LENGTH_SIZE:
		return va_arg(arguments->list, size_t);
	case LENGTH_INT:
		break;
	}
	return va_arg(arguments->list, unsigned int);
}

static int64_t next_signed(struct arguments *arguments, enum length length)
{
	switch (length) {
	case LENGTH_CHAR:
		return (signed char)va_arg(arguments->list, int);
	case LENGTH_SHORT:
		return (short)va_arg(arguments->list, int);
	case LENGTH_LONG:
		return va_arg(arguments->list, long);
	case LENGTH_LONG_LONG:
		return va_arg(arguments->list, long long);
	case LENGTH_SIZE:
		return (int64_t)va_arg(arguments->list, size_t);
	case LENGTH_INT:
		break;
	}
	return va_arg(arguments->list, int);
}

/* prefix and body stay together: blanks go outside, zeros between them. */
static void print_field(struct sink *sink, const struct conversion *conversion, const char *prefix,
			int zeros, const char *body, int length)
{
	int prefix_length = (int)strlen(prefix);
	int blanks = conversion->width - prefix_length - zeros - length;

	if (!conversion->left)
		sink_repeat(sink, ' ', blanks);
	sink_text(sink, prefix, prefix_length);
	sink_repeat(sink, '0', zeros);
	sink_text(sink, body, length);
	if (conversion->left)
		sink_repeat(sink, ' ', blanks);
}

/* A precision asks for that many digits; without one, the flag '0' fills the width. */
static int count_zeros(const struct conversion *conversion, const char *prefix, int digits)
{
	int wanted = conversion->precision;

	if (wanted == NO_PRECISION && conversion->zero && !conversion->left)
		wanted = conversion->width - (int)strlen(prefix);
	return wanted > digits ? wanted - digits : 0;
}

static void print_number(struct sink *sink, const struct conversion *conversion, const char *prefix,
			 uint64_t value, unsigned int base)
{
	const char *symbols = conversion->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char digits[NUMBER_MAX_DIGITS];
	int first = NUMBER_MAX_DIGITS;
	int count;

	if (value == 0 && conversion->precision != 0)
		digits[--first] = '0';
	for (; value != 0; value /= base)
		digits[--first] = symbols[value % base];
	count = NUMBER_MAX_DIGITS - first;
	print_field(sink, conversion, prefix, count_zeros(conversion, prefix, count),
		    digits + first, count);
}

static void print_signed(struct sink *sink, const struct conversion *conversion, int64_t value)
{
	if (value < 0)
		print_number(sink, conversion, "-", 0 - (uint64_t)value, 10);
	else
		print_number(sink, conversion, "", (uint64_t)value, 10);
}

static void print_hex(struct sink *sink, const struct conversion *conversion, uint64_t value)
{
	const char *prefix = "";

	if (conversion->alternate && value != 0)
		prefix = conversion->type == 'X' ? "0X" : "0x";
	print_number(sink, conversion, prefix, value, 16);
}

static void print_string(struct sink *sink, const struct conversion *conversion, const char *text)
{
	size_t limit =
		conversion->precision == NO_PRECISION ? INT_MAX : (size_t)conversion->precision;

	if (text == NULL)
		text = "(null)";
	print_field(sink, conversion, "", 0, text, (int)strnlen(text, limit));
}

/* What is no conversion is printed as it stands: a wrong format shows, and does no harm. */
static void print_unknown(struct sink *sink, char type)
{
	sink_char(sink, '%');
	if (type != '\0')
		sink_char(sink, type);
}

static void print_conversion(struct sink *sink, const struct conversion *conversion,
			     struct arguments *arguments)
{
	char character;

	switch (conversion->type) {
	case 'd':
	case 'i':
		print_signed(sink, conversion, next_signed(arguments, conversion->length));
		break;
	case 'u':
		print_number(sink, conversion, "", next_unsigned(arguments, conversion->length),
			     10);
		break;
	case 'x':
	case 'X':
		print_hex(sink, conversion, next_unsigned(arguments, conversion->length));
		break;
	case 'p':
		print_number(sink, conversion, "0x", (uintptr_t)va_arg(arguments->list, void *),
			     16);
		break;
	case 's':
		print_string(sink, conversion, va_arg(arguments->list, const char *));
		break;
	case 'c':
		character = (char)va_arg(arguments->list, int);
		print_field(sink, conversion, "", 0, &character, 1);
		break;
	case '%':
		sink_char(sink, '%');
		break;
	default:
		print_unknown(sink, conversion->type);
	}
}

int text_vformat(char *text, size_t size, const char *format, va_list args)
{
	struct sink sink = {text, size, 0};
	struct arguments arguments;
	struct conversion conversion;

	va_copy(arguments.list, args);
	while (*format != '\0') {
		if (*format != '%') {
			sink_char(&sink, *format++);
			continue;
		}
		format = parse_conversion(format + 1, &arguments, &conversion);
		print_conversion(&sink, &conversion, &arguments);
	}
	va_end(arguments.list);
	sink_end(&sink);
	return (int)sink.length;
}

int text_format(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = text_vformat(text, size, format, args);
	va_end(args);
	return length;
}
