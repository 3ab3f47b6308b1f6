/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Patch sites as Linux' paravirt macros make them: an indirect call through an ops table that
 * vmi_patch() overwrites with what get_reloc answers. A RET behind it lets it be called.
 */
#ifndef VELLUM_TESTS_GUEST_SITE_H
#define VELLUM_TESTS_GUEST_SITE_H

#include "lib/types.h"
#include "vmi/vmi.h"

enum site_shape {
	SITE_SAVING,	   /* PUSH ECX, PUSH EDX, call, POP EDX, POP ECX: C code to 2.6.29 */
	SITE_CALLEE_SAVE,  /* the call alone: C code from 2.6.30 */
	SITE_ASSEMBLY,	   /* PUSH EAX, ECX, EDX, call, POP EDX, ECX, EAX: entry.S */
	SITE_SAVE_DISABLE, /* two calls in one site: 2.6.21's local_irq_save() */
	SITE_JUMP,	   /* JMP through CS, for IRET and SYSEXIT */
};

#define SITE_LEAD 8 /* bytes in front of a site, for what shall run before it */

struct site {
	uint8_t lead[SITE_LEAD]; /* NOPs at first */
	uint8_t bytes[24];
	unsigned int size;
};

/* Unpatched; op and second (of SITE_SAVE_DISABLE) are the ops table's pointers. */
void site_make(struct site *site, enum site_shape shape, const uint32_t *op,
	       const uint32_t *second);

/* As Linux' vmi_patch(), with what it takes for a bug as a failure of the guest. */
void site_patch(struct site *site, enum vmi_call call);

/* As 2.6.21 does it: GetInterruptMask, then DisableInterrupts, whatever the answers are. */
void site_patch_save_disable(struct site *site);

#endif
