/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: with cpuid=boot, a CPUID that still exits when a program has asked, or one that no
 * longer does while only the kernel has; with cpuid=exit, a program that sees another
 * processor than its kernel.
 * Manual: docs/exit-policy.md.
 * Vendors: VT-x has no way to let CPUID run; cpuid=boot is cpuid=exit there.
 * Cannot tell apart: how many exits there were, which the guest can no longer ask; the
 * runner counts them on Vellum's console.
 */
#include "guest.h"

const char guest_name[] = "cpuid_word";

static const uint8_t code[] = {0x0f, 0xa2, INT_DONE};

static struct state user_leaf(uint32_t leaf)
{
	struct state state = state_for_user(code);

	state.rax = leaf;
	run(&state);
	EXPECT_EQ("vector", state.vector, DONE);
	return state;
}

/* What only the processor would say: SVM, VMX. */
static void expect_virtualization(bool there)
{
	uint64_t svm = CPUID_EXT1_ECX_SVM, vmx = CPUID_1_ECX_VMX;

	EXPECT_EQ("SVM for the kernel", leaf_read(CPUID_EXT_FEATURES, 0).ecx & svm,
		  there ? svm : 0);
	EXPECT_EQ("VMX for the kernel", leaf_read(CPUID_FEATURES, 0).ecx & vmx, 0);
	EXPECT_EQ("Vellum's leaves", under_vellum(), !there);
}

void guest_main(void)
{
	bool released = told("boot") && !is_intel();
	uint64_t svm = CPUID_EXT1_ECX_SVM;

	expect_virtualization(false);
	EXPECT_EQ("SVM for a program", user_leaf(CPUID_EXT_FEATURES).rcx & svm, released ? svm : 0);
	expect_virtualization(released);
	EXPECT_EQ("again", user_leaf(CPUID_EXT_FEATURES).rcx & svm, released ? svm : 0);
}
