/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions that C has no words for, and the registers' bits. */
#ifndef VELLUM_CORE_CPU_H
#define VELLUM_CORE_CPU_H

#include "lib/types.h"

/* Control registers: AMD64 APM volume 2, 3.1; Intel SDM volume 3A, 2.5 */
#define CR0_PE BIT(0)
#define CR0_TS BIT(3)
#define CR0_ET BIT(4)
#define CR0_NE BIT(5)
#define CR0_WP BIT(16)
#define CR0_NW BIT(29)
#define CR0_CD BIT(30)
#define CR0_PG BIT(31)

#define CR4_VME	       BIT(0)
#define CR4_PVI	       BIT(1)
#define CR4_TSD	       BIT(2)
#define CR4_DE	       BIT(3)
#define CR4_PSE	       BIT(4)
#define CR4_PAE	       BIT(5)
#define CR4_MCE	       BIT(6)
#define CR4_PGE	       BIT(7)
#define CR4_PCE	       BIT(8)
#define CR4_OSFXSR     BIT(9)
#define CR4_OSXMMEXCPT BIT(10)
#define CR4_UMIP       BIT(11)
#define CR4_LA57       BIT(12)
#define CR4_VMXE       BIT(13)
#define CR4_SMXE       BIT(14)
#define CR4_FSGSBASE   BIT(16)
#define CR4_PCIDE      BIT(17)
#define CR4_OSXSAVE    BIT(18)
#define CR4_SMEP       BIT(20)
#define CR4_SMAP       BIT(21)
#define CR4_PKE	       BIT(22)
#define CR4_CET	       BIT(23)
#define CR4_FRED       BIT(32)

/* RFLAGS: APM volume 1, 3.1.4 */
#define RFLAGS_RESERVED BIT(1) /* reads as 1 */
#define RFLAGS_TF	BIT(8)
#define RFLAGS_IF	BIT(9)
#define RFLAGS_RF	BIT(16)
#define RFLAGS_VM	BIT(17)
#define RFLAGS_AC	BIT(18)

#define DR6_INITIAL 0xffff0ff0ull
#define DR6_BS	    BIT(14) /* single step */
#define DR6_BT	    BIT(15) /* a task whose TSS says so was entered */
#define DR7_INITIAL 0x400ull
#define DR7_GD	    BIT(13) /* #DB on any access to a debug register */

/* MSRs that belong to no vendor's virtualization: APM volume 2, appendix A */
#define MSR_APIC_BASE	  0x0000001bu
#define MSR_MTRR_CAP	  0x000000feu
#define MSR_MTRR_FIX64K	  0x00000250u
#define MSR_MTRR_FIX16K	  0x00000258u
#define MSR_MTRR_FIX4K	  0x00000268u
#define MSR_MTRR_VARIABLE 0x00000200u /* base, mask, base, mask, ... */
#define MSR_MTRR_DEF_TYPE 0x000002ffu
#define MSR_MISC_ENABLE	  0x000001a0u
#define MSR_PAT		  0x00000277u
#define MSR_EFER	  0xc0000080u

#define MISC_ENABLE_XD_DISABLE BIT(34)

#define EFER_SCE      BIT(0)
#define EFER_LME      BIT(8)
#define EFER_LMA      BIT(10)
#define EFER_NXE      BIT(11)
#define EFER_SVME     BIT(12)
#define EFER_FFXSR    BIT(14)
#define EFER_TCE      BIT(15)
#define EFER_MCOMMIT  BIT(17)
#define EFER_INTWB    BIT(18)
#define EFER_UAIE     BIT(20)
#define EFER_AUTOIBRS BIT(21)

#define PAT_INITIAL 0x0007040600070406ull

/* Exceptions: APM volume 2, 8.2 */
enum exception_vector {
	VECTOR_DB = 1,
	VECTOR_NMI = 2,
	VECTOR_BP = 3,
	VECTOR_OF = 4,
	VECTOR_UD = 6,
	VECTOR_DF = 8,
	VECTOR_TS = 10,
	VECTOR_NP = 11,
	VECTOR_SS = 12,
	VECTOR_GP = 13,
	VECTOR_PF = 14,
	VECTOR_AC = 17,
	VECTOR_MC = 18,
	FIRST_INTERRUPT = 32,
	EXCEPTION_COUNT = 32,
};

/* CPUID: leaves and bits that Vellum looks at (APM volume 3, appendix E) */
#define CPUID_VENDOR		 0x00000000u
#define CPUID_FEATURES		 0x00000001u
#define CPUID_1_EBX_APIC_SHIFT	 24 /* initial APIC id */
#define CPUID_1_ECX_DTES64	 BIT(2)
#define CPUID_1_ECX_DS_CPL	 BIT(4)
#define CPUID_1_ECX_VMX		 BIT(5)
#define CPUID_1_ECX_SMX		 BIT(6)
#define CPUID_1_ECX_OSXSAVE	 BIT(27)
#define CPUID_1_ECX_HYPERVISOR	 BIT(31)
#define CPUID_1_EDX_MTRR	 BIT(12)
#define CPUID_1_EDX_DS		 BIT(21) /* debug store: what PEBS and BTS write to */
#define CPUID_THERMAL		 0x00000006u
#define CPUID_6_EAX_HFI		 BIT(19) /* a table that the hardware writes to memory */
#define CPUID_6_EAX_DIRECTOR	 BIT(23) /* more of that table */
#define CPUID_STRUCTURED	 0x00000007u
#define CPUID_1_ECX_PCID	 BIT(17)
#define CPUID_7_EBX_INVPCID	 BIT(10)
#define CPUID_7_ECX_PKU		 BIT(3)
#define CPUID_7_ECX_CET_SS	 BIT(7)
#define CPUID_7_ECX_LA57	 BIT(16)
#define CPUID_7_ECX_PKS		 BIT(31)
#define CPUID_7_EBX_PT		 BIT(25) /* Intel processor trace */
#define CPUID_7_ECX_OSPKE	 BIT(4)
#define CPUID_7_EDX_PCONFIG	 BIT(18)
#define CPUID_7_1_EAX_FRED	 BIT(17)
#define CPUID_7_1_EAX_MSRLIST	 BIT(27)
#define CPUID_7_1_ECX_MSR_IMM	 BIT(5)
#define CPUID_7_1_EDX_USER_MSR	 BIT(15)
#define CPUID_PROCESSOR_TRACE	 0x00000014u
#define CPUID_HYPERVISOR	 0x40000000u
#define CPUID_EXT_MAX		 0x80000000u
#define CPUID_EXT_FEATURES	 0x80000001u
#define CPUID_EXT1_ECX_SVM	 BIT(2)
#define CPUID_EXT1_ECX_SKINIT	 BIT(12)
#define CPUID_EXT1_ECX_TCE	 BIT(17)
#define CPUID_EXT1_EDX_SYSCALL	 BIT(11)
#define CPUID_EXT1_EDX_NX	 BIT(20)
#define CPUID_EXT1_EDX_FFXSR	 BIT(25)
#define CPUID_EXT1_EDX_PAGE1GB	 BIT(26)
#define CPUID_EXT_ADDRESS_SIZES	 0x80000008u
#define CPUID_EXT8_EAX_PHYSICAL	 0xffu /* bits of a physical address */
#define CPUID_EXT8_EBX_INVLPGB	 BIT(3)
#define CPUID_EXT8_EBX_MCOMMIT	 BIT(8)
#define CPUID_EXT8_EBX_INTWB	 BIT(13)
#define CPUID_SVM		 0x8000000au
#define CPUID_ENCRYPTION	 0x8000001fu /* SME and SEV: C-bits are not for nested addresses */
#define CPUID_EXT_FEATURES_2	 0x80000021u
#define CPUID_EXT21_EAX_UAI	 BIT(7)
#define CPUID_EXT21_EAX_AUTOIBRS BIT(8)

/* As the instruction leaves the registers: the upper halves are 0. */
struct cpuid_result {
	uint64_t eax, ebx, ecx, edx;
};

static inline struct cpuid_result cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_result r;

	asm volatile("cpuid"
		     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
		     : "a"(leaf), "c"(subleaf));
	return r;
}

/* The largest page that this processor's four-level page tables can map, in bytes. */
static inline uint64_t cpu_largest_page(void)
{
	if (cpuid(CPUID_EXT_FEATURES, 0).edx & CPUID_EXT1_EDX_PAGE1GB)
		return 1 * GIB;
	return 2 * MIB;
}

static inline uint64_t rdtsc(void)
{
	uint64_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

/* Into memory, where its halves need not be put together first. */
static inline void rdtsc_to(uint64_t *tsc)
{
	uint32_t *halves = (uint32_t *)tsc;

	asm volatile("rdtsc" : "=a"(halves[0]), "=d"(halves[1]));
}

/* The low half, for what takes less than 2^32 ticks. */
static inline uint32_t rdtsc_low(void)
{
	uint32_t low;

	asm volatile("rdtsc" : "=a"(low)::"edx");
	return low;
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	asm volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
		     : "memory");
}

static inline uint64_t read_cr2(void)
{
	uint64_t value;

	asm volatile("mov %%cr2, %0" : "=r"(value));
	return value;
}

static inline void write_cr2(uint64_t value)
{
	asm volatile("mov %0, %%cr2" ::"r"(value));
}

static inline uint64_t read_cr3(void)
{
	uint64_t value;

	asm volatile("mov %%cr3, %0" : "=r"(value));
	return value;
}

static inline uint64_t read_cr0(void)
{
	uint64_t value;

	asm volatile("mov %%cr0, %0" : "=r"(value));
	return value;
}

static inline void write_cr0(uint64_t value)
{
	asm volatile("mov %0, %%cr0" ::"r"(value) : "memory");
}

static inline uint64_t read_cr4(void)
{
	uint64_t value;

	asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

static inline void write_cr4(uint64_t value)
{
	asm volatile("mov %0, %%cr4" ::"r"(value) : "memory");
}

static inline uint64_t read_dr6(void)
{
	uint64_t value;

	asm volatile("mov %%dr6, %0" : "=r"(value));
	return value;
}

static inline void write_dr6(uint64_t value)
{
	asm volatile("mov %0, %%dr6" ::"r"(value));
}

/* DR0 to DR3, as INIT leaves them */
static inline void clear_breakpoints(void)
{
	asm volatile(
		"mov %0, %%dr0; mov %0, %%dr1; mov %0, %%dr2; mov %0, %%dr3" ::"r"((uint64_t)0));
}

static inline void read_breakpoints(uint64_t address[4])
{
	asm volatile("mov %%dr0, %0; mov %%dr1, %1; mov %%dr2, %2; mov %%dr3, %3"
		     : "=&r"(address[0]), "=&r"(address[1]), "=&r"(address[2]), "=&r"(address[3]));
}

static inline void write_breakpoints(const uint64_t address[4])
{
	asm volatile("mov %0, %%dr0; mov %1, %%dr1; mov %2, %%dr2; mov %3, %%dr3" ::"r"(address[0]),
		     "r"(address[1]), "r"(address[2]), "r"(address[3]));
}

static inline void write_dr7(uint64_t value)
{
	asm volatile("mov %0, %%dr7" ::"r"(value));
}

/* 512 bytes at a multiple of 16, XMM registers included: these want CR4.OSFXSR. */
static inline void fxsave(void *image)
{
	uint64_t cr4 = read_cr4();

	write_cr4(cr4 | CR4_OSFXSR);
	asm volatile("fxsave (%0)" ::"r"(image) : "memory");
	write_cr4(cr4);
}

/* Such an image. What is reserved of MXCSR has to be 0 there. */
static inline void fxrstor(const void *image)
{
	uint64_t cr4 = read_cr4();

	write_cr4(cr4 | CR4_OSFXSR);
	asm volatile("fxrstor (%0)" ::"r"(image) : "memory");
	write_cr4(cr4);
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t value;

	asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint16_t inw(uint16_t port)
{
	uint16_t value;

	asm volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint32_t inl(uint16_t port)
{
	uint32_t value;

	asm volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void outb(uint16_t port, uint8_t value)
{
	asm volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static inline void outw(uint16_t port, uint16_t value)
{
	asm volatile("outw %0, %1" ::"a"(value), "Nd"(port));
}

static inline void outl(uint16_t port, uint32_t value)
{
	asm volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

static inline void wbinvd(void)
{
	asm volatile("wbinvd" ::: "memory");
}

static inline void cpu_relax(void)
{
	asm volatile("pause");
}

/* Stops this processor for good; an NMI only makes it halt again. */
_Noreturn static inline void cpu_stop(void)
{
	for (;;)
		asm volatile("cli; hlt");
}

/*
 * RDMSR and WRMSR of a register that may not exist, or of a value that may be
 * refused: -EINVAL instead of #GP.
 */
int rdmsr_checked(uint32_t msr, uint64_t *value);
int wrmsr_checked(uint32_t msr, uint64_t value);

/* MOV to CR4, the same way. */
int write_cr4_checked(uint64_t value);

/* XSETBV, the same way. CR4.OSXSAVE must be set. */
int xsetbv_checked(uint32_t index, uint64_t value);

#endif
