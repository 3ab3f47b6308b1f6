/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/trace.h"
#include "lib/printf.h"
#include "vmi/vmi.h"

/* VMI_CALL_COUNT if it is none of VMI's. */
static unsigned int call_of(const struct trace_entry *entry)
{
	if (entry->reason != EXIT_HYPERCALL)
		return VMI_CALL_COUNT;
	if (entry->eax - VMI_HYPERCALL_TRACE < VMI_CALL_COUNT)
		return entry->eax - VMI_HYPERCALL_TRACE;
	return (unsigned int)min_u64(entry->eax, VMI_CALL_COUNT);
}

const char *trace_name(const struct trace_entry *entry)
{
	unsigned int call = call_of(entry);

	if (entry->reason >= EXIT_REASONS)
		return "(under way)";
	return call < VMI_CALL_COUNT ? vmi_call_name(call) : exit_reason_name(entry->reason);
}

static void describe_hypercall(const struct trace_entry *entry, char *text)
{
	if (call_of(entry) == VMI_CALL_COUNT)
		text_format(text, TRACE_DETAIL_MAX, "number %x edx %x ecx %x", entry->eax,
			    entry->edx, entry->ecx);
	else if (entry->eax < VMI_CALL_COUNT)
		text_format(text, TRACE_DETAIL_MAX, "edx %x ecx %x", entry->edx, entry->ecx);
}

static void describe_port(const struct trace_entry *entry, char *text)
{
	unsigned int port = entry->detail & 0xffff, size = entry->detail >> 16 & 0xff;
	uint32_t value = size == 4 ? entry->eax : entry->eax & ((1u << 8 * (size & 3)) - 1);

	if (entry->detail >> 24 & 1)
		text_format(text, TRACE_DETAIL_MAX, "in %u %x", size, port);
	else
		text_format(text, TRACE_DETAIL_MAX, "out %u %x = %x", size, port, value);
}

const char *trace_detail(const struct trace_entry *entry, char text[TRACE_DETAIL_MAX])
{
	text[0] = '\0';
	switch (entry->reason) {
	case EXIT_CPUID:
		text_format(text, TRACE_DETAIL_MAX, "leaf %x.%x", entry->eax, entry->ecx);
		break;
	case EXIT_RDMSR:
		text_format(text, TRACE_DETAIL_MAX, "msr %x", entry->ecx);
		break;
	case EXIT_WRMSR:
		text_format(text, TRACE_DETAIL_MAX, "msr %x = %lx", entry->ecx,
			    (uint64_t)entry->edx << 32 | entry->eax);
		break;
	case EXIT_HYPERCALL:
		describe_hypercall(entry, text);
		break;
	case EXIT_PORT:
		describe_port(entry, text);
		break;
	case EXIT_EXCEPTION:
		text_format(text, TRACE_DETAIL_MAX, "vector %lu", entry->detail);
		break;
	case EXIT_NESTED_FAULT:
	case EXIT_APIC:
		text_format(text, TRACE_DETAIL_MAX, "p:%lx", entry->detail);
		break;
	}
	return text;
}
