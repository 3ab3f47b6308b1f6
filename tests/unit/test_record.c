// SPDX-License-Identifier: GPL-2.0-only
/* The lines for machines: JSON to the letter, 4 KiB at most, whatever the counters hold. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "core/vcpu.h"
#include "debug/console.h"

enum { MOST_RECORDS = 4 };

uint64_t clock_tsc_hz(void)
{
	return 1000000;
}

static char records[MOST_RECORDS][8192];
static unsigned int record_count, records_before_reopen;

static void capture(const char *record)
{
	assert_in_range(record_count, 0, MOST_RECORDS - 1);
	assert_in_range(strlen(record), 1, 4095);
	strcpy(records[record_count++], record);
}

#define VELLUM_VERSION		     "1.2"
#define console_print_record(record) capture(record)
static unsigned int ends_told;

void gdb_end(void)
{
	ends_told++;
}

#include "debug/record.c"

struct options options;

void console_reopen(void)
{
	records_before_reopen = record_count;
}

static struct vcpu vcpu, others[2];

static int reset(void **state)
{
	(void)state;
	memset(&vcpu, 0, sizeof(vcpu));
	memset(records, 0, sizeof(records));
	record_count = 0;
	running_count = 0;
	options.stats = STATS_END;
	return 0;
}

void panic_set_activity(const char *activity)
{
	(void)activity;
}

const struct vendor *vendor;

/* ---- a checker for the JSON that Vellum writes: objects, strings, numbers ---- */

static const char *skip_value(const char *at);

static const char *skip_char(const char *at, char wanted)
{
	if (*at != wanted)
		fail_msg("'%c' expected at: %s", wanted, at);
	return at + 1;
}

static const char *skip_string(const char *at)
{
	at = skip_char(at, '"');
	while (*at != '"') {
		if (*at < ' ' || *at == '\\')
			fail_msg("no plain character: %s", at);
		at++;
	}
	return at + 1;
}

static const char *skip_array(const char *at)
{
	at = skip_char(at, '[');
	if (*at == ']')
		return at + 1;
	for (;;) {
		at = skip_value(at);
		if (*at != ',')
			return skip_char(at, ']');
		at++;
	}
}

static const char *skip_object(const char *at)
{
	at = skip_char(at, '{');
	if (*at == '}')
		return at + 1;
	for (;;) {
		at = skip_value(skip_char(skip_string(at), ':'));
		if (*at != ',')
			return skip_char(at, '}');
		at++;
	}
}

static const char *skip_value(const char *at)
{
	size_t digits = strspn(at, "0123456789");

	if (*at == '{')
		return skip_object(at);
	if (*at == '"')
		return skip_string(at);
	if (*at == '[')
		return skip_array(at);
	if (digits == 0 || (digits > 1 && *at == '0'))
		fail_msg("no value: %s", at);
	return at + digits;
}

static void assert_is_record(const char *record)
{
	assert_memory_equal(record, "VELLUM ", 7);
	assert_string_equal(skip_object(record + 7), "");
}

/* ---- the records ---- */

static const struct record_boot boot = {
	.vendor = "AMD-V",
	.mode = "hv",
	.vmi = "on",
	.paging = "nested",
	.cpus = 1,
	.memory_given = 1000,
	.memory_kept = 8388608,
	.cycles = 12345678901,
};

static void the_boot_record_is_this(void **state)
{
	(void)state;
	record_boot(&boot);
	assert_is_record(records[0]);
	assert_string_equal(records[0],
			    "VELLUM {\"event\":\"boot\",\"version\":\"1.2\",\"vendor\":\"AMD-V\","
			    "\"mode\":\"hv\",\"vmi\":\"on\",\"paging\":\"nested\",\"cpus\":1,"
			    "\"memory_given\":1000,\"memory_kept\":8388608,"
			    "\"cycles\":12345678901}");
}

static void only_exits_that_came_are_told(void **state)
{
	(void)state;
	vcpu.id = 3;
	vcpu.exits[EXIT_CPUID] = (struct exit_counter){2, 300};
	vcpu.exits[EXIT_TRIPLE_FAULT] = (struct exit_counter){1, 0};
	vcpu.exits[EXIT_PORT] = (struct exit_counter){0, 77}; /* none, so it says nothing */
	record_exits(&vcpu);
	assert_is_record(records[0]);
	assert_string_equal(records[0], "VELLUM {\"event\":\"exits\",\"cpu\":3,\"total\":3,"
					"\"by_reason\":{\"cpuid\":{\"count\":2,\"cycles\":300},"
					"\"triple_fault\":{\"count\":1,\"cycles\":0}},"
					"\"vmi_calls\":{}}");
}

static void no_exits_are_an_empty_object(void **state)
{
	(void)state;
	record_exits(&vcpu);
	assert_is_record(records[0]);
	assert_non_null(strstr(records[0], "\"by_reason\":{},"));
}

static void the_fullest_record_fits(void **state)
{
	(void)state;
	vcpu.id = UINT32_MAX;
	for (unsigned int i = 0; i < EXIT_REASONS; i++)
		vcpu.exits[i] = (struct exit_counter){UINT64_MAX, UINT64_MAX};
	record_exits(&vcpu);
	assert_is_record(records[0]);
	for (enum exit_reason i = 0; i < EXIT_REASONS; i++)
		assert_non_null(strstr(records[0], exit_reason_name(i)));
}

static void vmi_calls_are_told_by_name(void **state)
{
	(void)state;
	vcpu.vmi_calls[VMI_CALL_CPUID] = (struct exit_counter){4, 500};
	vcpu.vmi_calls[VMI_CALL_SetLazyMode] = (struct exit_counter){1, 20};
	record_exits(&vcpu);
	assert_int_equal(record_count, 1);
	assert_is_record(records[0]);
	assert_non_null(strstr(records[0], "\"vmi_calls\":{\"CPUID\":{\"count\":4,\"cycles\":500},"
					   "\"SetLazyMode\":{\"count\":1,\"cycles\":20}}}"));
}

/* The names of the calls that the records tell, in order. */
static void assert_all_calls_are_told(void)
{
	unsigned int at = 0;

	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++) {
		char key[40];

		snprintf(key, sizeof(key), "\"%s\":{", vmi_call_name(call));
		while (at < record_count && !strstr(records[at], key))
			at++;
		if (at == record_count)
			fail_msg("%s is not told", key);
	}
}

static void too_many_vmi_calls_go_on_in_another_record(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < EXIT_REASONS; i++)
		vcpu.exits[i] = (struct exit_counter){UINT64_MAX, UINT64_MAX};
	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++)
		vcpu.vmi_calls[call] = (struct exit_counter){UINT64_MAX, UINT64_MAX};
	vcpu.id = UINT32_MAX;
	record_exits(&vcpu);
	assert_int_equal(record_count, 2);
	for (unsigned int i = 0; i < record_count; i++)
		assert_is_record(records[i]);
	assert_memory_equal(records[1], "VELLUM {\"event\":\"vmi_calls\",\"cpu\":4294967295,", 45);
	assert_all_calls_are_told();
}

static void the_end_comes_after_the_exits(void **state)
{
	(void)state;
	record_attach(&vcpu);
	record_end("poweroff");
	assert_int_equal(record_count, 2);
	assert_non_null(strstr(records[0], "\"event\":\"exits\""));
	assert_string_equal(records[1], "VELLUM {\"event\":\"end\",\"why\":\"poweroff\"}");
}

/* In the order in which they first ran; one that INIT stopped and STARTUP ran again is one. */
static void each_vcpu_that_ran_has_one_record(void **state)
{
	(void)state;
	others[0].id = 1;
	others[1].id = 2;
	record_attach(&vcpu);
	record_attach(&others[1]);
	record_attach(&others[0]);
	record_attach(&others[1]);
	record_attach(&vcpu);
	record_end("poweroff");
	assert_int_equal(record_count, 4);
	assert_non_null(strstr(records[0], "\"event\":\"exits\",\"cpu\":0,"));
	assert_non_null(strstr(records[1], "\"event\":\"exits\",\"cpu\":2,"));
	assert_non_null(strstr(records[2], "\"event\":\"exits\",\"cpu\":1,"));
	assert_string_equal(records[3], "VELLUM {\"event\":\"end\",\"why\":\"poweroff\"}");
	assert_lock_free();
}

static void every_processor_has_room(void **state)
{
	static struct vcpu all[PROCESSORS_MAX];

	(void)state;
	options.stats = STATS_OFF;
	for (unsigned int i = 0; i < PROCESSORS_MAX; i++)
		record_attach(&all[i]);
	assert_int_equal(running_count, PROCESSORS_MAX);
	record_attach(&all[PROCESSORS_MAX - 1]);
	assert_int_equal(running_count, PROCESSORS_MAX);
}

static void without_stats_or_guest_the_end_stands_alone(void **state)
{
	(void)state;
	record_end("error");
	assert_int_equal(record_count, 1);
	options.stats = STATS_OFF;
	record_attach(&vcpu);
	record_end("reset");
	assert_int_equal(record_count, 2);
	assert_is_record(records[1]);
}

/*
 * A text that is too long is cut: the record is lost, the memory behind it is not. Only
 * just too long, so that what is written there falls between the sanitizer's objects.
 */
static void a_record_that_is_too_long_is_cut(void **state)
{
	static char long_text[4100];
	struct record_boot long_boot = boot;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_boot.vendor = long_text;
	record_boot(&long_boot);
	assert_int_equal(strlen(records[0]), 4095);
	record_boot(&boot);
	assert_is_record(records[1]);
}

/* A guest that looks for serial ports leaves its own settings there. */
static void the_port_is_set_up_again_before_the_last_words(void **state)
{
	(void)state;
	records_before_reopen = MOST_RECORDS;
	record_end("reset");
	assert_int_equal(records_before_reopen, 0);
}

static void trace_exit(uint64_t rip, enum exit_reason reason)
{
	vcpu.exit_start = 100 + rip;
	trace_begin(&vcpu, rip);
	vcpu_count_exit(&vcpu, reason);
	trace_end(&vcpu);
}

static void a_trace_is_told_the_oldest_first(void **state)
{
	(void)state;
	trace_clear();
	vcpu.regs.rax = 0x1b;
	trace_exit(0x1000, EXIT_CPUID);
	vcpu.regs.rcx = 0x277;
	trace_exit(0x2000, EXIT_WRMSR);
	record_trace();
	assert_is_record(records[0]);
	assert_non_null(strstr(records[0], "\"event\":\"trace\",\"tsc_hz\":1000000,\"exits\":[["));
	assert_non_null(strstr(records[0], "[4196,0,\"cpuid\",\"1000\","));
	assert_non_null(strstr(records[0], ",\"leaf 1b.0\"],[8292,0,\"wrmsr\",\"2000\","));
	assert_non_null(strstr(records[0], "\"msr 277 = 1b\"]]}"));
}

static void a_long_trace_takes_several_lines(void **state)
{
	(void)state;
	trace_clear();
	for (unsigned int i = 0; i < 100; i++)
		trace_exit(i, EXIT_PORT);
	record_trace();
	assert_int_equal(record_count, 2);
	assert_is_record(records[0]);
	assert_is_record(records[1]);
	assert_non_null(strstr(records[1], "\"63\""));
}

static void the_ring_holds_the_last_ones(void **state)
{
	struct trace_entry entry;

	(void)state;
	trace_clear();
	for (unsigned int i = 0; i < TRACE_ENTRIES + 10; i++)
		trace_exit(i, EXIT_TIMER);
	assert_int_equal(trace_count(), TRACE_ENTRIES);
	assert_true(trace_read(TRACE_ENTRIES - 1, &entry));
	assert_int_equal(entry.rip, 10);
	assert_true(trace_read(0, &entry));
	assert_int_equal(entry.rip, TRACE_ENTRIES + 9);
	trace_begin(&vcpu, 5);
	assert_true(trace_read(0, &entry));
	assert_string_equal(trace_name(&entry), "(under way)");
	assert_false(trace_read(TRACE_ENTRIES, &entry));
	trace_end(&vcpu);
	trace_clear();
	assert_int_equal(trace_count(), 0);
	trace_exit(1, EXIT_PORT);
	trace_exit(2, EXIT_ATTENTION); /* not kept */
	assert_int_equal(trace_count(), 1);
	assert_true(trace_read(0, &entry));
	assert_int_equal(entry.rip, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_boot_record_is_this, reset),
		cmocka_unit_test_setup(only_exits_that_came_are_told, reset),
		cmocka_unit_test_setup(no_exits_are_an_empty_object, reset),
		cmocka_unit_test_setup(the_fullest_record_fits, reset),
		cmocka_unit_test_setup(vmi_calls_are_told_by_name, reset),
		cmocka_unit_test_setup(too_many_vmi_calls_go_on_in_another_record, reset),
		cmocka_unit_test_setup(the_end_comes_after_the_exits, reset),
		cmocka_unit_test_setup(each_vcpu_that_ran_has_one_record, reset),
		cmocka_unit_test_setup(every_processor_has_room, reset),
		cmocka_unit_test_setup(without_stats_or_guest_the_end_stands_alone, reset),
		cmocka_unit_test_setup(the_port_is_set_up_again_before_the_last_words, reset),
		cmocka_unit_test_setup(a_record_that_is_too_long_is_cut, reset),
		cmocka_unit_test_setup(a_trace_is_told_the_oldest_first, reset),
		cmocka_unit_test_setup(a_long_trace_takes_several_lines, reset),
		cmocka_unit_test_setup(the_ring_holds_the_last_ones, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
