// SPDX-License-Identifier: GPL-2.0-only
#include "guest/config.h"

#include "debug/console.h"
#include "lib/string.h"

#define DEFAULT_KERNEL "kernel"
#define DEFAULT_INITRD "initrd"
#define SHOWN_LENGTH   60 /* of a wrong line */

/* A part of the text, which has no NUL at its end and may have some within. */
struct span {
	const char *start, *end;
};

struct key {
	const char *name;
	size_t offset, size;
	bool is_file; /* a name without blanks */
};

#define KEY(name, is_file)                                                \
	{                                                                 \
#name, offsetof(struct guest_config, name),               \
			sizeof(((struct guest_config *)0)->name), is_file \
	}

static const struct key keys[] = {
	KEY(kernel, true),
	KEY(initrd, true),
	KEY(append, false),
	KEY(words, false),
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static size_t length_of(struct span span)
{
	return (size_t)(span.end - span.start);
}

static struct span trim(struct span span)
{
	while (span.start < span.end && is_blank(span.start[0]))
		span.start++;
	while (span.start < span.end && is_blank(span.end[-1]))
		span.end--;
	return span;
}

/* Behind the first c, or the end. */
static const char *find(struct span span, char c)
{
	while (span.start < span.end && *span.start != c)
		span.start++;
	return span.start;
}

static const struct key *find_key(struct span name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) == length_of(name) &&
		    memcmp(keys[i].name, name.start, length_of(name)) == 0)
			return &keys[i];
	}
	return NULL;
}

static bool has_blank(struct span span)
{
	for (; span.start < span.end; span.start++) {
		if (is_blank(*span.start))
			return true;
	}
	return false;
}

static void store(struct guest_config *config, const struct key *key, struct span value,
		  unsigned int number)
{
	char *to = (char *)config + key->offset;

	if (length_of(value) >= key->size) {
		pr_warn(CONFIG_FILE " line %u: %s= has %zu bytes, at most %zu fit; ignored", number,
			key->name, length_of(value), key->size - 1);
		return;
	}
	if (key->is_file && has_blank(value)) {
		pr_warn(CONFIG_FILE " line %u: %s= takes a file name without blanks; ignored",
			number, key->name);
		return;
	}
	memcpy(to, value.start, length_of(value));
	to[length_of(value)] = '\0';
}

static void parse_line(struct guest_config *config, struct span line, unsigned int number)
{
	const char *equals = find(line, '=');
	const struct key *key = find_key(trim((struct span){line.start, equals}));

	if (length_of(line) == 0 || line.start[0] == '#')
		return;
	if (equals == line.end || key == NULL) {
		pr_warn(CONFIG_FILE " line %u: \"%.*s\" is ignored; lines are kernel=, initrd=, "
				    "append= or words=",
			number, (int)min_u64(length_of(line), SHOWN_LENGTH), line.start);
		return;
	}
	store(config, key, trim((struct span){equals + 1, line.end}), number);
}

void config_parse(struct guest_config *config, const char *text, uint64_t size)
{
	struct span rest = {text, text + size};
	unsigned int number = 1;

	memset(config, 0, sizeof(*config));
	string_copy(config->kernel, DEFAULT_KERNEL, sizeof(config->kernel));
	string_copy(config->initrd, DEFAULT_INITRD, sizeof(config->initrd));
	while (rest.start < rest.end) {
		const char *end = find(rest, '\n');

		parse_line(config, trim((struct span){rest.start, end}), number++);
		rest.start = end < rest.end ? end + 1 : end;
	}
}

bool config_wants_initrd(const struct guest_config *config)
{
	return config->initrd[0] != '\0' && strcmp(config->initrd, DEFAULT_INITRD) != 0;
}

static const char *last_part(const char *name)
{
	const char *part = name;

	for (; *name != '\0'; name++) {
		if (*name == '/' || *name == '\\')
			part = name + 1;
	}
	return part;
}

bool config_same_file(const char *a, const char *b)
{
	return strcmp(last_part(a), last_part(b)) == 0;
}
