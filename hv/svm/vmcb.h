/* SPDX-License-Identifier: GPL-2.0-only */
/* The virtual machine control block: AMD64 APM volume 2, appendix B. */
#ifndef VELLUM_SVM_VMCB_H
#define VELLUM_SVM_VMCB_H

#include "lib/types.h"

/* Segment attributes: bits 55:52 and 47:40 of the descriptor, packed (15.5.1) */
#define SEGMENT_ATTRIBUTES(access) ((uint16_t)(((access)&0xff) | ((access) >> 4 & 0xf00)))

struct vmcb_segment {
	uint16_t selector;
	uint16_t attributes;
	uint32_t limit;
	uint64_t base;
};

/* Intercepts, word by word: table B-1, offsets 000h, 008h, 00Ch, 010h */
#define INTERCEPT_EXCEPTION(vector) BIT(vector)

#define INTERCEPT3_INTR	       BIT(0)
#define INTERCEPT3_INIT	       BIT(3)
#define INTERCEPT3_VINTR       BIT(4)
#define INTERCEPT3_CPUID       BIT(18)
#define INTERCEPT3_IRET	       BIT(20)
#define INTERCEPT3_SWINT       BIT(21)
#define INTERCEPT3_INVD	       BIT(22)
#define INTERCEPT3_PAUSE       BIT(23)
#define INTERCEPT3_HLT	       BIT(24)
#define INTERCEPT3_INVLPG      BIT(25)
#define INTERCEPT3_INVLPGA     BIT(26)
#define INTERCEPT3_PORTS       BIT(27)
#define INTERCEPT3_MSRS	       BIT(28)
#define INTERCEPT3_TASK_SWITCH BIT(29)
#define INTERCEPT3_SHUTDOWN    BIT(31)

#define INTERCEPT4_VMRUN   BIT(0)
#define INTERCEPT4_VMMCALL BIT(1)
#define INTERCEPT4_VMLOAD  BIT(2)
#define INTERCEPT4_VMSAVE  BIT(3)
#define INTERCEPT4_STGI	   BIT(4)
#define INTERCEPT4_CLGI	   BIT(5)
#define INTERCEPT4_SKINIT  BIT(6)

#define TLB_CONTROL_NOTHING   0
#define TLB_CONTROL_FLUSH_ALL 1

#define NESTED_PAGING_ENABLE BIT(0)

/* Virtual interrupt: offset 060h, 15.21.4 */
#define VIRTUAL_INTERRUPT_PENDING      BIT(8)
#define VIRTUAL_INTERRUPT_IGNORE_TPR   BIT(20)
#define VIRTUAL_INTERRUPT_VECTOR       (0xffull << VIRTUAL_INTERRUPT_VECTOR_SHIFT)
#define VIRTUAL_INTERRUPT_VECTOR_SHIFT 32

#define INTERRUPT_SHADOW BIT(0)

/* EVENTINJ and EXITINTINFO: 15.20 and 15.7.2 */
#define EVENT_VECTOR	     0xffu
#define EVENT_TYPE	     (7u << 8)
#define EVENT_TYPE_EXTERNAL  (0u << 8)
#define EVENT_TYPE_NMI	     (2u << 8)
#define EVENT_TYPE_EXCEPTION (3u << 8)
#define EVENT_TYPE_SOFTWARE  (4u << 8)
#define EVENT_HAS_ERROR_CODE BIT(11)
#define EVENT_VALID	     BIT(31)
#define EVENT_ERROR_SHIFT    32

/* VMCB clean bits: 15.15.3 */
#define CLEAN_ALL	 0xffffffffu
#define CLEAN_INTERCEPTS BIT(0)
#define CLEAN_IOPM	 BIT(1)
#define CLEAN_TPR	 BIT(3)
#define CLEAN_CRX	 BIT(5)
#define CLEAN_DRX	 BIT(6)
#define CLEAN_CR2	 BIT(9)

struct vmcb_control {
	uint16_t intercept_cr_reads;
	uint16_t intercept_cr_writes;
	uint16_t intercept_dr_reads;
	uint16_t intercept_dr_writes;
	uint32_t intercept_exceptions;
	uint32_t intercept3;
	uint32_t intercept4;
	uint32_t intercept5;
	uint8_t reserved_018[0x40 - 0x18];
	uint64_t iopm_base;
	uint64_t msrpm_base;
	uint64_t tsc_offset;
	uint32_t asid;
	uint8_t tlb_control;
	uint8_t reserved_05d[3];
	uint64_t virtual_interrupt;
	uint64_t interrupt_state;
	uint64_t exit_code;
	uint64_t exit_info1;
	uint64_t exit_info2;
	uint64_t exit_interrupt_info;
	uint64_t nested_control;
	uint8_t reserved_098[0xa8 - 0x98];
	uint64_t event_injection;
	uint64_t nested_cr3;
	uint64_t virtualization_extra; /* LBR virtualization and the like */
	uint32_t clean;
	uint32_t reserved_0c4;
	uint64_t next_rip;
	uint8_t instruction_length;
	uint8_t instruction_bytes[15];
	uint8_t reserved_0e0[0x400 - 0xe0];
};

/* Table B-2; offsets there count from 400h */
struct vmcb_save {
	struct vmcb_segment es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	uint8_t reserved_0a0[0xcb - 0xa0];
	uint8_t cpl;
	uint32_t reserved_0cc;
	uint64_t efer;
	uint8_t reserved_0d8[0x148 - 0xd8];
	uint64_t cr4;
	uint64_t cr3;
	uint64_t cr0;
	uint64_t dr7;
	uint64_t dr6;
	uint64_t rflags;
	uint64_t rip;
	uint8_t reserved_180[0x1d8 - 0x180];
	uint64_t rsp;
	uint8_t reserved_1e0[0x1f8 - 0x1e0];
	uint64_t rax;
	uint64_t star, lstar, cstar, sfmask, kernel_gs_base;
	uint64_t sysenter_cs, sysenter_esp, sysenter_eip;
	uint64_t cr2;
	uint8_t reserved_248[0x268 - 0x248];
	uint64_t g_pat;
	uint8_t reserved_270[0xc00 - 0x270];
};

struct vmcb {
	struct vmcb_control control;
	struct vmcb_save save;
};

_Static_assert(offsetof(struct vmcb_control, iopm_base) == 0x40, "table B-1");
_Static_assert(offsetof(struct vmcb_control, asid) == 0x58, "table B-1");
_Static_assert(offsetof(struct vmcb_control, exit_code) == 0x70, "table B-1");
_Static_assert(offsetof(struct vmcb_control, event_injection) == 0xa8, "table B-1");
_Static_assert(offsetof(struct vmcb_control, clean) == 0xc0, "table B-1");
_Static_assert(offsetof(struct vmcb_control, next_rip) == 0xc8, "table B-1");
_Static_assert(offsetof(struct vmcb_save, cpl) == 0xcb, "table B-2");
_Static_assert(offsetof(struct vmcb_save, efer) == 0xd0, "table B-2");
_Static_assert(offsetof(struct vmcb_save, cr4) == 0x148, "table B-2");
_Static_assert(offsetof(struct vmcb_save, rip) == 0x178, "table B-2");
_Static_assert(offsetof(struct vmcb_save, rsp) == 0x1d8, "table B-2");
_Static_assert(offsetof(struct vmcb_save, rax) == 0x1f8, "table B-2");
_Static_assert(offsetof(struct vmcb_save, cr2) == 0x240, "table B-2");
_Static_assert(offsetof(struct vmcb_save, g_pat) == 0x268, "table B-2");
_Static_assert(sizeof(struct vmcb) == 4096, "one page");

/* Exit codes: appendix C */
enum svm_exit_code {
	SVM_EXIT_CR_READ = 0,	   /* plus the register's number, 0 to 15 */
	SVM_EXIT_CR_WRITE = 0x10,  /* the same */
	SVM_EXIT_DR_READ = 0x20,   /* plus the register's number, 0 to 15 */
	SVM_EXIT_DR_WRITE = 0x30,  /* the same */
	SVM_EXIT_EXCEPTION = 0x40, /* plus the vector */
	SVM_EXIT_INTR = 0x60,
	SVM_EXIT_INIT = 0x63,
	SVM_EXIT_VINTR = 0x64,
	SVM_EXIT_CPUID = 0x72,
	SVM_EXIT_IRET = 0x74,
	SVM_EXIT_SWINT = 0x75,
	SVM_EXIT_INVD = 0x76,
	SVM_EXIT_PAUSE = 0x77,
	SVM_EXIT_HLT = 0x78,
	SVM_EXIT_INVLPG = 0x79,
	SVM_EXIT_INVLPGA = 0x7a,
	SVM_EXIT_PORT = 0x7b,
	SVM_EXIT_MSR = 0x7c,
	SVM_EXIT_TASK_SWITCH = 0x7d,
	SVM_EXIT_SHUTDOWN = 0x7f,
	SVM_EXIT_VMRUN = 0x80,
	SVM_EXIT_VMMCALL = 0x81,
	SVM_EXIT_VMLOAD = 0x82,
	SVM_EXIT_VMSAVE = 0x83,
	SVM_EXIT_STGI = 0x84,
	SVM_EXIT_CLGI = 0x85,
	SVM_EXIT_SKINIT = 0x86,
	SVM_EXIT_WBINVD = 0x89,
	SVM_EXIT_NPF = 0x400,
	SVM_EXIT_INVALID = 0xffffffff, /* low half: QEMU stores no more */
};

#define MSR_EXIT_WRITE BIT(0) /* EXITINFO1 of SVM_EXIT_MSR */

/* EXITINFO1 of SVM_EXIT_PORT: 15.10.2 */
#define PORT_EXIT_IN	     BIT(0)
#define PORT_EXIT_STRING     BIT(2)
#define PORT_EXIT_SIZE(info) ((unsigned int)((info) >> 4 & 7)) /* 1, 2 or 4 bytes */
#define PORT_EXIT_PORT(info) ((uint16_t)((info) >> 16))

#endif
