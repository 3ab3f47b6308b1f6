/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/monitor.h"
#include "core/processor.h"
#include "debug/guest_symbols.h"
#include "debug/monitor_command.h"
#include "lib/printf.h"
#include "lib/string.h"

#define TEXT_SIZE 512

static void (*print_text)(const char *text);
static char text[TEXT_SIZE]; /* of a line that has not come to its end */
static size_t length;

static void flush(void)
{
	if (length)
		print_text(text);
	length = 0;
}

/* What has no end of line within TEXT_SIZE is printed in pieces. */
void monitor_print(const char *format, ...)
{
	char piece[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	text_vformat(piece, sizeof(piece), format, args);
	va_end(args);
	if (length + strlen(piece) >= sizeof(text))
		flush();
	length += string_copy(text + length, piece, sizeof(text) - length);
	if (length && text[length - 1] == '\n')
		flush();
}

static void show_help(struct monitor_request *request);

static const struct monitor_command commands[] = {
	{"help", "[COMMAND]", "this list", show_help, false},
	{"regs", "", "all registers, with their flags and segments", monitor_registers, false},
	{"bt", "[FRAMES]", "who has called the code that the guest is in", monitor_backtrace,
	 false},
	{"mem", "ADDRESS [BYTES]", "show memory", monitor_memory, false},
	{"code", "[ADDRESS [BYTES]]", "show code, for boot/code to disassemble", monitor_code,
	 false},
	{"write", "ADDRESS BYTES", "write memory: 90 90, or \"text\"", monitor_write, false},
	{"find", "ADDRESS SIZE BYTES", "search memory", monitor_find, false},
	{"walk", "ADDRESS", "the page tables' entries, guest's and nested", monitor_walk, false},
	{"sym", "ADDRESS", "a name's address, or an address's name", monitor_symbol, false},
	{"exits", "", "exits by reason", monitor_exits, false},
	{"trace", "[COUNT] [cpu=N] [NAME]", "the last exits, also of a name; clear; json",
	 monitor_trace, false},
	{"hist", "[cpu=N] [NAME]", "how long these took", monitor_histogram, false},
	{"vmi", "[all]", "the ROM, its answers, the calls that were made", monitor_vmi, false},
	{"cpus", "", "where each processor is", monitor_processors, false},
	{"cpu", "NUMBER", "the processor that commands are about", monitor_processor, true},
	{"break", "[ADDRESS]", "stop there; without one, list them", monitor_break, true},
	{"watch", "ADDRESS [SIZE]", "stop when it is written: 1, 2, 4 or 8 bytes", monitor_watch,
	 true},
	{"delete", "[NUMBER]", "one breakpoint, or all", monitor_delete, true},
	{"c", "", "let the guest run on", monitor_continue, true},
	{"s", "[COUNT]", "execute so many instructions", monitor_step, true},
	{"log", "[LINES]", "what Vellum has said so far", monitor_log, false},
	{"nmi", "", "send the processor an NMI", monitor_nmi, false},
	{"reset", "", "reset the machine", monitor_reset, false},
	{"power-off", "", "switch the machine off", monitor_power_off, false},
};

static const struct monitor_command *find(struct word name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (word_equals(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static void help_on(const struct monitor_command *command)
{
	char usage[48];

	text_format(usage, sizeof(usage), "%s %s", command->name, command->arguments);
	monitor_print("%-27s%s\n", usage, command->help);
}

static void show_help(struct monitor_request *request)
{
	struct word name = word_next(&request->rest);
	const struct monitor_command *command = find(name);

	if (name.length && !command) {
		monitor_print("%.*s: no such command\n", WORD_ARGS(name));
		return;
	}
	if (command) {
		help_on(command);
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		help_on(&commands[i]);
	monitor_print("ADDRESS: c1000000, p:1000 (guest-physical), $esp+8, start_kernel\n");
}

static void run(const struct monitor_command *command, struct monitor_request *request, bool own)
{
	if (command->own_line && !own)
		monitor_print("%s: with gdb, gdb does that\n", command->name);
	else if (!request->stopped->is_there)
		monitor_print("processor %u is not stopped\n", request->vcpu->id);
	else
		command->run(request);
}

static struct monitor_request run_line(const char *line, unsigned int vcpu,
				       void (*print_to)(const char *text), bool own)
{
	struct monitor_request request = {
		.rest = line, .vcpu = &processor_at(vcpu)->vcpu, .stopped = debugger_vcpu(vcpu)};
	struct word name = word_next(&request.rest);
	const struct monitor_command *command = find(name);

	print_text = print_to;
	if (command)
		run(command, &request, own);
	else if (name.length)
		monitor_print("%.*s: no such command; \"help\" lists them\n", WORD_ARGS(name));
	flush();
	return request;
}

void monitor_run(const char *line, unsigned int vcpu, void (*print)(const char *text))
{
	run_line(line, vcpu, print, false);
}

bool monitor_run_own(const char *line, unsigned int *vcpu, void (*print)(const char *text))
{
	struct monitor_request request = run_line(line, *vcpu, print, true);

	*vcpu = request.vcpu->id;
	return request.goes_on;
}

struct word monitor_candidate(struct word prefix, bool first, unsigned int number)
{
	if (!first)
		return guest_symbol_match(prefix, number);
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strncmp(commands[i].name, prefix.text, (size_t)prefix.length) && !number--)
			return (struct word){commands[i].name, (int)strlen(commands[i].name)};
	return (struct word){"", 0};
}
