/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a few instructions with given registers and tells what became of them: the heart
 * of the library. A snippet ends at the first exception, or at INT 80h (bytes CD 80).
 */
#ifndef VELLUM_TESTS_GUEST_RUN_H
#define VELLUM_TESTS_GUEST_RUN_H

#include "lib/types.h"

/* run.asm and run64.asm hold the same offsets. */
struct state {
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip, rflags, cs, ss;
	uint64_t vector, error; /* how it ended */
	uint64_t cr2, dr6;	/* as they were then */
};

_Static_assert(offsetof(struct state, r8) == 8 * 8, "run.asm");
_Static_assert(offsetof(struct state, rip) == 16 * 8, "run.asm");
_Static_assert(offsetof(struct state, vector) == 20 * 8, "run.asm");
_Static_assert(offsetof(struct state, dr6) == 23 * 8, "run.asm");

#define DONE 0x80 /* the vector of a snippet that came to its end */

#define INT_DONE 0xcd, DONE

/* Selectors of the library's GDT */
#define CODE32	  0x08
#define DATA32	  0x10
#define CODE64	  0x18
#define USER_CODE (0x20 | 3)
#define USER_DATA (0x28 | 3)
#define CODE16	  0x30
#define DATA16	  0x38
#define CODE_BASE 0x40 /* 32-bit code, base in run_code_base() */
#define TSS	  0x48
#define TSS_2	  0xf0 /* the second processor's, in the GDT of segments.h */

/* A state that starts at code: at CPL 0, or in 64-bit code, or at CPL 3. */
struct state state_for(const void *code);
struct state state_for64(const void *code);
struct state state_for_user(const void *code);

/*
 * Which processor this is, by its TR: 1 with TSS_2, else 0. Each has its own stacks and snippet,
 * so that both may run() at a time.
 */
unsigned int run_processor(void);

/* Runs in the paging mode that is on. Interrupts are off unless rflags says otherwise. */
void run(struct state *state);

/* Runs in long mode, with the same linear addresses as PAGING_PAE; paging has to be off. */
void run64(struct state *state);

/* As above, for code that needs no registers and gives none: the vector. */
unsigned int vector_of(const void *code);
unsigned int vector_of_user(const void *code);

/* The end of the first processor's stack for what comes from CPL 3. */
extern uint8_t run_fault_stack[];

/* The descriptor for TSS_2, which has a stack of its own. */
uint64_t run_second_tss(void);

/* Sets the base of CODE_BASE, or of CODE16. */
void run_set_base(unsigned int selector, uint32_t base);

/* The handler of an interrupt that no snippet ends at; for PIC interrupts and the like. */
void run_set_handler(unsigned int vector, void (*handler)(void));

/* Once, before all else. */
void run_init(void);

#endif
