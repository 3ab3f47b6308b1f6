// SPDX-License-Identifier: GPL-2.0-only
/* What has been printed can be read again, whole lines of it, whatever its length. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "debug/console_ring.h"

static char shown[CONSOLE_RING_SIZE + 1];

static void put(const char *text)
{
	strcat(shown, text);
}

static const char *show(uint64_t lines)
{
	shown[0] = '\0';
	console_ring_show(lines, put);
	return shown;
}

static void the_last_lines_are_shown(void **state)
{
	(void)state;
	assert_string_equal(show(10), "");
	console_ring_add("one\ntw");
	console_ring_add("o\nthree\n");
	assert_string_equal(show(1), "three\n");
	assert_string_equal(show(2), "two\nthree\n");
	assert_string_equal(show(10), "one\ntwo\nthree\n");
	console_ring_add("four");
	assert_string_equal(show(2), "three\nfour");
}

static void the_oldest_go_first_and_are_not_cut(void **state)
{
	char line[300];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "%0*d\n", 100 + i % 150, i);
		console_ring_add(line);
	}
	show(UINT64_MAX);
	assert_in_range(strlen(shown), CONSOLE_RING_SIZE - 300, CONSOLE_RING_SIZE);
	assert_string_equal(strrchr(shown, '0') ? shown + strlen(shown) - 4 : "", "999\n");
	assert_in_range(strcspn(shown, "\n"), 100, 249);
	snprintf(line, sizeof(line), "%0*d\n", 100 + 999 % 150, 999);
	assert_string_equal(show(1), line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_lines_are_shown),
		cmocka_unit_test(the_oldest_go_first_and_are_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
