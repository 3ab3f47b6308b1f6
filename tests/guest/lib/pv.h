/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel's way into the ROM: find it, run it in place through the linear mapping, ask
 * get_reloc, call what it answers. Each call is made with canaries in all that is no
 * argument, and with a stack, interrupts and flags that change from call to call; a routine
 * that does not keep what its call keeps fails the guest.
 */
#ifndef VELLUM_TESTS_GUEST_PV_H
#define VELLUM_TESTS_GUEST_PV_H

#include "caller.h"
#include "paging.h"
#include "vmi/vmi.h"

/*
 * Turns paging on with the linear mapping, loads Linux' segments and an idle interrupt setup
 * (irq.h), and finds the ROM; fails if there is none.
 */
void pv_prepare(enum paging paging);

/* vmi_init, which has to succeed. */
void pv_init(void);

/* Both. */
void pv_start(enum paging paging);

/* Where the ROM is, as the kernel sees it. */
uint32_t pv_rom(void);

struct reloc {
	uint32_t routine;
	uint8_t type; /* enum vmi_relocation */
	uint8_t hint;
};

/* get_reloc's answer; any number may be asked for. */
struct reloc pv_reloc(unsigned int call);

/* True if the answer is CALL_REL; only then may the call be made. */
bool pv_has(enum vmi_call call);

/* What a routine may change, beside arithmetic flags. */
#define PV_EAX	BIT(0)
#define PV_ECX	BIT(1)
#define PV_EDX	BIT(2)
#define PV_IF	BIT(3)
#define PV_EBX	BIT(4)
#define PV_IOPL BIT(5)
#define PV_ESI	BIT(6)
#define PV_EDI	BIT(7)
#define PV_STD	(PV_EAX | PV_ECX | PV_EDX) /* a C function */

/* A call that is ready to be made: canaries, and segments as Linux has them in the kernel. */
struct call pv_canaries(void);

/* Aims it at the routine of a call; fails the guest if the ROM's answer is not CALL_REL. */
void pv_aim(enum vmi_call number, struct call *call);

/* Makes the call at target; fails the guest, in the name of what, if more than may changes. */
void pv_run(const char *what, struct call *call, unsigned int may);

/*
 * VMI(SetAlarm, eax, edx, ecx, stack...): a call with C's freedom, returns EDX:EAX.
 */
#define VMI(name, ...) pv_call(VMI_CALL_##name, (const uint32_t[5]){__VA_ARGS__})
uint64_t pv_call(enum vmi_call call, const uint32_t arguments[5]);

#endif
