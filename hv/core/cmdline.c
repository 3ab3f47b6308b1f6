// SPDX-License-Identifier: GPL-2.0-only
#include "core/cmdline.h"

#include "debug/console.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/words.h"

#define VALUE_LIST_SIZE 64
#define NUMBER_MAX	4096 /* one above it is a typing error */

/* One value that a word can have. */
struct choice {
	const char *name; /* NULL ends a table */
	unsigned int value;
};

/* One word, and where its value goes in struct options. */
struct option {
	const char *name;
	const struct choice *choices; /* NULL: a decimal number */
	size_t offset;		      /* of an unsigned int or an enum */
};

static const struct choice mode_choices[] = {
	{"hv", MODE_HV},
	{"native", MODE_NATIVE},
	{0},
};

static const struct choice vmi_choices[] = {
	{"on", VMI_ON}, {"off", VMI_OFF}, {"calls", VMI_CALLS}, {"trace", VMI_TRACE}, {0},
};

static const struct choice paging_choices[] = {
	{"nested", PAGING_NESTED},
	{"shadow", PAGING_SHADOW},
	{0},
};

static const struct choice guest_choices[] = {
	{"auto", GUEST_AUTO},		{"linux", GUEST_LINUX},
	{"multiboot", GUEST_MULTIBOOT}, {"multiboot2", GUEST_MULTIBOOT2},
	{"disk", GUEST_DISK},		{0},
};

/* The BIOS's numbers: hard disks count from 80h on. */
static const struct choice disk_choices[] = {
	{"hd0", 0x80}, {"hd1", 0x81}, {"hd2", 0x82}, {"hd3", 0x83}, {"fd0", 0x00}, {0},
};

static const struct choice onfault_choices[] = {
	{"reset", ONFAULT_RESET},
	{"halt", ONFAULT_HALT},
	{"park", ONFAULT_PARK},
	{"monitor", ONFAULT_MONITOR},
	{0},
};

static const struct choice console_choices[] = {
	{"auto", CONSOLE_AUTO}, {"com1", CONSOLE_COM1},
	{"com2", CONSOLE_COM2}, {"com3", CONSOLE_COM3},
	{"com4", CONSOLE_COM4}, {"pci", CONSOLE_PCI},
	{"none", CONSOLE_NONE}, {0},
};

static const struct choice baud_choices[] = {
	{"115200", 115200}, {"57600", 57600}, {"38400", 38400},
	{"19200", 19200},   {"9600", 9600},   {0},
};

static const struct choice cpuid_choices[] = {
	{"exit", CPUID_EXITS},
	{"boot", CPUID_EXITS_IN_BOOT},
	{0},
};

static const struct choice gdb_choices[] = {
	{"off", GDB_OFF},
	{"com1", GDB_COM1},
	{"com2", GDB_COM2},
	{0},
};

static const struct choice monitor_choices[] = {
	{"off", MONITOR_OFF},
	{"com1", MONITOR_COM1},
	{"com2", MONITOR_COM2},
	{0},
};

static const struct choice trace_choices[] = {
	{"off", TRACE_OFF},
	{"on", TRACE_ON},
	{"end", TRACE_END},
	{0},
};

static const struct choice wait_choices[] = {
	{"off", WAIT_OFF},
	{"on", WAIT_ON},
	{0},
};

static const struct choice stats_choices[] = {
	{"off", STATS_OFF},
	{"end", STATS_END},
	{0},
};

static const struct choice log_choices[] = {
	{"error", LOG_ERROR}, {"warn", LOG_WARN}, {"info", LOG_INFO},
	{"debug", LOG_DEBUG}, {"0", LOG_ERROR},	  {"1", LOG_WARN},
	{"2", LOG_INFO},      {"3", LOG_DEBUG},	  {0},
};

static const struct option option_table[] = {
	{"mode", mode_choices, offsetof(struct options, mode)},
	{"vmi", vmi_choices, offsetof(struct options, vmi)},
	{"paging", paging_choices, offsetof(struct options, paging)},
	{"onfault", onfault_choices, offsetof(struct options, onfault)},
	{"baud", baud_choices, offsetof(struct options, baud)},
	{"console", console_choices, offsetof(struct options, console)},
	{"cpuid", cpuid_choices, offsetof(struct options, cpuid)},
	{"gdb", gdb_choices, offsetof(struct options, gdb)},
	{"stats", stats_choices, offsetof(struct options, stats)},
	{"log", log_choices, offsetof(struct options, log)},
	{"guest", guest_choices, offsetof(struct options, guest)},
	{"disk", disk_choices, offsetof(struct options, disk)},
	{"cpus", NULL, offsetof(struct options, cpus)},
	{"watchdog", NULL, offsetof(struct options, watchdog)},
	{"monitor", monitor_choices, offsetof(struct options, monitor)},
	{"trace", trace_choices, offsetof(struct options, trace)},
	{"wait", wait_choices, offsetof(struct options, wait)},
};

_Static_assert(sizeof(enum option_mode) == sizeof(unsigned int), "enums are stored by offset");

static const struct options default_options = {
	.mode = MODE_HV,
	.vmi = VMI_ON,
	.paging = PAGING_NESTED,
	.onfault = ONFAULT_RESET,
	.console = CONSOLE_AUTO,
	.baud = 115200,
	.cpuid = CPUID_EXITS,
	.gdb = GDB_OFF,
	.monitor = MONITOR_OFF,
	.wait = WAIT_OFF,
	.trace = TRACE_OFF,
	.stats = STATS_END,
	.guest = GUEST_AUTO,
	.disk = 0x80,
	.cpus = 0,
	.watchdog = 0,
	.log = LOG_INFO,
};

static void store(struct options *options, const struct option *option, unsigned int value)
{
	memcpy((char *)options + option->offset, &value, sizeof(value));
}

/* "hv, native" */
static void list_choices(char *text, size_t size, const struct choice *choices)
{
	size_t used = 0;

	text[0] = '\0';
	for (; choices->name != NULL && used < size; choices++) {
		const char *separator = used == 0 ? "" : ", ";

		used += (size_t)text_format(text + used, size - used, "%s%s", separator,
					    choices->name);
	}
}

static void set_choice(struct options *options, const struct option *option, struct word value)
{
	char list[VALUE_LIST_SIZE];
	const struct choice *choice = option->choices;

	while (choice->name != NULL && !word_equals(value, choice->name))
		choice++;
	if (choice->name == NULL) {
		list_choices(list, sizeof(list), option->choices);
		pr_warn("command line: %s=%.*s is unknown and ignored; %s= takes %s", option->name,
			WORD_ARGS(value), option->name, list);
	} else {
		store(options, option, choice->value);
	}
}

/* False if it is no decimal number, or one above NUMBER_MAX. */
static bool parse_number(struct word word, unsigned int *number)
{
	*number = 0;
	for (int i = 0; i < word.length; i++) {
		if (word.text[i] < '0' || word.text[i] > '9')
			return false;
		*number = *number * 10 + (unsigned int)(word.text[i] - '0');
		if (*number > NUMBER_MAX)
			return false;
	}
	return word.length > 0;
}

static void set_number(struct options *options, const struct option *option, struct word value)
{
	unsigned int number;

	if (parse_number(value, &number))
		store(options, option, number);
	else
		pr_warn("command line: %s=%.*s is ignored; %s= takes a number, 0 to %u",
			option->name, WORD_ARGS(value), option->name, NUMBER_MAX);
}

static const struct option *find_option(struct word name)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++) {
		if (word_equals(name, option_table[i].name))
			return &option_table[i];
	}
	return NULL;
}

static void parse_word(struct options *options, struct word word)
{
	struct word name, value;
	const struct option *option = NULL;

	if (word_split(word, &name, &value))
		option = find_option(name);
	if (option == NULL)
		pr_warn("command line: %.*s is unknown and ignored", WORD_ARGS(word));
	else if (option->choices != NULL)
		set_choice(options, option, value);
	else
		set_number(options, option, value);
}

void cmdline_parse(const char *line, struct options *options)
{
	struct word word;

	*options = default_options;
	word_file_name(&line);
	for (word = word_next(&line); word.length > 0; word = word_next(&line))
		parse_word(options, word);
}
