/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an APIC call (63, 64) that takes another register than the one asked for, needs the
 * guest to have the APIC mapped where it is, or forgets an EOI.
 * Manual: docs/vmi.md, the calls: Linux passes a register's offset, the specification speaks
 * of its address, and the last twelve bits are the same. SDM volume 3A, 11.4.1.
 * Vendors: no difference.
 * Cannot tell apart: a call from one that the guest's own access would do as well.
 */
#include "apic.h"
#include "guest.h"
#include "irq.h"
#include "processors.h"
#include "pv.h"

const char guest_name[] = "vmi_calls_apic";

#define OFFSET(address) ((address)&0xfffu)
#define PDE32_LARGE	0x87u
#define LIKE_INIT	0xfffff500u
#define ELSEWHERE	(0xfee00000ull ^ 0xfe000000ull)
#define MSR_X2APIC_TPR	0x808u
#define ABOVE_4G	BIT(32)
#define BASE_ENABLED	BIT(11)
#define BASE_X2APIC	BIT(10)
#define CPUID_X2APIC	BIT(21) /* ECX */
#define APIC_PDE	(APIC_ID >> 22)

static volatile unsigned int taken;

static void check_read(uint32_t reg)
{
	uint32_t wanted = *apic_register(0xfee00000u | reg);

	EXPECT_EQ("APICRead of an offset", (uint32_t)VMI(APICRead, reg), wanted);
	EXPECT_EQ("APICRead of an address", (uint32_t)VMI(APICRead, 0xfee00000u | reg), wanted);
	EXPECT_EQ("APICRead of an odd offset", (uint32_t)VMI(APICRead, reg | 0xc), wanted);
	EXPECT_EQ("APICRead of a fixmap's", (uint32_t)VMI(APICRead, 0xffffb000u | reg), wanted);
}

static void check_write(uint32_t address, uint32_t value)
{
	VMI(APICWrite, OFFSET(address), value);
	EXPECT_EQ("APICWrite to an offset", *apic_register(address), value);
	VMI(APICWrite, address, 0);
	EXPECT_EQ("APICWrite to an address", *apic_register(address), 0);
	VMI(APICWrite, 0xffffb00c | OFFSET(address), value);
	EXPECT_EQ("APICWrite to a fixmap's odd address", *apic_register(address), value);
	check_read(OFFSET(address));
}

typedef void (*apic_write_t)(uint32_t reg, uint32_t value) __attribute__((regparm(2)));
static apic_write_t apic_write;

/* Ends the interrupt by the call, but not by VMI(): that may be what is interrupted. */
static void end_by_call(void)
{
	apic_write(OFFSET(APIC_EOI), 0);
	taken++;
}

/* Without its EOI the first one would keep the others out: they have the same vector. */
static void check_eoi(void)
{
	struct call call;

	pv_aim(VMI_CALL_APICWrite, &call);
	apic_write = (apic_write_t)call.target;
	run_set_handler(VECTOR_LVTT, end_by_call);
	taken = 0;
	for (unsigned int i = 1; i <= 3; i++) {
		VMI(APICWrite, OFFSET(APIC_ICR_HIGH), *apic_register(APIC_ID));
		VMI(APICWrite, OFFSET(APIC_ICR), ICR_FIXED | VECTOR_LVTT);
		irq_let_in();
		EXPECT_EQ("interrupts by ICR", taken, i);
	}
}

static void take_nmi(void)
{
	taken++;
}

/* What has an INIT's bits, or nearly so, and is none. */
static void check_no_commands(void)
{
	VMI(APICWrite, OFFSET(APIC_TIMER_COUNT), LIKE_INIT);
	EXPECT_EQ("the timer's count", *apic_register(APIC_TIMER_COUNT), LIKE_INIT);
	*apic_register(APIC_TIMER_COUNT) = 0;
	run_set_handler(VECTOR_NMI, take_nmi);
	taken = 0;
	VMI(APICWrite, OFFSET(APIC_ICR_HIGH), *apic_register(APIC_ID));
	VMI(APICWrite, OFFSET(APIC_ICR), ICR_NMI);
	wait_a_while();
	EXPECT_EQ("NMIs by ICR", taken, 1);
}

/* Linux maps it in its fixmap only: nothing is where the APIC is. */
static void check_unmapped(void)
{
	uint32_t *directory, wanted = *apic_register(APIC_VERSION), found, entry;

	asm volatile("mov %%cr3, %0" : "=r"(directory));
	entry = directory[APIC_PDE];
	directory[APIC_PDE] = 0;
	asm volatile("mov %0, %%cr3" ::"r"(directory) : "memory");
	found = (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION));
	directory[APIC_PDE] = entry;
	EXPECT_EQ("APICRead, not mapped", found, wanted);
}

/*
 * The window shows no APIC that is elsewhere or off; one in x2APIC mode is its MSRs. One that is
 * back at its place is at the window again.
 */
static void check_moved(void)
{
	uint32_t version = (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION));
	uint64_t base = 0;

	EXPECT_EQ("RDMSR", msr_read(MSR_APIC_BASE, &base), DONE);
	EXPECT_EQ("APIC moved", msr_write(MSR_APIC_BASE, base ^ ELSEWHERE), DONE);
	EXPECT_EQ("APICRead, moved", (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION)), ~0u);
	VMI(APICWrite, OFFSET(APIC_TPR), 0x30);
	EXPECT_EQ("APIC back", msr_write(MSR_APIC_BASE, base), DONE);
	EXPECT_EQ("APICRead, back", (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION)), version);
	EXPECT_EQ("APICWrite, moved", *apic_register(APIC_TPR), 0);
	check_write(APIC_TPR, 0x30);
	*apic_register(APIC_TPR) = 0;
	if (msr_write(MSR_APIC_BASE, base | ABOVE_4G) == DONE && rdmsr(MSR_APIC_BASE) & ABOVE_4G)
		EXPECT_EQ("APICRead, above 4 GiB", (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION)),
			  ~0u);
	EXPECT_EQ("APIC back again", msr_write(MSR_APIC_BASE, base), DONE);
}

/* As MSRs, then off: QEMU does not turn an APIC on again, so this comes last. */
static void check_other_modes(void)
{
	uint32_t version = *apic_register(APIC_VERSION);
	uint64_t base = rdmsr(MSR_APIC_BASE);

	if (leaf_read(CPUID_FEATURES, 0).ecx & CPUID_X2APIC) {
		EXPECT_EQ("x2APIC", msr_write(MSR_APIC_BASE, base | BASE_X2APIC), DONE);
		EXPECT_EQ("APICRead, x2APIC", (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION)),
			  version);
		VMI(APICWrite, OFFSET(APIC_TPR), 0x30);
		EXPECT_EQ("APICWrite, x2APIC", rdmsr(MSR_X2APIC_TPR), 0x30);
	}
	EXPECT_EQ("APIC off", msr_write(MSR_APIC_BASE, base & ~(uint64_t)BASE_ENABLED), DONE);
	EXPECT_EQ("APICRead, off", (uint32_t)VMI(APICRead, OFFSET(APIC_VERSION)), ~0u);
	VMI(APICWrite, OFFSET(APIC_TPR), 0x30);
}

/* Registers that are none, and all that a wild guest has. */
static void check_wild(void)
{
	static const uint32_t wild[] = {0x3f4, 0x400, 0xfff, 0x1000, 0x80000001, ~0u};

	for (unsigned int i = 0; i < ARRAY_SIZE(wild); i++)
		VMI(APICRead, wild[i] & ~0xfu);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	for (unsigned int i = 0; i < 8; i++) {
		check_read(OFFSET(APIC_ID));
		check_read(OFFSET(APIC_VERSION));
		check_read(OFFSET(APIC_SPURIOUS));
		check_write(APIC_TPR, 0x30);
		*apic_register(APIC_TPR) = 0;
		check_write(APIC_ICR_HIGH, 0x5a000000);
		check_eoi();
		check_wild();
		check_no_commands();
	}
	/* One of several may not move. What is off or in x2APIC mode is to be the first that moves.
	 */
	if (!told("two") && !told("pae"))
		check_moved();
	if (!told("pae"))
		check_unmapped();
	if (!told("two"))
		check_other_modes();
}
