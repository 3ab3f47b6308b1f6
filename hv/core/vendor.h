/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between core/ and the processor vendors' folders: svm/ and vmx/ are
 * twins behind it. Only vendor_select() knows that there are two.
 */
#ifndef VELLUM_CORE_VENDOR_H
#define VELLUM_CORE_VENDOR_H

#include "lib/types.h"
#include "mm/guest_memory.h"

struct exception_frame;
struct guest_state;
struct start_state;
struct vcpu;

enum { NO_ERROR_CODE = -1 };
#define NO_DEADLINE	   UINT64_MAX
#define VENDOR_RIGHTS_SIZE 48

/* What the delivery of an exception would use. */
struct fault_state {
	struct guest_paging paging;
	bool long_mode;
	gva_t idt;
	uint32_t idt_limit;
	gva_t stack;
};

struct vendor {
	const char *name;
	const char *hypercall_name; /* of the instruction below */
	uint8_t hypercall[3];	    /* what the guest executes to call Vellum */

	/* True if this processor has the vendor's virtualization, usable or not. */
	bool (*is_present)(void);

	/*
	 * 0 if this processor can run guests, else -ENODEV and the
	 * reason in why, as text for the user.
	 */
	int (*probe)(char *why, size_t size);

	/* What nested paging takes and it does not have, as text for the user; NULL: nothing. */
	const char *(*missing_for_nested)(void);

	/* The same vendor with paging=shadow. */
	const struct vendor *(*with_shadow_paging)(void);

	/*
	 * What all vcpus share: bitmaps, and the nested page tables for guest-physical =
	 * host-physical. Once. -ENOMEM.
	 */
	int (*shared_init)(void);

	/* Turns virtualization on, on this processor, which is vcpu's. probe() was content. */
	int (*enable)(struct vcpu *vcpu);

	/* Sets the vcpu up, but for its registers. -ENOMEM. */
	int (*vcpu_init)(struct vcpu *vcpu);

	/* Where the vcpu starts; all else is as power-on or INIT leaves it. */
	void (*set_state)(struct vcpu *vcpu, const struct start_state *state);

	/*
	 * The processor waits for INIT. With init_exits that is a state of the vcpu's, and INIT
	 * and STARTUP exit. Without, this does not return: INIT resets the processor, and what
	 * is sent from there on has to be caught at the sender's APIC.
	 */
	void (*await_init)(struct vcpu *vcpu);
	bool init_exits;

	/* With init_exits: INIT came, and the processor waits for STARTUP. */
	void (*await_startup)(struct vcpu *vcpu);

	/*
	 * An NMI or a machine check, as frame->vector says, arrived in Vellum while it
	 * handled the guest's exit: to be passed on. NULL if the vendor's processors hold
	 * them back.
	 */
	void (*note_event)(struct exception_frame *frame);

	/*
	 * Runs the guest, exit after exit. Each is named by its neutral reason, counted
	 * and handled (exit.h); one that nobody knows ends in exit_unhandled().
	 */
	void (*run)(struct vcpu *vcpu) __attribute__((noreturn));

	/*
	 * Calls due once, in an exit that comes as soon as the guest runs at or behind
	 * deadline, in TSC ticks; NO_DEADLINE takes that back. On the vcpu's own processor,
	 * one deadline each. False if this processor can't, NULL if none of the vendor's can.
	 */
	bool (*set_timer)(struct vcpu *vcpu, uint64_t deadline, void (*due)(struct vcpu *vcpu));

	/* Adds vector to what the guest sees next; error_code may be NO_ERROR_CODE. */
	void (*inject_exception)(struct vcpu *vcpu, unsigned int vector, int error_code);

	/*
	 * Moves the guest past the instruction that exited: RIP, interrupt shadow, RF,
	 * and a pending single step.
	 */
	void (*skip_instruction)(struct vcpu *vcpu);

	/* Where the guest goes on; the set moves it there, and ends nothing. */
	uint64_t (*read_rip)(const struct vcpu *vcpu);
	void (*write_rip)(struct vcpu *vcpu, uint64_t rip);

	unsigned int (*privilege_level)(const struct vcpu *vcpu);
	uint64_t (*read_cr0)(const struct vcpu *vcpu);
	uint64_t (*read_cr4)(const struct vcpu *vcpu);

	/*
	 * True if the code that the guest runs may use SYSCALL, as CPUID says. NULL if
	 * that does not depend on its mode.
	 */
	bool (*has_syscall)(const struct vcpu *vcpu);

	/*
	 * With paging=shadow: what the processor runs with, which is not what the guest has
	 * loaded; and that its cached translations have to go.
	 */
	void (*load_paging)(struct vcpu *vcpu, const struct guest_paging *hardware);
	void (*flush)(struct vcpu *vcpu);

	/* #PF, with its address in CR2. */
	void (*inject_page_fault)(struct vcpu *vcpu, gva_t address, uint32_t error_code);

	uint64_t (*read_rflags)(const struct vcpu *vcpu);

	/* True in 64-bit code: CS.L of long mode. */
	bool (*in_long_code)(const struct vcpu *vcpu);

	/* True for the vendor's own MSRs, which this guest's processor does not have. */
	bool (*hides_msr)(uint32_t msr);

	/* True for MSRs that move memory about: the guest may read them, not write. */
	bool (*keeps_msr)(uint32_t msr);

	/*
	 * The guest has written an MTRR: nested entries that hold memory types follow.
	 * NULL if the vendor's hold none.
	 */
	void (*memory_types_changed)(void);

	/* EFER as the guest believes it to be; the set checks nothing. */
	uint64_t (*read_efer)(const struct vcpu *vcpu);
	void (*write_efer)(struct vcpu *vcpu, uint64_t value);

	/* Stops guarding port (0..65535): the guest's accesses no longer exit. */
	void (*release_port)(struct vcpu *vcpu, uint16_t port);

	/*
	 * From now on the vcpu's CPUID no longer exits: the guest sees the processor's
	 * own answers. NULL if the vendor's CPUID always exits.
	 */
	void (*release_cpuid)(struct vcpu *vcpu);

	/*
	 * From now on the guest's writes to its APICs no longer exit: it sends INIT and STARTUP
	 * by call 63. NULL if the vendor never catches them.
	 */
	void (*release_apic)(void);

	/*
	 * For debuggers: all registers of the vcpu, on its own processor, but for the FPU's;
	 * and general registers, RIP and RFLAGS the other way. A pending STI or MOV SS shadow
	 * ends where TF is set: the step would never come to its end.
	 */
	void (*read_state)(struct vcpu *vcpu, struct guest_state *state);
	void (*write_state)(struct vcpu *vcpu, const struct guest_state *state);

	/*
	 * From now on the vcpu calls debugger_attend() again and again, where there is no
	 * set_timer(): whenever the guest waits or is interrupted. NULL if there is one.
	 */
	void (*attend)(struct vcpu *vcpu);

	/* Whether INT3 exits. */
	void (*guard_breakpoints)(struct vcpu *vcpu, bool on);

	/* Whether the guest's accesses to debug registers exit. */
	void (*guard_debug_registers)(struct vcpu *vcpu, bool on);
	void (*write_dr6)(struct vcpu *vcpu, uint64_t value);
	void (*write_dr7)(struct vcpu *vcpu, uint64_t value);

	/* What the nested page tables are called, and what an entry allows, written to text. */
	const char *nested_name;
	const char *(*nested_rights)(uint64_t entry, char text[VENDOR_RIGHTS_SIZE]);

	void (*read_fault_state)(const struct vcpu *vcpu, struct fault_state *state);

	/* Prints the guest's state in full, at level error. */
	void (*dump)(const struct vcpu *vcpu);
};

/* For vendor_select(). */
extern const struct vendor svm_vendor, vmx_vendor;

/* The vendor of this machine, NULL before vendor_select(). */
extern const struct vendor *vendor;

/*
 * Sets vendor and returns 0, or -ENODEV and the reason in why if this machine can't
 * run a guest. *shadow: whether shadow paging is wanted, and whether it is what the guest gets;
 * the console says so if they differ.
 */
int vendor_select(bool *shadow, char *why, size_t size);

#endif
