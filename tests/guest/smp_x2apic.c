/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an INIT or STARTUP that is lost, or gets past Vellum, when the sender's APIC is in
 * x2APIC mode.
 * Manual: SDM volume 3A, 11.12.9 (the ICR is one MSR of 64 bits); APM volume 2, 16.13.
 * Vendors: AMD-V: the MSR is guarded where there are several processors, and nothing else of
 * the APIC's; VT-x: no exit at the sender.
 * Cannot tell apart: as smp_start. QEMU 7.2 has no x2APIC.
 */
#include "apic.h"
#include "guest.h"
#include "processors.h"

const char guest_name[] = "smp_x2apic";

#define CPUID_1_ECX_X2APIC BIT(21)
#define APIC_BASE_X2APIC   BIT(10)
#define MSR_X2APIC_TPR	   0x808u
#define MSR_X2APIC_ICR	   0x830u
#define SENDS		   4u

static void send_x2apic(uint32_t apic_id, uint32_t command)
{
	wrmsr(MSR_X2APIC_ICR, (uint64_t)apic_id << 32 | command);
	wait_a_while();
}

static void check_start(uint32_t other, uint32_t destination, uint32_t shorthand, uint32_t count)
{
	send_x2apic(destination, ICR_INIT | shorthand);
	send_x2apic(destination, ICR_STARTUP | shorthand | START_PAGE);
	await_arrival(other, count);
}

void guest_main(void)
{
	uint32_t other = own_apic_id() ^ 1;
	uint64_t before;

	if (!(leaf_read(CPUID_FEATURES, 0).ecx & CPUID_1_ECX_X2APIC))
		skip("the processor has no x2APIC");
	processors_init();
	wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | APIC_BASE_X2APIC);
	before = under_vellum() ? exits(EXIT_WRMSR) : 0;
	wrmsr(MSR_X2APIC_TPR, 0);
	check_start(other, other, 0, 1);
	check_start(other, 0, ICR_OTHERS, 2);
	if (under_vellum())
		EXPECT_EQ("exits of WRMSR", exits(EXIT_WRMSR) - before, is_intel() ? 0 : SENDS);
}
