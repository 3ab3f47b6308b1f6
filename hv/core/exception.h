/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_EXCEPTION_H
#define VELLUM_CORE_EXCEPTION_H

#include "lib/types.h"

/* What exception_entry.asm leaves on the stack; its pushes in reverse. */
struct exception_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rdi, rsi, rbp, rbx, rdx, rcx, rax;
	uint64_t vector, error_code;
	uint64_t rip, cs, rflags, rsp, ss;
};

_Static_assert(offsetof(struct exception_frame, vector) == 15 * 8, "exception_entry.asm");

/*
 * Vellum's GDT: its own code, what leads out of long mode (native_entry.asm), and a TSS
 * that nothing uses, because VT-x insists on one.
 */
#define CODE64_SELECTOR 8
#define CODE32_SELECTOR 16
#define TSS_SELECTOR	24

#define TSS_SIZE    104 /* of a 64-bit one: APM volume 2, 12.2.5 */
#define GDT_ENTRIES (TSS_SELECTOR / 8 + 2)

/* A processor's own; the IDT is everybody's. */
struct descriptor_tables {
	uint64_t gdt[GDT_ENTRIES];
	uint8_t tss[TSS_SIZE];
};

/* Fills the IDT. Once, before all else. */
void exception_init(void);

/* Fills and loads the tables of this processor. From here on a fault ends in a dump. */
void exception_load(struct descriptor_tables *tables);

/* Linear address, for who has to load the IDT again. */
uint64_t exception_idt_base(void);

/*
 * Called by the entry stubs. An access that may fault (cpu.h: rdmsr_checked and others)
 * goes on at its fixup, NMIs and machine checks are the guest's; everything else is the end.
 */
void exception_handle(struct exception_frame *frame);

#endif
