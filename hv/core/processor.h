/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's processors, as far as Vellum uses them. The boot processor is number 0. */
#ifndef VELLUM_CORE_PROCESSOR_H
#define VELLUM_CORE_PROCESSOR_H

#include "core/exception.h"
#include "core/vcpu.h"
#include "lib/types.h"

#define PROCESSORS_MAX 64

/* Known to ap_entry.asm: where a processor's stack starts. */
struct processor {
	uintptr_t stack_bottom, stack_top;
	uint32_t apic_id;
	struct descriptor_tables tables;
	struct vcpu vcpu; /* the guest's processor that runs here; its id is the number */
};

/* The boot processor, whose stack is part of the image. */
struct processor *processor_boot(void);

/* The processor that runs this, by the stack that it runs on. */
struct processor *processor_current(void);

/* One more processor, with a stack of its own; NULL (and a message) without memory. */
struct processor *processor_add(uint32_t apic_id);

unsigned int processor_count(void);

/* number is below processor_count(). */
struct processor *processor_at(unsigned int number);

/* NULL if there is none of this APIC id. */
struct processor *processor_find(uint32_t apic_id);

#endif
