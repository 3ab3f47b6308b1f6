/* SPDX-License-Identifier: GPL-2.0-only */
/* The virtual-machine control structure: Intel SDM volume 3C, chapter 25, appendices A to C. */
#ifndef VELLUM_VMX_VMCS_H
#define VELLUM_VMX_VMCS_H

#include "lib/errno.h"
#include "lib/types.h"

/* Field encodings: appendix B */
enum vmcs_field {
	VMCS_VPID = 0x0000,

	VMCS_GUEST_ES_SELECTOR = 0x0800, /* then CS, SS, DS, FS, GS, LDTR, TR, by 2 */
	VMCS_GUEST_LDTR_SELECTOR = 0x080c,
	VMCS_GUEST_TR_SELECTOR = 0x080e,
	VMCS_HOST_ES_SELECTOR = 0x0c00,
	VMCS_HOST_CS_SELECTOR = 0x0c02,
	VMCS_HOST_SS_SELECTOR = 0x0c04,
	VMCS_HOST_DS_SELECTOR = 0x0c06,
	VMCS_HOST_FS_SELECTOR = 0x0c08,
	VMCS_HOST_GS_SELECTOR = 0x0c0a,
	VMCS_HOST_TR_SELECTOR = 0x0c0c,

	VMCS_IO_BITMAP_A = 0x2000,
	VMCS_IO_BITMAP_B = 0x2002,
	VMCS_MSR_BITMAP = 0x2004,
	VMCS_TSC_OFFSET = 0x2010,
	VMCS_EPT_POINTER = 0x201a,
	VMCS_XSS_EXITING = 0x202c,
	VMCS_GUEST_PHYSICAL = 0x2400,
	VMCS_LINK_POINTER = 0x2800,
	VMCS_GUEST_DEBUGCTL = 0x2802,
	VMCS_GUEST_PAT = 0x2804,
	VMCS_GUEST_EFER = 0x2806,
	VMCS_GUEST_PDPTE0 = 0x280a, /* four, by 2 */
	VMCS_HOST_PAT = 0x2c00,
	VMCS_HOST_EFER = 0x2c02,

	VMCS_PIN_CONTROLS = 0x4000,
	VMCS_PROCESSOR_CONTROLS = 0x4002,
	VMCS_EXCEPTION_BITMAP = 0x4004,
	VMCS_PAGE_FAULT_MASK = 0x4006,
	VMCS_PAGE_FAULT_MATCH = 0x4008,
	VMCS_CR3_TARGET_COUNT = 0x400a,
	VMCS_EXIT_CONTROLS = 0x400c,
	VMCS_EXIT_MSR_STORE_COUNT = 0x400e,
	VMCS_EXIT_MSR_LOAD_COUNT = 0x4010,
	VMCS_ENTRY_CONTROLS = 0x4012,
	VMCS_ENTRY_MSR_LOAD_COUNT = 0x4014,
	VMCS_ENTRY_INTERRUPTION = 0x4016,
	VMCS_ENTRY_ERROR_CODE = 0x4018,
	VMCS_ENTRY_INSTRUCTION_LENGTH = 0x401a,
	VMCS_SECONDARY_CONTROLS = 0x401e,
	VMCS_INSTRUCTION_ERROR = 0x4400,
	VMCS_EXIT_REASON = 0x4402,
	VMCS_EXIT_INTERRUPTION = 0x4404,
	VMCS_EXIT_ERROR_CODE = 0x4406,
	VMCS_VECTORING_INFO = 0x4408,
	VMCS_VECTORING_ERROR_CODE = 0x440a,
	VMCS_EXIT_INSTRUCTION_LENGTH = 0x440c,
	VMCS_GUEST_ES_LIMIT = 0x4800, /* by 2 as the selectors */
	VMCS_GUEST_GDTR_LIMIT = 0x4810,
	VMCS_GUEST_IDTR_LIMIT = 0x4812,
	VMCS_GUEST_ES_ACCESS = 0x4814, /* by 2 as the selectors */
	VMCS_GUEST_INTERRUPTIBILITY = 0x4824,
	VMCS_GUEST_ACTIVITY = 0x4826,
	VMCS_GUEST_SYSENTER_CS = 0x482a,
	VMCS_PREEMPTION_TIMER = 0x482e,
	VMCS_HOST_SYSENTER_CS = 0x4c00,

	VMCS_CR0_MASK = 0x6000,
	VMCS_CR4_MASK = 0x6002,
	VMCS_CR0_SHADOW = 0x6004,
	VMCS_CR4_SHADOW = 0x6006,
	VMCS_EXIT_QUALIFICATION = 0x6400,
	VMCS_GUEST_CR0 = 0x6800,
	VMCS_GUEST_CR3 = 0x6802,
	VMCS_GUEST_CR4 = 0x6804,
	VMCS_GUEST_ES_BASE = 0x6806, /* by 2 as the selectors */
	VMCS_GUEST_GDTR_BASE = 0x6816,
	VMCS_GUEST_IDTR_BASE = 0x6818,
	VMCS_GUEST_DR7 = 0x681a,
	VMCS_GUEST_RSP = 0x681c,
	VMCS_GUEST_RIP = 0x681e,
	VMCS_GUEST_RFLAGS = 0x6820,
	VMCS_GUEST_PENDING_DEBUG = 0x6822,
	VMCS_GUEST_SYSENTER_ESP = 0x6824,
	VMCS_GUEST_SYSENTER_EIP = 0x6826,
	VMCS_HOST_CR0 = 0x6c00,
	VMCS_HOST_CR3 = 0x6c02,
	VMCS_HOST_CR4 = 0x6c04,
	VMCS_HOST_FS_BASE = 0x6c06,
	VMCS_HOST_GS_BASE = 0x6c08,
	VMCS_HOST_TR_BASE = 0x6c0a,
	VMCS_HOST_GDTR_BASE = 0x6c0c,
	VMCS_HOST_IDTR_BASE = 0x6c0e,
	VMCS_HOST_SYSENTER_ESP = 0x6c10,
	VMCS_HOST_SYSENTER_EIP = 0x6c12,
	VMCS_HOST_RSP = 0x6c14,
	VMCS_HOST_RIP = 0x6c16,
};

#define PDPTE_COUNT 4u

/* The order of the segment registers in the fields above */
enum vmcs_segment {
	SEGMENT_ES,
	SEGMENT_CS,
	SEGMENT_SS,
	SEGMENT_DS,
	SEGMENT_FS,
	SEGMENT_GS,
	SEGMENT_LDTR,
	SEGMENT_TR,
	SEGMENT_COUNT
};

/* Access rights: 25.4.1, table 25-2 */
#define ACCESS_LDT		    0x0082
#define ACCESS_UNUSABLE		    BIT(16)
#define ACCESS_LONG		    BIT(13)
#define ACCESS_IS_32BIT_TSS(rights) (((rights)&15) == 11)
#define ACCESS_DPL(rights)	    ((unsigned int)((rights) >> 5 & 3))

/* Pin-based controls: 25.6.1 */
#define PIN_NMI_EXITING	     BIT(3)
#define PIN_VIRTUAL_NMIS     BIT(5)
#define PIN_PREEMPTION_TIMER BIT(6)

/* Processor-based controls: 25.6.2 */
#define PROCESSOR_INTERRUPT_WINDOW BIT(2)
#define PROCESSOR_INVLPG	   BIT(9)
#define PROCESSOR_CR3_LOAD	   BIT(15)
#define PROCESSOR_CR3_STORE	   BIT(16)
#define PROCESSOR_NMI_WINDOW	   BIT(22)
#define PROCESSOR_MOV_DR	   BIT(23)
#define PROCESSOR_IO_BITMAPS	   BIT(25)
#define PROCESSOR_MSR_BITMAPS	   BIT(28)
#define PROCESSOR_SECONDARY	   BIT(31)

#define SECONDARY_EPT	       BIT(1)
#define SECONDARY_RDTSCP       BIT(3)
#define SECONDARY_VPID	       BIT(5)
#define SECONDARY_UNRESTRICTED BIT(7)
#define SECONDARY_INVPCID      BIT(12)
#define SECONDARY_XSAVES       BIT(20)
#define SECONDARY_USER_WAIT    BIT(26)

/* Exit and entry controls: 25.7.1, 25.8.1 */
#define EXIT_SAVE_DEBUG	 BIT(2)
#define EXIT_HOST_64BIT	 BIT(9)
#define EXIT_SAVE_PAT	 BIT(18)
#define EXIT_LOAD_PAT	 BIT(19)
#define EXIT_SAVE_EFER	 BIT(20)
#define EXIT_LOAD_EFER	 BIT(21)
#define EXIT_SAVE_TIMER	 BIT(22)
#define ENTRY_LOAD_DEBUG BIT(2)
#define ENTRY_IA32E	 BIT(9)
#define ENTRY_LOAD_PAT	 BIT(14)
#define ENTRY_LOAD_EFER	 BIT(15)

/* Interruption information: 25.8.3, 25.9.2, 25.9.3 */
#define INTERRUPTION_VECTOR		0xffu
#define INTERRUPTION_TYPE		0x700u
#define INTERRUPTION_EXTERNAL		(0u << 8)
#define INTERRUPTION_NMI		(2u << 8)
#define INTERRUPTION_EXCEPTION		(3u << 8)
#define INTERRUPTION_SOFTWARE		(4u << 8)
#define INTERRUPTION_PRIVILEGED		(5u << 8) /* INT1 */
#define INTERRUPTION_SOFTWARE_EXCEPTION (6u << 8)
#define INTERRUPTION_ERROR_CODE		BIT(11)
#define INTERRUPTION_NMI_UNBLOCKED	BIT(12) /* by the IRET that faulted: 28.2.3 */
#define INTERRUPTION_VALID		BIT(31)
#define INTERRUPTION_EVENT		(INTERRUPTION_VALID | 0xfffu) /* what an entry takes */

/* Interruptibility: 25.4.2, table 25-3 */
#define BLOCKING_STI	BIT(0)
#define BLOCKING_MOV_SS BIT(1)
#define BLOCKING_NMI	BIT(3)

#define PENDING_DEBUG_BS BIT(14)

enum { ACTIVITY_ACTIVE = 0, ACTIVITY_HALTED = 1, ACTIVITY_WAIT_FOR_STARTUP = 3 }; /* 25.4.2 */

/* IA32_DEBUGCTL: SDM volume 3B, 18.4.1 */
#define DEBUGCTL_LBR BIT(0)
#define DEBUGCTL_BTF BIT(1)

/* Basic exit reasons: appendix C */
enum vmx_exit_reason {
	VMX_EXIT_EXCEPTION = 0,
	VMX_EXIT_TRIPLE_FAULT = 2,
	VMX_EXIT_INIT = 3,
	VMX_EXIT_STARTUP = 4,
	VMX_EXIT_INTERRUPT_WINDOW = 7,
	VMX_EXIT_NMI_WINDOW = 8,
	VMX_EXIT_TASK_SWITCH = 9,
	VMX_EXIT_CPUID = 10,
	VMX_EXIT_GETSEC = 11,
	VMX_EXIT_INVD = 13,
	VMX_EXIT_INVLPG = 14,
	VMX_EXIT_VMCALL = 18,
	VMX_EXIT_VMCLEAR = 19,
	VMX_EXIT_VMLAUNCH = 20,
	VMX_EXIT_VMPTRLD = 21,
	VMX_EXIT_VMPTRST = 22,
	VMX_EXIT_VMREAD = 23,
	VMX_EXIT_VMRESUME = 24,
	VMX_EXIT_VMWRITE = 25,
	VMX_EXIT_VMXOFF = 26,
	VMX_EXIT_VMXON = 27,
	VMX_EXIT_CR_ACCESS = 28,
	VMX_EXIT_MOV_DR = 29,
	VMX_EXIT_PORT = 30,
	VMX_EXIT_RDMSR = 31,
	VMX_EXIT_WRMSR = 32,
	VMX_EXIT_GUEST_STATE = 33,   /* failed entry */
	VMX_EXIT_MSR_LOADING = 34,   /* failed entry */
	VMX_EXIT_MACHINE_CHECK = 41, /* failed entry */
	VMX_EXIT_EPT_VIOLATION = 48,
	VMX_EXIT_EPT_MISCONFIGURATION = 49,
	VMX_EXIT_INVEPT = 50,
	VMX_EXIT_TIMER = 52,
	VMX_EXIT_INVVPID = 53,
	VMX_EXIT_XSETBV = 55,
	VMX_EXIT_SEAMCALL = 76,
	VMX_EXIT_TDCALL = 77,
};

/* The other bits tell of an enclave, a failed entry and the like: table 25-18. */
#define BASIC_EXIT_REASON(reason) ((uint32_t)((reason)&0xffff))
#define EXIT_FAILED_ENTRY	  BIT(31)

/* Qualification of VMX_EXIT_EPT_VIOLATION: table 28-7 */
#define EPT_EXIT_NMI_UNBLOCKED BIT(12)

/* Qualification of VMX_EXIT_MOV_DR: table 28-4 */
#define DR_EXIT_NUMBER(info)   ((unsigned int)((info)&7))
#define DR_EXIT_FROM	       BIT(4)
#define DR_EXIT_REGISTER(info) ((unsigned int)((info) >> 8 & 15))

/* Qualification of VMX_EXIT_PORT: table 28-5 */
#define PORT_EXIT_SIZE(info) ((unsigned int)((info)&7) + 1)
#define PORT_EXIT_IN	     BIT(3)
#define PORT_EXIT_STRING     BIT(4)
#define PORT_EXIT_PORT(info) ((uint16_t)((info) >> 16))

/* Qualification of VMX_EXIT_STARTUP: the vector (28.2.1) */
#define STARTUP_EXIT_PAGE(info) ((uint8_t)(info))

/* Qualification of VMX_EXIT_CR_ACCESS: table 28-3 */
#define CR_EXIT_NUMBER(info)	 ((unsigned int)((info)&15))
#define CR_EXIT_TYPE(info)	 ((unsigned int)((info) >> 4 & 3))
#define CR_EXIT_REGISTER(info)	 ((unsigned int)((info) >> 8 & 15))
#define CR_EXIT_LMSW_VALUE(info) ((info) >> 16 & 0xffff)
enum { CR_EXIT_MOV_TO, CR_EXIT_MOV_FROM, CR_EXIT_CLTS, CR_EXIT_LMSW };

static inline uint64_t vmread(enum vmcs_field field)
{
	uint64_t value;

	asm volatile("vmread %1, %0" : "=rm"(value) : "r"((uint64_t)field) : "cc");
	return value;
}

/* 0 for a field that this processor does not have. */
static inline uint64_t vmread_or_0(enum vmcs_field field)
{
	uint64_t value = 0;

	asm volatile("vmread %1, %0" : "+r"(value) : "r"((uint64_t)field) : "cc");
	return value;
}

/* Fails only for a field that this processor does not have; then nothing is written. */
static inline void vmwrite(enum vmcs_field field, uint64_t value)
{
	asm volatile("vmwrite %1, %0" ::"r"((uint64_t)field), "rm"(value) : "cc");
}

static inline enum vmcs_field segment_field(enum vmcs_field of_es, enum vmcs_segment segment)
{
	return of_es + 2 * segment;
}

#endif
