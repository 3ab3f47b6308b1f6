/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/monitor.h"
#include "core/cpu.h"
#include "core/power.h"
#include "core/processor.h"
#include "debug/breakpoints.h"
#include "debug/debugger.h"
#include "debug/record.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/words.h"

#define TEXT_SIZE 256

/* What one command is about. */
struct request {
	const char *rest; /* of the line, behind the command's name */
	struct vcpu *vcpu;
	struct stopped *stopped; /* the same one */
};

static void (*print_text)(const char *text);

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	text_vformat(text, sizeof(text), format, args);
	va_end(args);
	print_text(text);
}

/* ---- regs ---- */

struct flag {
	const char *name;
	unsigned int bit;
};

static const struct flag rflags_names[] = {{"CF", 0},  {"PF", 2},  {"AF", 4},  {"ZF", 6},
					   {"SF", 7},  {"TF", 8},  {"IF", 9},  {"DF", 10},
					   {"OF", 11}, {"NT", 14}, {"RF", 16}, {"VM", 17},
					   {"AC", 18}, {"ID", 21}, {0}};

static const struct flag cr0_names[] = {{"PE", 0},  {"MP", 1},	{"EM", 2},  {"TS", 3},
					{"NE", 5},  {"WP", 16}, {"AM", 18}, {"NW", 29},
					{"CD", 30}, {"PG", 31}, {0}};

static const struct flag cr4_names[] = {{"PSE", 4},
					{"PAE", 5},
					{"MCE", 6},
					{"PGE", 7},
					{"OSFXSR", 9},
					{"FSGSBASE", 16},
					{"PCIDE", 17},
					{"OSXSAVE", 18},
					{"SMEP", 20},
					{"SMAP", 21},
					{0}};

static const struct flag efer_names[] = {{"SCE", 0}, {"LME", 8}, {"LMA", 10}, {"NXE", 11}, {0}};

static void print_flags(const char *name, uint64_t value, const struct flag *flags)
{
	print("%s %lx", name, value);
	for (const char *separator = " ["; flags->name; flags++) {
		if (!(value & BIT(flags->bit)))
			continue;
		print("%s%s", separator, flags->name);
		separator = " ";
	}
	print("%s\n", "]");
}

static void print_segment(const char *name, const struct guest_segment *segment)
{
	print("%-4s %04x base %lx limit %x access %04x%s\n", name, segment->selector, segment->base,
	      segment->limit, segment->access, segment->access ? "" : " (not usable)");
}

static void print_segments(const struct guest_state *s)
{
	print_segment("cs", &s->cs);
	print_segment("ss", &s->ss);
	print_segment("ds", &s->ds);
	print_segment("es", &s->es);
	print_segment("fs", &s->fs);
	print_segment("gs", &s->gs);
	print_segment("tr", &s->tr);
	print_segment("ldtr", &s->ldtr);
	print("gdtr base %lx limit %x\nidtr base %lx limit %x\n", s->gdtr.base, s->gdtr.limit,
	      s->idtr.base, s->idtr.limit);
}

static void show_registers(struct request *request)
{
	const struct guest_state *s = &request->stopped->state;
	const struct guest_registers *r = &s->regs;

	print("processor %u, CPL %u\n", request->vcpu->id, s->cs.selector & 3);
	print("rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", r->rax, r->rbx, r->rcx, r->rdx);
	print("rsi %016lx rdi %016lx rbp %016lx rsp %016lx\n", r->rsi, r->rdi, r->rbp, r->rsp);
	print("r8  %016lx r9  %016lx r10 %016lx r11 %016lx\n", r->r8, r->r9, r->r10, r->r11);
	print("r12 %016lx r13 %016lx r14 %016lx r15 %016lx\n", r->r12, r->r13, r->r14, r->r15);
	print("rip %016lx cr2 %016lx cr3 %016lx\n", s->rip, s->cr2, s->cr3);
	print_flags("rflags", s->rflags, rflags_names);
	print_flags("cr0", s->cr0, cr0_names);
	print_flags("cr4", s->cr4, cr4_names);
	print_flags("efer", s->efer, efer_names);
	print_segments(s);
}

/* ---- exits, vmi ---- */

static void show_exits(struct request *request)
{
	print("%-16s %12s %16s\n", "reason", "exits", "cycles");
	for (enum exit_reason reason = 0; reason < EXIT_REASONS; reason++) {
		const struct exit_counter *exits = &request->vcpu->exits[reason];

		if (exits->count)
			print("%-16s %12lu %16lu\n", exit_reason_name(reason), exits->count,
			      exits->cycles);
	}
}

static void show_vmi_calls(struct request *request)
{
	bool any = false;

	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++) {
		const struct exit_counter *calls = &request->vcpu->vmi_calls[call];

		if (!calls->count)
			continue;
		print("%-24s %12lu %16lu\n", vmi_call_name(call), calls->count, calls->cycles);
		any = true;
	}
	if (!any)
		print("%s\n", "no VMI call has exited on this processor");
}

/* ---- the machine ---- */

static void reset_machine(struct request *request)
{
	(void)request;
	print("%s\n", "resetting the machine");
	record_end("reset");
	power_reset();
}

static void switch_off(struct request *request)
{
	(void)request;
	record_end("poweroff");
	power_off();
	print("%s\n", "the machine has no ACPI power-off that works");
}

static void show_help(struct request *request);

static const struct command {
	const char *name, *help;
	void (*run)(struct request *request);
} commands[] = {
	{"help", "this list", show_help},
	{"regs", "all registers, with their flags", show_registers},
	{"exits", "this processor's exits by reason", show_exits},
	{"vmi", "this processor's VMI calls, those that exit", show_vmi_calls},
	{"reset", "reset the machine", reset_machine},
	{"power-off", "switch the machine off", switch_off},
};

static void show_help(struct request *request)
{
	(void)request;
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		print("%-10s %s\n", commands[i].name, commands[i].help);
}

static const struct command *find(struct word name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (word_equals(name, commands[i].name))
			return &commands[i];
	return NULL;
}

void monitor_run(const char *line, unsigned int vcpu, void (*print_to)(const char *text))
{
	struct request request = {.vcpu = &processor_at(vcpu)->vcpu,
				  .stopped = debugger_vcpu(vcpu)};
	const char *cursor = line;
	struct word name = word_next(&cursor);
	const struct command *command = find(name);

	request.rest = cursor;
	print_text = print_to;
	if (command)
		command->run(&request);
	else if (name.length)
		print("%.*s: no such command; \"help\" lists them\n", WORD_ARGS(name));
}
