/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/trace.h"

#include <stdatomic.h>

#include "core/cpu.h"

bool trace_is_on;

static struct trace_entry ring[TRACE_ENTRIES];
static _Atomic uint64_t next; /* the entry's number, from 0 on; its place is that modulo the size */
static uint64_t first;	      /* that counts: those before have been cleared */

static struct trace_entry *claim(struct vcpu *vcpu, uint64_t rip)
{
	struct trace_entry *entry = &ring[atomic_fetch_add(&next, 1) % TRACE_ENTRIES];

	entry->tsc = vcpu->exit_start;
	entry->rip = rip;
	entry->detail = 0;
	entry->cpu = (uint8_t)vcpu->id;
	entry->reason = EXIT_REASONS;
	return entry;
}

void trace_begin(struct vcpu *vcpu, uint64_t rip)
{
	struct trace_entry *entry = claim(vcpu, rip);

	entry->eax = (uint32_t)vcpu->regs.rax;
	entry->ecx = (uint32_t)vcpu->regs.rcx;
	entry->edx = (uint32_t)vcpu->regs.rdx;
	vcpu->trace = entry;
}

/*
 * Looks at the debugger's line would push all else out of the ring. One that another
 * processor's exit has followed already stays.
 */
static void take_back(const struct trace_entry *entry)
{
	uint64_t number = atomic_load(&next);

	if (&ring[(number - 1) % TRACE_ENTRIES] == entry)
		atomic_compare_exchange_strong(&next, &number, number - 1);
}

void trace_end(struct vcpu *vcpu)
{
	vcpu->trace->cycles = (uint32_t)(rdtsc() - vcpu->exit_start);
	vcpu->trace->reason = (uint8_t)(vcpu->counter - vcpu->exits);
	if (vcpu->trace->reason == EXIT_ATTENTION)
		take_back(vcpu->trace);
	vcpu->trace = NULL;
}

void trace_hypercall(struct vcpu *vcpu, uint64_t rip, uint32_t eax, uint32_t ecx, uint32_t edx)
{
	struct trace_entry *entry = claim(vcpu, rip);

	entry->eax = eax;
	entry->ecx = ecx;
	entry->edx = edx;
	entry->cycles = (uint32_t)(rdtsc() - vcpu->exit_start);
	entry->reason = EXIT_HYPERCALL;
}

/* ---- reading ---- */

unsigned int trace_count(void)
{
	return (unsigned int)min_u64(atomic_load(&next) - first, TRACE_ENTRIES);
}

bool trace_read(unsigned int back, struct trace_entry *entry)
{
	uint64_t number = atomic_load(&next) - 1 - back;

	*entry = ring[number % TRACE_ENTRIES];
	return atomic_load(&next) - number <= TRACE_ENTRIES;
}

void trace_clear(void)
{
	first = atomic_load(&next);
}
