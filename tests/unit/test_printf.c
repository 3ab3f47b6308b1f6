// SPDX-License-Identifier: GPL-2.0-only
/* text_format against the host's snprintf, for everything that both can do. */
#include "support.h"

#include "lib/printf.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-truncation"

#define assert_like_libc(...)                                                \
	do {                                                                 \
		char got[128], want[128];                                    \
		int got_length = text_format(got, sizeof(got), __VA_ARGS__); \
		int want_length = snprintf(want, sizeof(want), __VA_ARGS__); \
		assert_string_equal(got, want);                              \
		assert_int_equal(got_length, want_length);                   \
	} while (0)

static void integers(void **state)
{
	(void)state;
	assert_like_libc("%d %i %d", 0, -1, INT_MIN);
	assert_like_libc("%u %u", 0u, UINT_MAX);
	assert_like_libc("%lld %llu", LLONG_MIN, ULLONG_MAX);
	assert_like_libc("%ld %lu %zu %zd", LONG_MIN, ULONG_MAX, SIZE_MAX, (size_t)-5);
	assert_like_libc("%hhd %hhu %hd %hu", 0x1ff, 0x1ff, 0x18000, 0x18000);
	assert_like_libc("%x %X %#x %#X %#x", 0xbeefu, 0xbeefu, 0xbeefu, 0xbeefu, 0u);
	assert_like_libc("%llx %hhx %lx", ULLONG_MAX, 0xabcu, ULONG_MAX);
}

static void every_flag_width_and_precision(void **state)
{
	static const char *const flags[] = {"", "-", "0", "#", "-0", "0#", "-#"};
	static const char *const types[] = {"d", "u", "x", "X", "lld", "llx"};
	static const long long values[] = {0, 1, -1, 42, INT_MAX, INT_MIN};
	char format[32];

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
		for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
			for (int width = 0; width < 14; width += 3) {
				for (int precision = -1; precision < 14; precision += 3) {
					snprintf(format, sizeof(format), "[%%%s*.*%s]", flags[f],
						 types[t]);
					for (size_t v = 0; v < ARRAY_SIZE(values); v++)
						assert_like_libc(format, width, precision,
								 values[v]);
				}
			}
		}
	}
}

static void strings_and_characters(void **state)
{
	static const char unterminated[3] = {'a', 'b', 'c'};

	(void)state;
	assert_like_libc("%s|%8s|%-8s|%.2s|%-*.*s|", "text", "text", "text", "text", 6, 3, "text");
	assert_like_libc("%.3s|%.*s", unterminated, 2, unterminated);
	assert_like_libc("%c%c%% %3c|%-3c|", 'x', 'y', 'z', 'z');
	assert_like_libc("%*d|%-*d|%*d", 5, 7, 5, 7, -5, 7);
	assert_like_libc("%p %20p", (void *)0x1234, (void *)UINTPTR_MAX);
}

static void null_pointers_do_no_harm(void **state)
{
	const char *volatile no_text = NULL;
	char text[16];

	(void)state;
	text_format(text, sizeof(text), "%p", NULL);
	assert_string_equal(text, "0x0");
	text_format(text, sizeof(text), "%s", no_text);
	assert_string_equal(text, "(null)");
}

static void never_writes_past_size(void **state)
{
	(void)state;
	for (size_t size = 0; size < 16; size++) {
		char got[16], want[16];

		memset(got, 'Z', sizeof(got));
		memset(want, 'Z', sizeof(want));
		assert_int_equal(text_format(got, size, "%s-%05d", "vellum", 42),
				 snprintf(want, size, "%s-%05d", "vellum", 42));
		assert_memory_equal(got, want, sizeof(got));
	}
}

static void counts_without_a_buffer(void **state)
{
	(void)state;
	assert_int_equal(text_format(NULL, 0, "%d", 12345), 5);
}

static void wrong_formats_show_and_end(void **state)
{
	char text[16];

	(void)state;
	assert_int_equal(text_format(text, sizeof(text), "a%"), 2);
	assert_string_equal(text, "a%");
	text_format(text, sizeof(text), "%q%d", 7);
	assert_string_equal(text, "%q7");
	text_format(text, sizeof(text), "%5");
	assert_string_equal(text, "%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(every_flag_width_and_precision),
		cmocka_unit_test(strings_and_characters),
		cmocka_unit_test(null_pointers_do_no_harm),
		cmocka_unit_test(never_writes_past_size),
		cmocka_unit_test(counts_without_a_buffer),
		cmocka_unit_test(wrong_formats_show_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
