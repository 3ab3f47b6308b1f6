/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/record.h"
#include "core/lock.h"
#include "core/options.h"
#include "core/processor.h"
#include "core/vcpu.h"
#include "debug/console.h"
#include "debug/console_port.h"
#include "debug/gdb.h"
#include "debug/trace.h"
#include "dev/clock.h"
#include "lib/printf.h"
#include "vmi/vmi.h"

#define RECORD_SIZE	4096
#define CALL_SIZE_MAX	96  /* bytes that one entry of vmi_calls may take */
#define TRACED_SIZE_MAX 192 /* and one exit of a trace */

static const struct vcpu *running[PROCESSORS_MAX];
static unsigned int running_count;
static char text[RECORD_SIZE];
static size_t length;

/* What no longer fits is cut off. */
__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	length += (size_t)text_vformat(text + length, sizeof(text) - length, format, args);
	va_end(args);
	length = min_u64(length, sizeof(text) - 1);
}

static void begin(const char *event)
{
	length = 0;
	add("VELLUM {\"event\":\"%s\"", event);
}

static void finish(void)
{
	add("}");
	console_print_record(text);
}

void record_boot(const struct record_boot *boot)
{
	begin("boot");
	add(",\"version\":\"%s\",\"vendor\":\"%s\"", VELLUM_VERSION, boot->vendor);
	add(",\"mode\":\"%s\",\"vmi\":\"%s\",\"paging\":\"%s\"", boot->mode, boot->vmi,
	    boot->paging);
	add(",\"cpus\":%u,\"memory_given\":%lu,\"memory_kept\":%lu,\"cycles\":%lu", boot->cpus,
	    boot->memory_given, boot->memory_kept, boot->cycles);
	finish();
}

static void add_reason(const struct vcpu *vcpu, enum exit_reason reason, bool first)
{
	const struct exit_counter *exits = &vcpu->exits[reason];

	add("%s\"%s\":{\"count\":%lu,\"cycles\":%lu}", first ? "" : ",", exit_reason_name(reason),
	    exits->count, exits->cycles);
}

/* Where one record has no room for all calls, others of their own follow it. */
static void continue_calls(const struct vcpu *vcpu)
{
	add("}");
	finish();
	begin("vmi_calls");
	add(",\"cpu\":%u,\"vmi_calls\":{", vcpu->id);
}

static void add_calls(const struct vcpu *vcpu)
{
	const char *separator = "";

	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++) {
		const struct exit_counter *counter = &vcpu->vmi_calls[call];

		if (!counter->count)
			continue;
		if (length + CALL_SIZE_MAX > sizeof(text)) {
			continue_calls(vcpu);
			separator = "";
		}
		add("%s\"%s\":{\"count\":%lu,\"cycles\":%lu}", separator, vmi_call_name(call),
		    counter->count, counter->cycles);
		separator = ",";
	}
}

void record_exits(const struct vcpu *vcpu)
{
	bool first = true;

	begin("exits");
	add(",\"cpu\":%u,\"total\":%lu,\"by_reason\":{", vcpu->id,
	    vcpu_exit_counter(vcpu, VELLUM_CPUID_EXITS_ALL).count);
	for (enum exit_reason reason = 0; reason < EXIT_REASONS; reason++) {
		if (!vcpu->exits[reason].count)
			continue;
		add_reason(vcpu, reason, first);
		first = false;
	}
	add("},\"vmi_calls\":{");
	add_calls(vcpu);
	add("}");
	finish();
}

/* [tsc, cpu, what, rip, cycles, detail] */
static void add_traced(const struct trace_entry *entry, bool first)
{
	char detail[TRACE_DETAIL_MAX];

	add("%s[%lu,%u,\"%s\",\"%lx\",%u,\"%s\"]", first ? "" : ",", entry->tsc, entry->cpu,
	    trace_name(entry), entry->rip, entry->cycles, trace_detail(entry, detail));
}

static void begin_trace(void)
{
	begin("trace");
	add(",\"tsc_hz\":%lu,\"exits\":[", clock_tsc_hz());
}

void record_trace(void)
{
	struct trace_entry entry;
	bool first = true;

	lock_take();
	begin_trace();
	for (unsigned int back = trace_count(); back; back--) {
		if (!trace_read(back - 1, &entry) || entry.reason == EXIT_REASONS)
			continue;
		if (length + TRACED_SIZE_MAX > sizeof(text)) {
			add("]");
			finish();
			begin_trace();
			first = true;
		}
		add_traced(&entry, first);
		first = false;
	}
	add("]");
	finish();
	lock_release();
}

static bool is_known(const struct vcpu *vcpu)
{
	for (unsigned int i = 0; i < running_count; i++)
		if (running[i] == vcpu)
			return true;
	return false;
}

void record_attach(const struct vcpu *vcpu)
{
	lock_take();
	if (!is_known(vcpu))
		running[running_count++] = vcpu;
	lock_release();
}

void record_end(const char *why)
{
	lock_take();
	console_reopen();
	for (unsigned int i = 0; i < running_count && options.stats == STATS_END; i++)
		record_exits(running[i]);
	if (options.trace == TRACE_END)
		record_trace();
	begin("end");
	add(",\"why\":\"%s\"", why);
	finish();
	gdb_end();
	lock_release();
}
