/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exception.h"
#include "core/cpu.h"
#include "core/machine_check.h"
#include "core/panic.h"
#include "core/vendor.h"

/* Segment descriptors: APM volume 2, 4.8; gates: 4.8.4 */
#define CODE64_DESCRIPTOR   0x00209a0000000000ull
#define CODE32_DESCRIPTOR   0x00cf9a000000ffffull
#define GATE_INTERRUPT_CPL0 0x8e
#define TSS_DESCRIPTOR	    0x0000890000000000ull /* present, available 64-bit TSS */

struct table_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

struct gate {
	uint16_t offset_low;
	uint16_t selector;
	uint8_t ist;
	uint8_t type;
	uint16_t offset_middle;
	uint32_t offset_high;
	uint32_t reserved;
};

_Static_assert(sizeof(struct gate) == 16, "APM volume 2, figure 4-24");

struct fault_fixup {
	uint64_t fault, resume;
};

extern const uint64_t exception_entry_table[EXCEPTION_COUNT];
extern const struct fault_fixup fault_fixups_start[], fault_fixups_end[];

#define ENTRY(selector) ((selector) / 8)

static struct gate idt[EXCEPTION_COUNT];

static void idt_set(unsigned int vector, uint64_t entry)
{
	idt[vector] = (struct gate){
		.offset_low = (uint16_t)entry,
		.selector = CODE64_SELECTOR,
		.type = GATE_INTERRUPT_CPL0,
		.offset_middle = (uint16_t)(entry >> 16),
		.offset_high = (uint32_t)(entry >> 32),
	};
}

/* The TSS's has 16 bytes: limit and base are scattered as in a segment descriptor (4.8.3). */
static void fill_gdt(struct descriptor_tables *tables)
{
	uint64_t base = (uintptr_t)tables->tss;

	tables->gdt[ENTRY(CODE64_SELECTOR)] = CODE64_DESCRIPTOR;
	tables->gdt[ENTRY(CODE32_SELECTOR)] = CODE32_DESCRIPTOR;
	tables->gdt[ENTRY(TSS_SELECTOR)] = TSS_DESCRIPTOR | (TSS_SIZE - 1) |
					   (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
	tables->gdt[ENTRY(TSS_SELECTOR) + 1] = base >> 32;
}

void exception_load(struct descriptor_tables *tables)
{
	struct table_pointer gdtr = {sizeof(tables->gdt) - 1, (uintptr_t)tables->gdt};
	struct table_pointer idtr = {sizeof(idt) - 1, (uintptr_t)idt};

	fill_gdt(tables);
	asm volatile("lgdt %0; lidt %1" ::"m"(gdtr), "m"(idtr));
	asm volatile(
		"pushq %0; leaq 1f(%%rip), %%rax; pushq %%rax; lretq; 1:" ::"i"(CODE64_SELECTOR)
		: "rax", "memory");
	asm volatile("ltr %w0" ::"r"(TSS_SELECTOR));
}

void exception_init(void)
{
	for (unsigned int vector = 0; vector < EXCEPTION_COUNT; vector++)
		idt_set(vector, exception_entry_table[vector]);
}

uint64_t exception_idt_base(void)
{
	return (uintptr_t)idt;
}

static bool fixup(struct exception_frame *frame)
{
	for (const struct fault_fixup *f = fault_fixups_start; f < fault_fixups_end; f++) {
		if (frame->rip == f->fault) {
			frame->rip = f->resume;
			return true;
		}
	}
	return false;
}

static bool is_the_guests(uint64_t vector)
{
	if (!vendor || !vendor->note_event)
		return false;
	return vector == VECTOR_NMI || (vector == VECTOR_MC && machine_check_is_survivable());
}

void exception_handle(struct exception_frame *frame)
{
	if (frame->vector == VECTOR_GP && fixup(frame))
		return;
	if (is_the_guests(frame->vector)) {
		vendor->note_event(frame);
		return;
	}
	panic_exception(frame);
}
