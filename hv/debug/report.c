/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/report.h"
#include "core/cpu.h"
#include "core/guest_state.h"
#include "core/vendor.h"
#include "debug/breakpoints.h"
#include "debug/console.h"
#include "debug/guest_backtrace.h"
#include "debug/guest_symbols.h"
#include "debug/trace.h"
#include "lib/printf.h"

#define CODE_BYTES 32
#define FRAMES	   16
#define EXITS	   32

/* Of a code segment: APM volume 2, 4.8.1 */
#define ACCESS_LONG BIT(13)
#define ACCESS_BIG  BIT(14)

static unsigned int code_width(const struct guest_state *s)
{
	if ((s->efer & EFER_LMA) && (s->cs.access & ACCESS_LONG))
		return 64;
	return s->cs.access & ACCESS_BIG ? 32 : 16;
}

/* For boot/code, as the monitor's. */
static void print_code(const struct guest_state *s, uint64_t address)
{
	struct guest_paging paging = {s->cr0, s->cr3, s->cr4, s->efer};
	char text[CODE_BYTES * 3 + 1] = "";
	uint8_t code[CODE_BYTES];
	uint64_t count = breakpoints_read(&paging, address, code, sizeof(code));

	for (unsigned int i = 0; i < count; i++)
		text_format(text + 3 * i, 4, " %02x", code[i]);
	if (count)
		pr_error("  code %u %lx%s", code_width(s), address, text);
	else
		pr_error("  code: not readable at rip");
}

static void print_backtrace(const struct guest_state *s)
{
	struct backtrace_frame frames[FRAMES];
	char name[GUEST_SYMBOL_TEXT_SIZE];
	unsigned int count = guest_backtrace(s, frames, FRAMES);

	print_code(s, frames[0].address);
	for (unsigned int i = 0; i < count; i++)
		pr_error("  %s%lx%s%s", i ? "from " : "at   ", frames[i].address,
			 i ? guest_symbol_caller(frames[i].address, name)
			   : guest_symbol_text(frames[i].address, name),
			 frames[i].guessed ? " (perhaps)" : "");
}

void report_exits(void)
{
	unsigned int back = (unsigned int)min_u64(trace_count(), EXITS);
	char detail[TRACE_DETAIL_MAX], name[GUEST_SYMBOL_TEXT_SIZE];
	struct trace_entry entry;

	if (back)
		pr_error("  the last %u exits, newest last%s: tsc, processor, rip, why, cycles",
			 back, trace_is_on ? "" : " (trace=on shows CPUID and hypercalls, too)");
	for (; back; back--) {
		trace_read(back - 1, &entry);
		pr_error("  %lu %u %lx %s %u %s%s", entry.tsc, entry.cpu, entry.rip,
			 trace_name(&entry), entry.cycles, trace_detail(&entry, detail),
			 guest_symbol_text(entry.rip, name));
	}
}

void report_guest(struct vcpu *vcpu, const char *what_next)
{
	static struct guest_state state; /* the processor that reports has the lock */

	vendor->dump(vcpu);
	vendor->read_state(vcpu, &state);
	print_backtrace(&state);
	report_exits();
	pr_error("  next: %s", what_next);
}
