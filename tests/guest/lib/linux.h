/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Linux 2.6.21 to 2.6.36 does with a VMI ROM: how it activates it, by generation, and a
 * short life behind that. Each guest vmi_linux_*.c is one generation.
 */
#ifndef VELLUM_TESTS_GUEST_LINUX_H
#define VELLUM_TESTS_GUEST_LINUX_H

#include "paging.h"
#include "vmi/vmi.h"

struct linux_kernel {
	enum paging paging;
	bool early_init;	/* vmi_init() first of all, activation later: from 2.6.28 */
	bool callee_save;	/* irq sites save nothing: from 2.6.30 */
	bool save_disable;	/* a site of two calls: 2.6.21 */
	bool lazy_wrapped;	/* asks for SetLazyMode once for each user: from 2.6.24 */
	bool apic_write_atomic; /* asks for APICWrite twice: to 2.6.27 */
};

/*
 * From the probe to vmi_bringup(). Fails where a kernel of this generation would hit a bug, an
 * unanswered call that it cannot do without, or a pointer that it calls without a look.
 */
void linux_boot(const struct linux_kernel *kernel);

/* True if the ROM has a routine for this call, and the kernel has taken it. */
bool linux_has(enum vmi_call call);

/* LINUX_OP(SetCR3, eax, edx, ecx, stack...): only if linux_has(). Returns EDX:EAX. */
#define LINUX_OP(name, ...) linux_op(VMI_CALL_##name, (const uint32_t[5]){__VA_ARGS__})
uint64_t linux_op(enum vmi_call call, const uint32_t arguments[5]);

/*
 * Processes: interrupts off and on, into the user by IRET and by SYSEXIT and back, address
 * spaces changed, pages mapped, I/O delays. Each op by the ROM or natively, as the answer was.
 */
void linux_live(unsigned int rounds);

/* Starts the second processor; then both live this life at a time, and must survive it. */
void linux_live_on_two(void (*life)(void));

/* The kernel's idle loop, until an interrupt; natively if the ROM has no Halt. */
void linux_idle(void);

#endif
