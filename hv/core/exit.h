/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit policy, without vendors: what becomes of each reason. When a handler returns,
 * the guest goes on.
 */
#ifndef VELLUM_CORE_EXIT_H
#define VELLUM_CORE_EXIT_H

#include "core/vcpu.h"

/* IN or OUT as the hardware decoded it. */
struct port_access {
	uint16_t port;
	unsigned int size; /* 1, 2 or 4 bytes */
	bool in;
	bool string; /* INS, OUTS, with or without REP */
};

/* A row of a vendor's table: what the exit is counted as, and who handles it. */
struct exit_handler {
	enum exit_reason reason; /* COUNTS_ITSELF: handle() does, as it depends */
	void (*handle)(struct vcpu *vcpu);
};

#define COUNTS_ITSELF EXIT_REASONS

static inline void exit_dispatch(struct vcpu *vcpu, const struct exit_handler *handler)
{
	if (handler->reason != COUNTS_ITSELF)
		vcpu_count_exit(vcpu, handler->reason);
	handler->handle(vcpu);
}

void exit_cpuid(struct vcpu *vcpu);
void exit_rdmsr(struct vcpu *vcpu);
void exit_wrmsr(struct vcpu *vcpu);
void exit_port(struct vcpu *vcpu, const struct port_access *access);
void exit_hypercall(struct vcpu *vcpu);

/* An instruction that this guest's processor does not have. */
void exit_undefined_instruction(struct vcpu *vcpu);

/* INVD: writes the caches back instead of dropping what is in them, Vellum's data too. */
void exit_invd(struct vcpu *vcpu);

/* XSETBV, where it exits: done as told if the processor agrees, else #GP. */
void exit_xsetbv(struct vcpu *vcpu);

/* #DB or #AC, caught only to break endless delivery; goes to the guest. */
void exit_exception(struct vcpu *vcpu, unsigned int vector);

/*
 * #TS, #NP, #SS or #GP, caught with vmi=trace only, for an IRET in the ROM that faults on
 * behalf of the guest's own; goes to the guest.
 */
void exit_segment_exception(struct vcpu *vcpu, unsigned int vector, uint32_t error_code);

/* A bit for each exception's vector that has to exit. */
uint32_t exit_exceptions(void);

/*
 * INIT. Of the boot processor it is what a PC's reset line does, and does not return;
 * another one waits for STARTUP then.
 */
void exit_init(struct vcpu *vcpu);

/* STARTUP: the processor begins in real mode at page << 12, or as it has been prepared. */
void exit_startup(struct vcpu *vcpu, uint8_t page);

/* A write of 32 bits to a register of the local APIC, where that is caught. */
void exit_apic_write(uint32_t offset, uint32_t value);

/* The guest is lost: says why, then does what the word onfault= says. */
_Noreturn void exit_triple_fault(struct vcpu *vcpu);

/* A machine check while the guest has CR4.MCE clear: its processor shuts down. */
_Noreturn void exit_machine_check(struct vcpu *vcpu);

/* The guest goes to real mode on a processor that has it for no guest. */
_Noreturn void exit_real_mode(struct vcpu *vcpu);

/* Nobody knows this exit: says all that is known, and stops. */
_Noreturn void exit_unhandled(struct vcpu *vcpu);

#endif
