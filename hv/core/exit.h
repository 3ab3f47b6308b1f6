/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit policy, without vendors: what becomes of each reason. The handlers return
 * true if the guest can go on.
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

bool exit_cpuid(struct vcpu *vcpu);
bool exit_rdmsr(struct vcpu *vcpu);
bool exit_wrmsr(struct vcpu *vcpu);
bool exit_port(struct vcpu *vcpu, const struct port_access *access);
bool exit_hypercall(struct vcpu *vcpu);

/* An instruction that this guest's processor does not have. */
bool exit_undefined_instruction(struct vcpu *vcpu);

/* INVD: writes the caches back instead of dropping what is in them, Vellum's data too. */
bool exit_invd(struct vcpu *vcpu);

/* #DB or #AC, caught only to break endless delivery; goes to the guest. */
bool exit_exception(struct vcpu *vcpu, unsigned int vector);

/* INIT of the boot processor: what a PC's reset line does. */
bool exit_init(struct vcpu *vcpu);

/* The guest is lost: says why, then does what the word onfault= says. */
bool exit_triple_fault(struct vcpu *vcpu);

/* Nobody knows this exit: says all that is known, and stops. */
_Noreturn void exit_unhandled(struct vcpu *vcpu);

#endif
