// SPDX-License-Identifier: GPL-2.0-only
/* Vellum's command line: defaults, every word, and what the user hears about a wrong one. */
#include "support.h"

#include "core/cmdline.h"

static struct options options;

static void parse(const char *line)
{
	console_clear();
	cmdline_parse(line, &options);
}

static void assert_defaults(void)
{
	assert_int_equal(options.mode, MODE_HV);
	assert_int_equal(options.vmi, VMI_ON);
	assert_int_equal(options.paging, PAGING_NESTED);
	assert_int_equal(options.onfault, ONFAULT_RESET);
	assert_int_equal(options.console, CONSOLE_AUTO);
	assert_int_equal(options.cpuid, CPUID_EXITS);
	assert_int_equal(options.stats, STATS_END);
	assert_int_equal(options.gdb, GDB_OFF);
	assert_int_equal(options.cpus, 0);
	assert_int_equal(options.log, LOG_INFO);
}

static void an_empty_line_gives_the_defaults(void **state)
{
	static const char *const lines[] = {"", "   ", "vellum.elf", " /boot/vellum.elf\t",
					    "tftp://10.0.2.2/vellum?mode=native"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		parse(lines[i]);
		assert_defaults();
		assert_console_quiet();
	}
}

static void every_word_is_taken(void **state)
{
	(void)state;
	parse("vellum mode=native vmi=calls  paging=nested cpus=12\tonfault=park console=com1 "
	      "stats=off gdb=com2 log=debug ");
	assert_int_equal(options.gdb, GDB_COM2);
	assert_int_equal(options.mode, MODE_NATIVE);
	assert_int_equal(options.vmi, VMI_CALLS);
	assert_int_equal(options.paging, PAGING_NESTED);
	assert_int_equal(options.onfault, ONFAULT_PARK);
	assert_int_equal(options.console, CONSOLE_COM1);
	assert_int_equal(options.stats, STATS_OFF);
	assert_int_equal(options.cpus, 12);
	assert_int_equal(options.log, LOG_DEBUG);
	assert_console_quiet();
}

static void grub_passes_no_file_name(void **state)
{
	(void)state;
	parse("mode=native vmi=off");
	assert_int_equal(options.mode, MODE_NATIVE);
	assert_int_equal(options.vmi, VMI_OFF);
	assert_console_quiet();
}

static void log_levels_also_by_number(void **state)
{
	(void)state;
	parse("log=0");
	assert_int_equal(options.log, LOG_ERROR);
	parse("log=3");
	assert_int_equal(options.log, LOG_DEBUG);
	parse("log=4");
	assert_int_equal(options.log, LOG_INFO);
	assert_console(LOG_WARN, "log=4");
}

static void cpuid_exits_always_or_in_boot(void **state)
{
	(void)state;
	parse("cpuid=boot");
	assert_int_equal(options.cpuid, CPUID_EXITS_IN_BOOT);
	parse("cpuid=exit");
	assert_int_equal(options.cpuid, CPUID_EXITS);
	assert_console_quiet();
}

static void later_words_win(void **state)
{
	(void)state;
	parse("mode=native mode=hv vmi=off vmi=bogus");
	assert_int_equal(options.mode, MODE_HV);
	assert_int_equal(options.vmi, VMI_OFF);
}

static void a_disk_goes_by_the_bioss_number(void **state)
{
	(void)state;
	parse("guest=disk");
	assert_int_equal(options.guest, GUEST_DISK);
	assert_int_equal(options.disk, 0x80);
	parse("guest=disk disk=hd1");
	assert_int_equal(options.disk, 0x81);
	parse("guest=disk disk=fd0");
	assert_int_equal(options.disk, 0);
	assert_console_quiet();
}

static void wrong_values_are_named_with_the_right_ones(void **state)
{
	(void)state;
	parse("vellum mode=nativ vmi= console=com");
	assert_defaults();
	assert_console(LOG_WARN, "mode=nativ is unknown and ignored; mode= takes hv, native");
	assert_console(LOG_WARN, "vmi= is unknown and ignored; vmi= takes on, off, calls");
	assert_console(LOG_WARN, "console= takes auto, com1, com2, com3, com4, pci, none");
	assert_int_equal(console_count(LOG_WARN), 3);
}

static void wrong_numbers_are_named(void **state)
{
	static const char *const lines[] = {"cpus=",	       "cpus=-1",
					    "cpus=2x",	       "cpus=0x2",
					    "cpus=4294967297", "cpus=99999999999999999999"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		parse(lines[i]);
		assert_int_equal(options.cpus, 0);
		assert_console(LOG_WARN, "cpus= takes a number, 0 to 4096");
		assert_console(LOG_WARN, lines[i]);
	}
}

static void unknown_words_are_named(void **state)
{
	(void)state;
	parse("vellum modes=hv quiet mod=hv =x");
	assert_defaults();
	assert_console(LOG_WARN, "modes=hv is unknown");
	assert_console(LOG_WARN, "quiet is unknown");
	assert_console(LOG_WARN, "mod=hv is unknown");
	assert_console(LOG_WARN, ": =x is unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_line_gives_the_defaults),
		cmocka_unit_test(every_word_is_taken),
		cmocka_unit_test(grub_passes_no_file_name),
		cmocka_unit_test(log_levels_also_by_number),
		cmocka_unit_test(cpuid_exits_always_or_in_boot),
		cmocka_unit_test(later_words_win),
		cmocka_unit_test(a_disk_goes_by_the_bioss_number),
		cmocka_unit_test(wrong_values_are_named_with_the_right_ones),
		cmocka_unit_test(wrong_numbers_are_named),
		cmocka_unit_test(unknown_words_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
