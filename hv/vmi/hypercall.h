/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest asks of Vellum through VMMCALL or VMCALL (vmi.h has the numbers). Two
 * steps: decode checks everything that came from the guest, invoke cannot fail.
 */
#ifndef VELLUM_VMI_HYPERCALL_H
#define VELLUM_VMI_HYPERCALL_H

#include "lib/types.h"
#include "vmi/vmi.h"

struct vcpu;

/* The guest's side of a hypercall: what the exit's handler reads from and writes to it. */
struct hypercall_frame {
	uint32_t eax, edx, ecx; /* number; VMI's EDX; VMI's EAX, whose place the number has */
	unsigned int cpl;	/* 0..3 */
};

/* A hypercall that may be invoked: number tells which member holds its arguments. */
struct hypercall {
	uint32_t number;
	enum vmi_call counts_for; /* VMI_CALL_COUNT: it is none of VMI's calls */
	union {
		struct {
			gva_t rom;
		} init; /* VMI_HYPERCALL_INIT */
		struct {
			uint32_t apic_id;
			struct vmi_ap_state state;
		} ap; /* VMI_CALL_SetInitialAPState */
		struct {
			uint32_t value;
		} command; /* VMI_CALL_APICWrite, of the command register */
	};
};

/*
 * Fills call from frame, and from the memory of the guest that vcpu runs. -EPERM: not at CPL
 * 0; -ENOSYS: nothing answers this number; -EINVAL: an argument that the call does not allow;
 * -EFAULT: a pointer that leads nowhere.
 */
int hypercall_decode(const struct vcpu *vcpu, const struct hypercall_frame *frame,
		     struct hypercall *call);

/* Does what a decoded call asks for, and puts its result into frame. */
void hypercall_invoke(const struct hypercall *call, struct hypercall_frame *frame);

/*
 * Both steps, and the count. False: the instruction is #UD in the guest. True: frame holds
 * the result, a negative errno value in EAX if the call was refused, and the guest goes on
 * behind the instruction.
 */
bool hypercall_handle(struct vcpu *vcpu, struct hypercall_frame *frame);

/* True if the guest has announced itself; rom is where it sees the ROM, 2 KiB-aligned. */
bool hypercall_guest_rom(gva_t *rom);

#endif
