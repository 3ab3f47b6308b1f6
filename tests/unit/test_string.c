// SPDX-License-Identifier: GPL-2.0-only
/*
 * hv/lib/string.c under prefixed names, against the host's libc: every length around
 * the 8-byte step, every alignment, every overlap.
 */
#include "support.h"

#include "lib/string.h"

void *vellum_memcpy(void *dst, const void *src, size_t size);
void *vellum_memmove(void *dst, const void *src, size_t size);
void *vellum_memset(void *dst, int byte, size_t size);
int vellum_memcmp(const void *a, const void *b, size_t size);
size_t vellum_strlen(const char *s);
size_t vellum_strnlen(const char *s, size_t limit);
int vellum_strcmp(const char *a, const char *b);
int vellum_strncmp(const char *a, const char *b, size_t limit);
char *vellum_strchr(const char *s, int c);

#define AREA 96

static unsigned char got[AREA], expected[AREA];

static void fill(void)
{
	for (int i = 0; i < AREA; i++)
		got[i] = expected[i] = (unsigned char)(i * 7 + 1);
}

static void memcpy_copies_exactly_size_bytes(void **state)
{
	(void)state;
	for (size_t size = 0; size < 40; size++) {
		for (size_t at = 0; at < 9; at++) {
			fill();
			memcpy(expected + 48 + at, expected, size);
			assert_ptr_equal(vellum_memcpy(got + 48 + at, got, size), got + 48 + at);
			assert_memory_equal(got, expected, AREA);
		}
	}
}

static void memmove_survives_every_overlap(void **state)
{
	(void)state;
	for (size_t size = 0; size < 40; size++) {
		for (size_t to = 0; to < 40; to++) {
			for (size_t from = 0; from < 40; from++) {
				fill();
				memmove(expected + to, expected + from, size);
				assert_ptr_equal(vellum_memmove(got + to, got + from, size),
						 got + to);
				assert_memory_equal(got, expected, AREA);
			}
		}
	}
}

static void memset_fills_with_the_low_byte(void **state)
{
	(void)state;
	for (size_t size = 0; size < 40; size++) {
		fill();
		memset(expected + 3, 0x1fe, size);
		assert_ptr_equal(vellum_memset(got + 3, 0x1fe, size), got + 3);
		assert_memory_equal(got, expected, AREA);
	}
}

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

static void comparisons_are_unsigned_and_bounded(void **state)
{
	(void)state;
	assert_int_equal(sign(vellum_memcmp("a\x80", "a\x7f", 2)), 1);
	assert_int_equal(vellum_memcmp("ax", "ay", 1), 0);
	assert_int_equal(vellum_memcmp("a", "b", 0), 0);
	assert_int_equal(sign(vellum_strcmp("ab", "abc")), -1);
	assert_int_equal(sign(vellum_strcmp("\xff", "a")), 1);
	assert_int_equal(vellum_strcmp("abc", "abc"), 0);
	assert_int_equal(vellum_strncmp("abX", "abY", 2), 0);
	assert_int_equal(vellum_strncmp("ab\0X", "ab\0Y", 4), 0);
	assert_int_equal(sign(vellum_strncmp("ab", "aa", 9)), 1);
}

static void lengths_and_search(void **state)
{
	const char *text = "vellum";

	(void)state;
	assert_int_equal(vellum_strlen(""), 0);
	assert_int_equal(vellum_strlen(text), 6);
	assert_int_equal(vellum_strnlen(text, 3), 3);
	assert_int_equal(vellum_strnlen(text, 99), 6);
	assert_ptr_equal(vellum_strchr(text, 'l'), text + 2);
	assert_ptr_equal(vellum_strchr(text, '\0'), text + 6);
	assert_null(vellum_strchr(text, 'z'));
}

static void string_copy_cuts_and_tells_the_whole_length(void **state)
{
	char text[4];

	(void)state;
	assert_int_equal(string_copy(text, "abc", sizeof(text)), 3);
	assert_string_equal(text, "abc");
	assert_int_equal(string_copy(text, "abcdef", sizeof(text)), 6);
	assert_string_equal(text, "abc");
	assert_int_equal(string_copy(text, "x", 1), 1);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memcpy_copies_exactly_size_bytes),
		cmocka_unit_test(memmove_survives_every_overlap),
		cmocka_unit_test(memset_fills_with_the_low_byte),
		cmocka_unit_test(comparisons_are_unsigned_and_bounded),
		cmocka_unit_test(lengths_and_search),
		cmocka_unit_test(string_copy_cuts_and_tells_the_whole_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
