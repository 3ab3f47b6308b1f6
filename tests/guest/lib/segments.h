/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux' GDT on i386 (asm/segment.h, the same from 2.6.21 to 2.6.36), behind the library's own
 * selectors, which stay. SYSEXIT takes its selectors by their order; IRET frames hold them.
 */
#ifndef VELLUM_TESTS_GUEST_SEGMENTS_H
#define VELLUM_TESTS_GUEST_SEGMENTS_H

#include "lib/types.h"

#define LINUX_KERNEL_CS 0x60
#define LINUX_KERNEL_DS 0x68
#define LINUX_USER_CS	0x73
#define LINUX_USER_DS	0x7b
#define LINUX_TSS	0x80
#define LINUX_LDT	0x88
#define LINUX_PERCPU	0xd8 /* __KERNEL_PDA in 2.6.21; small, so that flat use of FS faults */

/* Not Linux': what a wrong frame may name. */
#define LINUX_ABSENT_CS 0xe3 /* as LINUX_USER_CS, but not present */
#define LINUX_ABSENT_DS 0xeb
#define LINUX_BEYOND	0xffb

#define LINUX_GDT_ENTRIES 32

/* Loads the GDT, TR and LDTR with it. */
void segments_init(void);

uint64_t segments_descriptor(unsigned int selector);
void segments_set_descriptor(unsigned int selector, uint64_t descriptor);

/* What FS points to. */
extern uint32_t segments_percpu[4];

#endif
