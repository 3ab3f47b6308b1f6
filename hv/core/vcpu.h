/* SPDX-License-Identifier: GPL-2.0-only */
/* One processor of the guest, as far as no vendor is concerned. */
#ifndef VELLUM_CORE_VCPU_H
#define VELLUM_CORE_VCPU_H

#include "lib/types.h"
#include "vmi/vmi.h"

/*
 * The guest's registers while it does not run. The entry stubs store and load them in
 * this order; svm/entry.asm and, later, vmx/entry.asm hold the same offsets.
 */
struct guest_registers {
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
};

_Static_assert(offsetof(struct guest_registers, rdi) == 7 * 8, "entry.asm");
_Static_assert(offsetof(struct guest_registers, r15) == 15 * 8, "entry.asm");

/* Why the guest stopped running, in words that both vendors share. */
enum exit_reason {
	EXIT_CPUID,
	EXIT_RDMSR,
	EXIT_WRMSR,
	EXIT_PORT,	       /* a guarded I/O port */
	EXIT_HYPERCALL,	       /* VMMCALL, VMCALL */
	EXIT_VIRT_INSN,	       /* any other instruction of SVM or VMX */
	EXIT_NESTED_FAULT,     /* a guest-physical address that is not mapped (yet) */
	EXIT_CACHE,	       /* INVD */
	EXIT_EXCEPTION,	       /* #DB, #AC, #BP */
	EXIT_CONTROL_REGISTER, /* all with shadow paging; else bits that are not the guest's */
	EXIT_HIDDEN_FAULT,     /* #PF that the guest does not see: a shadow entry was missing */
	EXIT_GUEST_FAULT,      /* #PF of the guest's own, with shadow paging */
	EXIT_INVLPG,
	EXIT_XSETBV,
	EXIT_TIMER, /* the vendor's set_timer() */
	EXIT_TASK_SWITCH,
	EXIT_NMI,  /* one that came while Vellum ran; any interrupt that had to wait */
	EXIT_APIC, /* a write to the local APIC's page, where INIT and STARTUP are caught there */
	EXIT_INIT,
	EXIT_STARTUP,
	EXIT_ATTENTION,	     /* to look at the debugger's line */
	EXIT_DEBUG_REGISTER, /* MOV of one that the debugger uses */
	EXIT_TRIPLE_FAULT,
	EXIT_UNKNOWN,
	EXIT_REASONS
};

struct shadow_context;

struct exit_counter {
	uint64_t count;
	uint64_t cycles; /* TSC ticks between the exit and the next entry */
};

struct trace_entry;

/* The first members' offsets are known to the entry stubs. */
struct vcpu {
	struct guest_registers regs;
	struct {
		bool nmi, machine_check;
		uint8_t interrupt; /* the vector that waits for its window, if that is on */
	} pending;		   /* came while Vellum ran; where the vendor has note_event() */
	unsigned int id;
	struct exit_counter *counter; /* of the last exit's reason */
	uint64_t exit_start;	      /* TSC when it came */
	struct exit_counter exits[EXIT_REASONS];
	void *arch;				       /* the vendor's own: the VMCB, the VMCS */
	struct exit_counter vmi_calls[VMI_CALL_COUNT]; /* those that exit, or are traced */
	struct trace_entry *trace; /* of the present exit, while it is handled */
	uint64_t deadline;	   /* of the vendor's set_timer() */
	void (*due)(struct vcpu *vcpu);
	struct shadow_context *shadow; /* NULL with nested paging */
	bool halted; /* AMD-V: HLT has exited (attention.c), and nothing has ended it yet */
};

_Static_assert(offsetof(struct vcpu, regs) == 0, "entry.asm");
_Static_assert(offsetof(struct vcpu, pending) == 16 * 8, "vmx/entry.asm");
_Static_assert(offsetof(struct vcpu, pending.interrupt) == 16 * 8 + 2, "vmx/entry.asm");

/* Notes the reason of the exit that is about to be handled. */
static inline void vcpu_count_exit(struct vcpu *vcpu, enum exit_reason reason)
{
	vcpu->counter = &vcpu->exits[reason];
	vcpu->exits[reason].count++;
}

/*
 * One reason's counter, or the sum of all (reason VELLUM_CPUID_EXITS_ALL of vmi.h), the
 * present exit counted already; zero for a number that is no reason.
 */
struct exit_counter vcpu_exit_counter(const struct vcpu *vcpu, uint32_t reason);

/* A reason's name in the records: "cpuid", "rdmsr", ... */
const char *exit_reason_name(enum exit_reason reason);

/* Gives this processor to the guest. */
_Noreturn void vcpu_run(struct vcpu *vcpu);

#endif
