/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a call of the processor's registers (0 to 2, 15 to 28, 61) that is not the native
 * instruction: another register, half of a value, a result where VMI has none.
 * Manual: docs/vmi.md, the calls; VMI's registers are EAX, EDX, ECX in this order, but for
 * the MSR calls, which have the instructions'.
 * Vendors: no difference.
 * Cannot tell apart: a WBINVD from nothing; a TLB that was flushed from one that an exit has
 * emptied.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_calls_cpu";

#define MSR_SYSENTER_ESP 0x175u
#define MSR_TSC		 0x010u
#define MSR_WIDE	 0xc0000082u /* LSTAR */
#define WIDE_VALUE	 0xffff800012345678ull
#define CR0_TS		 BIT(3)
#define CR0_AM		 BIT(18)
#define CR4_TSD		 BIT(2)
#define CR4_PGE		 BIT(7)
#define FLAG_IOPL	 0x3000u
#define DR7_FIXED	 0x400u
#define DR6_FIXED	 0xffff0ff0u
#define LOW(value)	 ((uint32_t)(value))

#define READ(what)                                                \
	({                                                        \
		uint32_t value;                                   \
		asm volatile("mov %%" what ", %0" : "=r"(value)); \
		value;                                            \
	})
#define WRITE(what, value) asm volatile("mov %0, %%" what ::"r"((uint32_t)(value)) : "memory")

static void check_cpuid(void)
{
	static const uint32_t leaves[][2] = {
		{0, 0},		 {1, 0},	 {4, 0},   {4, 1},
		{0xd, 0},	 {0xd, 1},	 {0xd, 2}, {VELLUM_CPUID_BASE, 0},
		{0x80000000, 0}, {0x80000008, 0}};

	for (unsigned int i = 0; i < ARRAY_SIZE(leaves); i++) {
		struct leaf wanted = leaf_read(leaves[i][0], leaves[i][1]);
		struct call call = pv_canaries();

		pv_aim(VMI_CALL_CPUID, &call);
		call.eax = leaves[i][0];
		call.ecx = leaves[i][1];
		pv_run("CPUID", &call, PV_STD | PV_EBX);
		EXPECT_EQ("EAX", call.eax, wanted.eax);
		EXPECT_EQ("EBX", call.ebx, wanted.ebx);
		EXPECT_EQ("ECX", call.ecx, wanted.ecx);
		EXPECT_EQ("EDX", call.edx, wanted.edx);
	}
}

/* In the instructions' registers: ECX is the number, EDX:EAX the value. */
static void check_msr(void)
{
	uint64_t value;

	VMI(WRMSR, 0x87654321, 0, MSR_SYSENTER_ESP);
	EXPECT_EQ("RDMSR's vector", msr_read(MSR_SYSENTER_ESP, &value), DONE);
	EXPECT_EQ("the MSR", value, 0x87654321);
	EXPECT_EQ("RDMSR", VMI(RDMSR, 0, 0, MSR_SYSENTER_ESP), value);
	value = rdmsr(MSR_EFER);
	EXPECT_EQ("RDMSR", VMI(RDMSR, 0, 0, MSR_EFER), value);
	VMI(WRMSR, LOW(WIDE_VALUE), LOW(WIDE_VALUE >> 32), MSR_WIDE);
	EXPECT_EQ("a wide MSR", rdmsr(MSR_WIDE), WIDE_VALUE);
	EXPECT_EQ("RDMSR, wide", VMI(RDMSR, 0, 0, MSR_WIDE), WIDE_VALUE);
}

static void check_cr0(void)
{
	static const uint64_t bits[] = {CR0_TS, CR0_WP, CR0_AM, CR0_NE};
	uint32_t old = cr0_read();

	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++) {
		VMI(SetCR0, old ^ LOW(bits[i]));
		EXPECT_EQ("CR0", cr0_read(), old ^ LOW(bits[i]));
		EXPECT_EQ("GetCR0", LOW(VMI(GetCR0)), cr0_read());
	}
	cr0_write(old | LOW(CR0_TS));
	VMI(CLTS);
	EXPECT_EQ("CR0 behind CLTS", cr0_read(), old & ~LOW(CR0_TS));
	cr0_write(old);
}

static void check_cr2(void)
{
	VMI(SetCR2, 0xdeadbee1);
	EXPECT_EQ("CR2", READ("cr2"), 0xdeadbee1);
	EXPECT_EQ("GetCR2", LOW(VMI(GetCR2)), 0xdeadbee1);
}

/* With the same tables, whose entry has changed in between. */
static void check_cr3(void)
{
	static uint32_t pages[2][1024] __attribute__((aligned(4096)));
	uint32_t cr3 = READ("cr3"), *entry;
	volatile uint32_t *window = (uint32_t *)WINDOW;

	pages[0][0] = 0x01d;
	pages[1][0] = 0x1ec;
	paging_map_window(0, LOW(pages[0]));
	entry = paging_window_entry(told("pae") ? PAGING_PAE : PAGING_4K, 0);
	EXPECT_EQ("the page", *window, pages[0][0]);
	*entry = *entry - LOW(pages[0]) + LOW(pages[1]);
	VMI(SetCR3, cr3);
	EXPECT_EQ("the page behind SetCR3", *window, pages[1][0]);
	EXPECT_EQ("GetCR3", LOW(VMI(GetCR3)), cr3);
}

static void check_cr4(void)
{
	static const uint64_t bits[] = {CR4_TSD, CR4_PGE};
	uint32_t old = cr4_read();

	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++) {
		VMI(SetCR4, old ^ LOW(bits[i]));
		EXPECT_EQ("CR4", cr4_read(), old ^ LOW(bits[i]));
		EXPECT_EQ("GetCR4", LOW(VMI(GetCR4)), cr4_read());
	}
	cr4_write(old);
}

/* Each register has its number as value; a number without a register must harm nobody. */
static void check_debug(void)
{
	static const uint32_t wild[] = {8, 9, 15, 16, 0x80000000, ~0u};

	for (uint32_t n = 0; n < 4; n++)
		VMI(SetDR, n, 0x1000 + n);
	EXPECT_EQ("DR0", READ("dr0"), 0x1000);
	EXPECT_EQ("DR1", READ("dr1"), 0x1001);
	EXPECT_EQ("DR2", READ("dr2"), 0x1002);
	EXPECT_EQ("DR3", READ("dr3"), 0x1003);
	for (unsigned int i = 0; i < ARRAY_SIZE(wild); i++) {
		VMI(SetDR, wild[i], 0x600d);
		EXPECT_EQ("GetDR of none", LOW(VMI(GetDR, wild[i])), 0);
	}
	for (uint32_t n = 0; n < 4; n++)
		EXPECT_EQ("GetDR", LOW(VMI(GetDR, n)), 0x1000 + n);
	VMI(SetDR, 6, DR6_FIXED | 0xf);
	EXPECT_EQ("DR6", READ("dr6"), DR6_FIXED | 0xf);
	EXPECT_EQ("GetDR of 6", LOW(VMI(GetDR, 6)), DR6_FIXED | 0xf);
	VMI(SetDR, 4, DR6_FIXED | 0x5); /* other names of 6 and 7 */
	EXPECT_EQ("DR6 by 4", READ("dr6"), DR6_FIXED | 0x5);
	VMI(SetDR, 7, DR7_FIXED | 0x1); /* execution at 0x1000, where nothing is */
	EXPECT_EQ("DR7", READ("dr7"), DR7_FIXED | 0x1);
	EXPECT_EQ("GetDR of 7", LOW(VMI(GetDR, 7)), DR7_FIXED | 0x1);
	VMI(SetDR, 5, DR7_FIXED);
	EXPECT_EQ("DR7 by 5", READ("dr7"), DR7_FIXED);
	EXPECT_EQ("GetDR of 5", LOW(VMI(GetDR, 5)), DR7_FIXED);
}

static uint64_t tsc(void)
{
	uint64_t value;

	asm volatile("rdtsc" : "=A"(value));
	return value;
}

static void check_counters(void)
{
	static const uint8_t rdpmc[] = {0x0f, 0x33, INT_DONE};
	struct state native = state_for(rdpmc);

	msr_write(MSR_TSC, BIT(33) + tsc()); /* its upper half is 0 else; QEMU's stays so */
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t before = tsc(), found = VMI(RDTSC);

		EXPECT(before <= found && found <= tsc());
	}
	run(&native);
	if (native.vector == DONE)
		VMI(RDPMC, 0, 0, 0);
}

static uint32_t iopl_after(uint32_t mask)
{
	struct call call = pv_canaries();

	pv_aim(VMI_CALL_SetIOPLMask, &call);
	call.eax = mask;
	pv_run("SetIOPLMask", &call, PV_STD | PV_IOPL);
	return call.eflags & FLAG_IOPL;
}

static void check_iopl(void)
{
	for (uint32_t iopl = 0; iopl < 4; iopl++)
		for (unsigned int i = 0; i < 16; i++) /* with one IOPL before, and another */
			EXPECT_EQ("IOPL", iopl_after(iopl << 12), iopl << 12);
	EXPECT_EQ("IOPL", iopl_after(~FLAG_IOPL), 0);
	EXPECT_EQ("IOPL", iopl_after(~0u), FLAG_IOPL);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	for (unsigned int i = 0; i < 8; i++) {
		check_cpuid();
		check_msr();
		check_cr0();
		check_cr2();
		check_cr3();
		check_cr4();
		check_debug();
		check_counters();
		check_iopl();
		VMI(WBINVD);
	}
}
