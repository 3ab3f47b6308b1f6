/* SPDX-License-Identifier: GPL-2.0-only */
/* bt, sym: where the guest is, by the names of its System.map. */
#include "core/cpu.h"
#include "debug/guest_backtrace.h"
#include "debug/guest_symbols.h"
#include "debug/monitor_command.h"

#define FRAMES_DEFAULT 24
#define FRAMES_MOST    64

static void print_frame(const struct backtrace_frame *frame, bool innermost)
{
	char name[GUEST_SYMBOL_TEXT_SIZE];

	monitor_print("%c %08lx%s\n", frame->guessed ? '?' : ' ', frame->address,
		      innermost ? guest_symbol_text(frame->address, name)
				: guest_symbol_caller(frame->address, name));
}

void monitor_backtrace(struct monitor_request *request)
{
	struct backtrace_frame frames[FRAMES_MOST];
	unsigned int count;
	uint64_t wanted;

	if (!monitor_take_number(request, &wanted, FRAMES_DEFAULT, FRAMES_MOST) ||
	    !monitor_is_at_end(request))
		return;
	count = guest_backtrace(&request->stopped->state, frames, (unsigned int)wanted);
	for (unsigned int i = 0; i < count; i++)
		print_frame(&frames[i], i == 0);
	if (count == 1)
		monitor_print("no frame pointers; with the guest's System.map as a module the "
			      "stack is searched for return addresses\n");
}

void monitor_symbol(struct monitor_request *request)
{
	struct monitor_address address;
	char name[GUEST_SYMBOL_TEXT_SIZE];

	if (monitor_take_address(request, &address, NULL) && monitor_is_at_end(request))
		monitor_print("%08lx%s\n", address.value, guest_symbol_text(address.value, name));
}
