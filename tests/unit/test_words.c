// SPDX-License-Identifier: GPL-2.0-only
#include "support.h"

#include "lib/words.h"

static void words_between_any_blanks(void **state)
{
	const char *cursor = "  one\ttwo=2 \n three";

	(void)state;
	assert_true(word_equals(word_next(&cursor), "one"));
	assert_true(word_equals(word_next(&cursor), "two=2"));
	assert_true(word_equals(word_next(&cursor), "three"));
	assert_int_equal(word_next(&cursor).length, 0);
	assert_int_equal(word_next(&cursor).length, 0);
}

static void equal_means_all_of_it(void **state)
{
	const char *cursor = "vmi=on";
	struct word word = word_next(&cursor);

	(void)state;
	assert_true(word_equals(word, "vmi=on"));
	assert_false(word_equals(word, "vmi=o"));
	assert_false(word_equals(word, "vmi=on "));
	assert_false(word_equals(word, ""));
}

static void split_at_the_first_equals_sign(void **state)
{
	const char *cursor = "a=b=c plain path/x=y =";
	struct word name, value;

	(void)state;
	assert_true(word_split(word_next(&cursor), &name, &value));
	assert_true(word_equals(name, "a"));
	assert_true(word_equals(value, "b=c"));
	assert_false(word_split(word_next(&cursor), &name, &value));
	assert_false(word_split(word_next(&cursor), &name, &value));
	assert_true(word_split(word_next(&cursor), &name, &value));
	assert_int_equal(name.length, 0);
	assert_int_equal(value.length, 0);
}

static void file_names_of_loaders(void **state)
{
	const char *url = "http://host/k?a=b rest";
	const char *path = "/boot/k rest";
	const char *none = "  root=/dev/sda1 rest";
	const char *start = none;

	(void)state;
	assert_true(word_equals(word_file_name(&url), "http://host/k?a=b"));
	assert_string_equal(url, " rest");
	assert_true(word_equals(word_file_name(&path), "/boot/k"));
	assert_int_equal(word_file_name(&none).length, 0);
	assert_ptr_equal(none, start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_between_any_blanks),
		cmocka_unit_test(equal_means_all_of_it),
		cmocka_unit_test(split_at_the_first_equals_sign),
		cmocka_unit_test(file_names_of_loaders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
