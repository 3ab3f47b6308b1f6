/* SPDX-License-Identifier: GPL-2.0-only */
/* trace, hist: what is in the ring of the last exits. */
#include "debug/monitor_command.h"
#include "debug/record.h"
#include "debug/trace.h"
#include "lib/string.h"

#define SHOWN_DEFAULT 32
#define BUCKETS	      32 /* powers of two, of cycles */
#define BAR_MAX	      40 /* characters */
#define ALL_CPUS      UINT64_MAX

/* Which entries are meant: of a processor, of a name. */
struct filter {
	uint64_t cpu;
	struct word name; /* of length 0: any */
};

static bool passes(const struct filter *filter, const struct trace_entry *entry)
{
	return (filter->cpu == ALL_CPUS || filter->cpu == entry->cpu) &&
	       (!filter->name.length || word_equals(filter->name, trace_name(entry)) ||
		word_equals(filter->name, exit_reason_name(entry->reason % EXIT_REASONS)));
}

/* "cpu=1" or a name; anything else ends it. */
static bool take_filter(struct monitor_request *request, struct filter *filter)
{
	struct word word, name, value;

	*filter = (struct filter){.cpu = ALL_CPUS};
	while ((word = word_next(&request->rest)).length) {
		if (!word_split(word, &name, &value)) {
			filter->name = word;
			continue;
		}
		if (!word_equals(name, "cpu") || value.length != 1 || value.text[0] < '0' ||
		    value.text[0] > '9') {
			monitor_print("%.*s: trace takes cpu=0 to cpu=9, and one name\n",
				      WORD_ARGS(word));
			return false;
		}
		filter->cpu = (uint64_t)(value.text[0] - '0');
	}
	return true;
}

void monitor_print_exit(const struct trace_entry *entry)
{
	char name[GUEST_SYMBOL_TEXT_SIZE], detail[TRACE_DETAIL_MAX];

	monitor_print("%16lu  %u  %08lx  %-20s %8u  %s%s\n", entry->tsc, entry->cpu, entry->rip,
		      trace_name(entry), entry->cycles, trace_detail(entry, detail),
		      guest_symbol_text(entry->rip, name));
}

void monitor_print_exits_title(void)
{
	monitor_print("%16s  cpu rip    %-22s %8s\n", "tsc", "exit", "cycles");
}

/* How far back the oldest of the count last ones that pass lies, and one more. */
static unsigned int find_start(const struct filter *filter, uint64_t count)
{
	struct trace_entry entry;
	unsigned int back = 0;

	for (; back < trace_count() && count; back++)
		if (trace_read(back, &entry) && passes(filter, &entry))
			count--;
	return back;
}

static void show(const struct filter *filter, uint64_t count)
{
	struct trace_entry entry;

	monitor_print_exits_title();
	for (unsigned int back = find_start(filter, count); back; back--)
		if (trace_read(back - 1, &entry) && passes(filter, &entry))
			monitor_print_exit(&entry);
}

static bool take_switch(struct monitor_request *request)
{
	const char *rest = request->rest;
	struct word word = word_next(&rest);

	if (word_equals(word, "clear"))
		trace_clear();
	else if (word_equals(word, "json"))
		record_trace();
	else
		return false;
	return true;
}

void monitor_trace(struct monitor_request *request)
{
	const char *rest = request->rest;
	struct word first = word_next(&rest);
	uint64_t count = SHOWN_DEFAULT;
	struct filter filter;

	if (take_switch(request))
		return;
	if (first.length && first.text[0] >= '0' && first.text[0] <= '9' &&
	    !monitor_take_number(request, &count, SHOWN_DEFAULT, TRACE_ENTRIES))
		return;
	if (take_filter(request, &filter))
		show(&filter, count);
	if (!trace_is_on)
		monitor_print("without trace=on CPUID and hypercalls are not in it\n");
}

/* ---- hist ---- */

static unsigned int bucket_of(uint32_t cycles)
{
	unsigned int bucket = 0;

	while (cycles >>= 1)
		bucket++;
	return bucket;
}

static unsigned int fill(unsigned int count[BUCKETS], const struct filter *filter)
{
	struct trace_entry entry;
	unsigned int most = 0;

	for (unsigned int back = 0; back < trace_count(); back++) {
		if (!trace_read(back, &entry) || !passes(filter, &entry) ||
		    entry.reason == EXIT_REASONS)
			continue;
		most = (unsigned int)max_u64(most, ++count[bucket_of(entry.cycles)]);
	}
	return most;
}

void monitor_histogram(struct monitor_request *request)
{
	static const char bar[BAR_MAX + 1] = "########################################";
	unsigned int count[BUCKETS] = {0}, most;
	struct filter filter;

	if (!take_filter(request, &filter))
		return;
	most = fill(count, &filter);
	monitor_print("cycles from      exits\n");
	for (unsigned int i = 0; i < BUCKETS; i++)
		if (count[i])
			monitor_print("%11lu %10u  %.*s\n", BIT(i), count[i],
				      (int)max_u64(1, (uint64_t)count[i] * BAR_MAX / most), bar);
}
