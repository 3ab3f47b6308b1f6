/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that reads where the host saves its state (VM_HSAVE_PA), moves it, or
 * switches SVM off under Vellum (VM_CR); that learns that there is VT-x; that puts
 * something else where Vellum lies (TOP_MEM and others); that talks to a hypervisor below
 * Vellum; a #GP that changes registers or RIP.
 * Manual: APM volume 2, 15.30; a processor without SVM has none of these: #GP (3.2.1).
 * SDM volume 3D, appendix A; volume 3C, 24.7.
 * Vendors: Intel's are IA32_FEATURE_CONTROL and 480h to 493h.
 * Cannot tell apart: an MSR that is refused by Vellum and one that is refused by the
 * processor; the exit counters show that Vellum saw it.
 */
#include "guest.h"

const char guest_name[] = "msr_hidden";

#define FEATURE_CONTROL 0x3au
#define FIRST_VMX	0x480u
#define LAST_VMX	0x493u

static const uint32_t synthetic[] = {0x40000000, 0x4b564d00};
static const uint32_t hidden[] = {0xc0010114, 0xc0010115, 0xc0010116, 0xc0010117, 0xc0010118};

/* SYSCFG, IORRs, TOP_MEM, TOP_MEM2, MMIO configuration, SMM: may be read, not written */
static const uint32_t kept[] = {0xc0010010, 0xc0010016, 0xc0010019, 0xc001001a,
				0xc001001d, 0xc0010058, 0xc0010112, 0xc0010113};

static void expect_gp(uint32_t msr, const uint8_t *code, enum exit_reason reason)
{
	struct state state = state_for(code);
	uint64_t before = exits(reason);

	state.rax = 0x11223344;
	state.rdx = 0x55667788;
	state.rcx = msr;
	run(&state);
	if (state.vector != VECTOR_GP)
		fail(__FILE__, __LINE__, "MSR %x: vector %llu", msr, state.vector);
	EXPECT_EQ("error code", state.error, 0);
	EXPECT_EQ("RIP", state.rip, (uint32_t)code);
	EXPECT_EQ("EAX", state.rax, 0x11223344);
	EXPECT_EQ("EDX", state.rdx, 0x55667788);
	EXPECT_EQ("ECX", state.rcx, msr);
	EXPECT_EQ("exits", exits(reason), before + 1);
}

static const uint8_t read[] = {0x0f, 0x32, INT_DONE}, write[] = {0x0f, 0x30, INT_DONE};

static void expect_hidden(uint32_t msr)
{
	expect_gp(msr, read, EXIT_RDMSR);
	expect_gp(msr, write, EXIT_WRMSR);
}

static void check_intel(void)
{
	expect_hidden(FEATURE_CONTROL);
	for (uint32_t msr = FIRST_VMX; msr <= LAST_VMX; msr++)
		expect_hidden(msr);
}

static void check_amd(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++)
		expect_hidden(hidden[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++)
		expect_gp(kept[i], write, EXIT_WRMSR);
}

void guest_main(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(synthetic); i++)
		expect_hidden(synthetic[i]);
	if (is_intel())
		check_intel();
	else
		check_amd();
}
