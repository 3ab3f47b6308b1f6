/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/lock.h"

#include <stdatomic.h>

#include "core/cpu.h"
#include "core/processor.h"

#define PATIENCE 100000000

static const struct processor *_Atomic owner;
static unsigned int depth; /* the owner's */

static bool try(const struct processor *self)
{
	const struct processor *nobody = NULL;

	return atomic_load(&owner) == self || atomic_compare_exchange_strong(&owner, &nobody, self);
}

void lock_take(void)
{
	const struct processor *self = processor_current();

	while (!try(self))
		cpu_relax();
	depth++;
}

void lock_release(void)
{
	if (!--depth)
		atomic_store(&owner, NULL);
}

void lock_seize(void)
{
	const struct processor *self = processor_current();

	for (int i = 0; i < PATIENCE && !try(self); i++)
		cpu_relax();
	atomic_store(&owner, self);
	depth++;
}
