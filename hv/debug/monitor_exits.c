/* SPDX-License-Identifier: GPL-2.0-only */
/* exits, vmi */
#include "debug/monitor_command.h"
#include "guest/rom_install.h"
#include "lib/string.h"
#include "vmi/hypercall.h"
#include "vmi/vmi.h"

static uint64_t average(const struct exit_counter *counter)
{
	return counter->count ? counter->cycles / counter->count : 0;
}

static void print_counter(const char *name, const struct exit_counter *counter)
{
	monitor_print("%-22s %12lu %16lu %12lu\n", name, counter->count, counter->cycles,
		      average(counter));
}

void monitor_exits(struct monitor_request *request)
{
	struct exit_counter all = vcpu_exit_counter(request->vcpu, VELLUM_CPUID_EXITS_ALL);

	if (!monitor_is_at_end(request))
		return;
	monitor_print("processor %-12u %12s %16s %12s\n", request->vcpu->id, "exits", "cycles",
		      "cycles each");
	for (enum exit_reason reason = 0; reason < EXIT_REASONS; reason++)
		if (request->vcpu->exits[reason].count)
			print_counter(exit_reason_name(reason), &request->vcpu->exits[reason]);
	print_counter("all", &all);
}

static const char *const relocation_names[] = {
	[VMI_RELOCATION_NONE] = "none",
	[VMI_RELOCATION_CALL_REL] = "call",
	[VMI_RELOCATION_JUMP_REL] = "jump",
	[VMI_RELOCATION_NOP] = "nop",
};

static void print_call(const struct vmi_rom_answer *answer, unsigned int call,
		       const struct exit_counter *counter)
{
	const char *type =
		answer->type < ARRAY_SIZE(relocation_names) ? relocation_names[answer->type] : "?";

	monitor_print("%2u %-22s %-5s%-7s %5x %10lu %14lu\n", call, vmi_call_name(call), type,
		      answer->hint & VMI_HINT_NATIVE ? "native" : "", answer->routine,
		      counter->count, counter->cycles);
}

static void print_rom(gpa_t slot)
{
	gva_t address;

	monitor_print("VMI ROM at p:%lx", slot.raw);
	if (hypercall_guest_rom(&address))
		monitor_print(", the guest calls it at %lx\n", address.raw);
	else
		monitor_print(", not found by the guest yet\n");
}

void monitor_vmi(struct monitor_request *request)
{
	bool all = word_equals(word_next(&request->rest), "all");
	struct vmi_rom_private private;
	struct vmi_rom_answer answer;
	gpa_t slot;
	const uint8_t *rom = rom_installed(&slot);

	if (!rom) {
		monitor_print("there is no VMI ROM (vmi=off, or no room for it)\n");
		return;
	}
	print_rom(slot);
	memcpy(&private, rom + VMI_ROM_PRIVATE_OFFSET, sizeof(private));
	monitor_print("   %-22s %-12s %5s %10s %14s\n", "call", "answer", "at", "exits", "cycles");
	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++) {
		const struct exit_counter *counter = &request->vcpu->vmi_calls[call];

		memcpy(&answer, rom + private.answers + call * sizeof(answer), sizeof(answer));
		if (all || counter->count)
			print_call(&answer, call, counter);
	}
	if (!all)
		monitor_print("\"vmi all\" lists the calls that did not exit, too\n");
}
