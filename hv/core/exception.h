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

/* Loads Vellum's GDT and IDT on this processor. From here on a fault ends in a dump. */
void exception_init(void);

/* Linear addresses, for who has to load the tables again. */
uint64_t exception_gdt_base(void);
uint64_t exception_idt_base(void);
uint64_t exception_tss_base(void);

/*
 * Called by the entry stubs. An access that may fault (cpu.h: rdmsr_checked and others)
 * goes on at its fixup, NMIs and machine checks are the guest's; everything else is the end.
 */
void exception_handle(struct exception_frame *frame);

#endif
