/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The VMI 3.0 ABI as Vellum speaks it: what the guest, the ROM (vmirom/) and the
 * hypervisor must agree on. Names and numbers of the calls are those of VMware's
 * vmiCalls.h and Linux' asm/vmi.h; what is Vellum's own says so. docs/vmi.md holds
 * the verdict on each call.
 */
#ifndef VELLUM_VMI_VMI_H
#define VELLUM_VMI_VMI_H

#include "lib/types.h"

/* The calls of API 3.0, by the number that a guest gives to get_reloc in EAX. */
enum vmi_call {
	VMI_CALL_CPUID = 0,
	VMI_CALL_WRMSR = 1,
	VMI_CALL_RDMSR = 2,
	VMI_CALL_SetGDT = 3,
	VMI_CALL_SetLDT = 4,
	VMI_CALL_SetIDT = 5,
	VMI_CALL_SetTR = 6,
	VMI_CALL_GetGDT = 7,
	VMI_CALL_GetLDT = 8,
	VMI_CALL_GetIDT = 9,
	VMI_CALL_GetTR = 10,
	VMI_CALL_WriteGDTEntry = 11,
	VMI_CALL_WriteLDTEntry = 12,
	VMI_CALL_WriteIDTEntry = 13,
	VMI_CALL_UpdateKernelStack = 14,
	VMI_CALL_SetCR0 = 15,
	VMI_CALL_SetCR2 = 16,
	VMI_CALL_SetCR3 = 17,
	VMI_CALL_SetCR4 = 18,
	VMI_CALL_GetCR0 = 19,
	VMI_CALL_GetCR2 = 20,
	VMI_CALL_GetCR3 = 21,
	VMI_CALL_GetCR4 = 22,
	VMI_CALL_WBINVD = 23,
	VMI_CALL_SetDR = 24,
	VMI_CALL_GetDR = 25,
	VMI_CALL_RDPMC = 26,
	VMI_CALL_RDTSC = 27,
	VMI_CALL_CLTS = 28,
	VMI_CALL_EnableInterrupts = 29,
	VMI_CALL_DisableInterrupts = 30,
	VMI_CALL_GetInterruptMask = 31,
	VMI_CALL_SetInterruptMask = 32,
	VMI_CALL_IRET = 33,
	VMI_CALL_SYSEXIT = 34,
	VMI_CALL_Halt = 35,
	VMI_CALL_Reboot = 36,
	VMI_CALL_Shutdown = 37,
	VMI_CALL_SetPxE = 38,
	VMI_CALL_SetPxELong = 39,
	VMI_CALL_UpdatePxE = 40,
	VMI_CALL_UpdatePxELong = 41,
	VMI_CALL_MachineToPhysical = 42,
	VMI_CALL_PhysicalToMachine = 43,
	VMI_CALL_AllocatePage = 44,
	VMI_CALL_ReleasePage = 45,
	VMI_CALL_InvalPage = 46,
	VMI_CALL_FlushTLB = 47,
	VMI_CALL_SetLinearMapping = 48,
	VMI_CALL_INL = 49,
	VMI_CALL_INB = 50,
	VMI_CALL_INW = 51,
	VMI_CALL_INSL = 52,
	VMI_CALL_INSB = 53,
	VMI_CALL_INSW = 54,
	VMI_CALL_OUTL = 55,
	VMI_CALL_OUTB = 56,
	VMI_CALL_OUTW = 57,
	VMI_CALL_OUTSL = 58,
	VMI_CALL_OUTSB = 59,
	VMI_CALL_OUTSW = 60,
	VMI_CALL_SetIOPLMask = 61,
	VMI_CALL_SetInitialAPState = 62,
	VMI_CALL_APICWrite = 63,
	VMI_CALL_APICRead = 64,
	VMI_CALL_IODelay = 65,
	VMI_CALL_GetCycleFrequency = 66,
	VMI_CALL_GetCycleCounter = 67,
	VMI_CALL_SetAlarm = 68,
	VMI_CALL_CancelAlarm = 69,
	VMI_CALL_GetWallclockTime = 70,
	VMI_CALL_WallclockUpdated = 71,
	VMI_CALL_SetCallbacks = 72,
	VMI_CALL_SetLazyMode = 73,
	VMI_CALL_COUNT = 74,
};

/* The specification's name of a call, NULL for a number that is none. */
const char *vmi_call_name(unsigned int call);

/*
 * get_reloc's answer in EDX:EAX. EAX is the routine's linear address, DL one of
 * these types; DH and the upper half of EDX are reserved in VMI 3.0.
 */
enum vmi_relocation {
	VMI_RELOCATION_NONE = 0,     /* leave the site as it is */
	VMI_RELOCATION_CALL_REL = 1, /* CALL rel32 to the routine */
	VMI_RELOCATION_JUMP_REL = 2, /* JMP rel32 to the routine */
	VMI_RELOCATION_NOP = 3,	     /* nothing to do here: fill the site with NOPs */
};

/*
 * Vellum's own, in DH: the guest's native instruction does what the routine does. A
 * guest that knows this bit keeps its inline code; older ones don't look at DH.
 */
#define VMI_HINT_NATIVE 0x01

/*
 * And for APICWrite: the native instruction does all but INIT and STARTUP. A guest that knows
 * this bit makes the call for these two alone; after the first one native writes don't exit.
 */
#define VMI_HINT_COMMANDS 0x02

/* A guest looks at every 2 KiB of this physical range for the ROM. */
#define VMI_ROM_SCAN_START 0xc0000u
#define VMI_ROM_SCAN_END   0xe0000u
#define VMI_ROM_ALIGN	   2048u

#define OPTION_ROM_SIGNATURE   0xaa55u
#define OPTION_ROM_LENGTH_UNIT 512u /* bytes that one unit of rom_length stands for */

#define VMI_ROM_SIGNATURE 0x696d5663u /* "cVmi" */
#define VMI_API_MAJOR	  3u	      /* Linux insists on it */
#define VMI_API_MINOR	  0u	      /* and takes any */

/* The head of the ROM, as Linux' struct vrom_header has it. */
struct vmi_rom_header {
	uint16_t rom_signature; /* OPTION_ROM_SIGNATURE */
	uint8_t rom_length;	/* in OPTION_ROM_LENGTH_UNIT */
	uint8_t bios_init[4];	/* real-mode code that the BIOS calls far */
	uint8_t checksum;	/* makes the sum of all bytes 0; a pad byte to VMI */
	uint32_t vmi_signature; /* VMI_ROM_SIGNATURE */
	uint8_t api_minor;
	uint8_t api_major;
	uint8_t jump_slots; /* nobody reads it */
	uint8_t reserved1;
	uint32_t virtual_top; /* the hypervisor keeps the guest's addresses from here up; 0: none */
	uint16_t reserved2;
	uint16_t license; /* offsets from here on count from the ROM's start */
	uint16_t pci_header;
	uint16_t pnp_header;
	uint32_t reserved3;
	uint8_t reserved4[0x60]; /* holds the PCI, PnP and private headers */
	uint8_t vmi_init[8];	 /* code */
	uint8_t get_reloc[8];	 /* code */
};

_Static_assert(offsetof(struct vmi_rom_header, checksum) == 0x07, "option ROM header");
_Static_assert(offsetof(struct vmi_rom_header, vmi_signature) == 0x08, "VMI header");
_Static_assert(offsetof(struct vmi_rom_header, virtual_top) == 0x10, "VMI header");
_Static_assert(offsetof(struct vmi_rom_header, license) == 0x16, "VMI header");
_Static_assert(offsetof(struct vmi_rom_header, pci_header) == 0x18, "option ROM header");
_Static_assert(offsetof(struct vmi_rom_header, pnp_header) == 0x1a, "option ROM header");
_Static_assert(offsetof(struct vmi_rom_header, reserved4) == 0x20, "VMI header");
_Static_assert(offsetof(struct vmi_rom_header, vmi_init) == 0x80, "VMI entry point");
_Static_assert(offsetof(struct vmi_rom_header, get_reloc) == 0x88, "VMI entry point");
_Static_assert(sizeof(struct vmi_rom_header) == 0x90, "VMI header");

/*
 * Vellum's own header, inside reserved4: where the hypervisor finds what it changes
 * in its copy of the ROM before a guest sees it.
 */
#define VMI_ROM_PRIVATE_OFFSET	0x60u
#define VMI_ROM_PRIVATE_MAGIC	0x4d525656u /* "VVRM" */
#define VMI_ROM_PRIVATE_VERSION 3u

struct vmi_rom_private {
	uint32_t magic;
	uint16_t version;
	uint16_t answers;	  /* offset of struct vmi_rom_answer[answer_count] */
	uint16_t answer_count;	  /* VMI_CALL_COUNT */
	uint16_t hypercalls;	  /* offset of uint16_t[hypercall_count]: where hypercall */
	uint16_t hypercall_count; /* instructions are, as offsets */
	uint16_t trace_stubs;	  /* offset of the first call's stub for vmi=trace */
	uint16_t trace_stub_size; /* and how far it is to the next call's */
	uint16_t time;		  /* offset of struct vmi_rom_time */
	uint16_t traced_iret;	  /* offset of the IRET instruction that vmi=trace leads to */
	uint16_t shadow_routines; /* offset of uint16_t[]: other routines with shadow page */
	uint16_t reserved[4];	  /* tables, of the calls in option_rom.c */
};

_Static_assert(sizeof(struct vmi_rom_private) == 0x20, "private header");
_Static_assert(VMI_ROM_PRIVATE_OFFSET + sizeof(struct vmi_rom_private) ==
		       offsetof(struct vmi_rom_header, vmi_init),
	       "the private header ends where the code begins");

/* What get_reloc answers for one call. */
struct vmi_rom_answer {
	uint16_t routine; /* offset; 0: there is none. A guest sees it with CALL_REL only */
	uint8_t type;	  /* enum vmi_relocation */
	uint8_t hint;	  /* VMI_HINT_* */
};

_Static_assert(sizeof(struct vmi_rom_answer) == 4, "get_reloc indexes by 4");

/*
 * Two pages that the ROM expects behind its own: one of zeros, for what it has to remember,
 * and the local APIC's. With shadow page tables a third one, struct vmi_rom_queue.
 */
#define VMI_ROM_PAGES	   3u
#define VMI_ROM_DATA_PAGE  1u /* indexes */
#define VMI_ROM_APIC_PAGE  2u
#define VMI_ROM_QUEUE_PAGE 3u

/* In the first: 4 bytes that are not 0 if some processor's APIC is not where the last leads. */
#define VMI_ROM_APIC_MOVED 4u

/*
 * What the ROM has to tell of page tables: an item is the linear address of an entry that has
 * changed, a multiple of 4; or a frame's address and one of the bits.
 */
#define VMI_QUEUE_ALLOCATED 1u
#define VMI_QUEUE_RELEASED  2u
#define VMI_QUEUE_ITEMS	    1008u

struct vmi_rom_queue {
	uint32_t count;	 /* of the items; the ROM makes a hypercall before it gets too high */
	uint32_t untold; /* 0: empty means that there is nothing to flush */
	uint32_t linear_address, linear_pages, linear_frame; /* SetLinearMapping, slot 0 */
	uint32_t wanted; /* the entry that the guest's last page fault was about; 0: none */
	uint32_t reserved[10];
	uint32_t item[VMI_QUEUE_ITEMS];
};

_Static_assert(offsetof(struct vmi_rom_queue, item) == 64, "vmi.inc");
_Static_assert(sizeof(struct vmi_rom_queue) == 4096, "a page");

/* The two timers that an alarm can be wired to. */
enum vmi_timer { VMI_TIMER_PIT, VMI_TIMER_LAPIC, VMI_TIMERS };

/* What time routines in the ROM calculate with. */
struct vmi_rom_time {
	uint64_t tsc_hz;
	uint64_t wall_at_0;	    /* nanoseconds since 1970, UTC, when the TSC was 0 */
	uint32_t wall_mult;	    /* nanoseconds a TSC cycle, times 2^VMI_WALL_SHIFT */
	uint32_t ticks[VMI_TIMERS]; /* of a timer a TSC cycle, times 2^VMI_TICKS_SHIFT */
	uint32_t reserved;
	uint64_t longest[VMI_TIMERS]; /* TSC cycles that a timer can wait for */
};

#define VMI_WALL_SHIFT	24
#define VMI_TICKS_SHIFT 31

_Static_assert(sizeof(struct vmi_rom_time) == 48, "time.asm");
_Static_assert(offsetof(struct vmi_rom_time, longest) == 32, "time.asm");

/*
 * The way from the ROM into the hypervisor: VMMCALL or VMCALL at CPL 0, no prefix. EAX holds a
 * VMI call number or one of Vellum's own numbers, the other registers what that call
 * takes. The result comes back in EAX, all else unchanged. A number that nothing answers
 * comes back as -ENOSYS.
 */
#define VMI_HYPERCALL_INSTRUCTION_SIZE 3u

/* Own numbers lie far from the calls': 'V' in the top byte. */
#define VMI_HYPERCALL_INIT  0x56000000u /* EDX: linear address of the ROM; EAX: 0, or negative */
#define VMI_HYPERCALL_NULL  0x56000001u /* nothing; EAX: 0. What a hypercall costs at least */
#define VMI_HYPERCALL_TRACE 0x56000100u /* + a call's number: the guest is about to make it */

/* What SetInitialAPState points at, as Linux has it: not packed, 90 bytes used. */
struct vmi_ap_state {
	uint32_t cr0, cr2, cr3, cr4;
	uint64_t efer;
	uint32_t eip, eflags;
	uint32_t eax, ebx, ecx, edx, esp, ebp, esi, edi;
	uint16_t cs, ss, ds, es, fs, gs, ldtr;
	uint16_t gdtr_limit;
	uint32_t gdtr_base, idtr_base;
	uint16_t idtr_limit;
};

_Static_assert(offsetof(struct vmi_ap_state, eip) == 24, "vmi_ap_state");
_Static_assert(offsetof(struct vmi_ap_state, cs) == 64, "vmi_ap_state");
_Static_assert(offsetof(struct vmi_ap_state, gdtr_base) == 80, "vmi_ap_state");
_Static_assert(offsetof(struct vmi_ap_state, idtr_limit) == 88, "vmi_ap_state");

/* How a guest, and the ROM, recognize Vellum. */
#define VELLUM_CPUID_BASE      0x40000000u /* EAX: last leaf; EBX, ECX, EDX: the signature */
#define VELLUM_CPUID_INTERFACE 0x40000001u /* EAX: VELLUM_INTERFACE_VERSION */
#define VELLUM_CPUID_EXITS     0x40000002u
#define VELLUM_CPUID_MAX       VELLUM_CPUID_EXITS

#define VELLUM_SIGNATURE_EBX 0x6c6c6556u /* "Vell" */
#define VELLUM_SIGNATURE_ECX 0x65566d75u /* "umVe" */
#define VELLUM_SIGNATURE_EDX 0x6d756c6cu /* "llum" */

#define VELLUM_INTERFACE_VERSION 1u

/*
 * Leaf VELLUM_CPUID_EXITS. In: ECX is the index of a neutral exit reason, or this for
 * the sum of all. Out: EDX:EAX exits on this processor so far, the one that CPUID
 * makes included; ECX:EBX the cycles spent in them.
 */
#define VELLUM_CPUID_EXITS_ALL 0xffffffffu

#endif
