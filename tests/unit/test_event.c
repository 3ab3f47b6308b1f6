// SPDX-License-Identifier: GPL-2.0-only
/* The table of SDM volume 3A, 6.15, and of APM volume 2, 8.2.9: each pair of exceptions. */
#include "support.h"

#include "core/event.h"

enum class { BENIGN, CONTRIBUTORY, PAGE_FAULT, DOUBLE_FAULT, CLASSES };

/* The rows and columns as the manual prints them */
static const enum event_outcome table[CLASSES][3] = {
	[BENIGN] = {EVENT_SECOND, EVENT_SECOND, EVENT_SECOND},
	[CONTRIBUTORY] = {EVENT_SECOND, EVENT_DOUBLE_FAULT, EVENT_SECOND},
	[PAGE_FAULT] = {EVENT_SECOND, EVENT_DOUBLE_FAULT, EVENT_DOUBLE_FAULT},
	[DOUBLE_FAULT] = {EVENT_SECOND, EVENT_SHUTDOWN, EVENT_SHUTDOWN},
};

static enum class class_of(unsigned int vector) {
	switch (vector){
		case 0 : case 10 : case 11 : case 12 : case 13 : case 21 : return CONTRIBUTORY;
		case 14 : return PAGE_FAULT;
		case 8 : return DOUBLE_FAULT;
		default : return BENIGN;
	}
}

static void each_pair_is_as_in_the_manuals_table(void **state)
{
	(void)state;
	for (unsigned int first = 0; first < 32; first++)
		for (unsigned int second = 0; second < 32; second++)
			if (second != 8)
				assert_int_equal(event_combine(first, second),
						 table[class_of(first)][class_of(second)]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_is_as_in_the_manuals_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
