/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a CPUID leaf that shows the guest virtualization it cannot use, or a debug
 * store that would write into Vellum; that hides more than that, or whose registers come
 * from another leaf.
 * Manual: APM volume 3, appendix E: 8000_0001h ECX.2 SVM, ECX.12 SKINIT, leaf
 * 8000_000Ah. 4000_0000h and up are software's (volume 2, 15.33 keeps ECX.31 for it).
 * Vendors: Intel's bit is 0000_0001h ECX.5 (VMX); no leaf of its own.
 * Cannot tell apart: a leaf whose value on this emulator is 0 in any case.
 */
#include "guest.h"

const char guest_name[] = "cpuid_leaves";

/* What Vellum changes on purpose is taken out; the native run takes it out as well. */
static void say_leaf(uint32_t leaf, uint32_t subleaf)
{
	struct leaf r = leaf_read(leaf, subleaf);

	if (leaf == CPUID_FEATURES) {
		r.ecx &= ~(uint32_t)(CPUID_1_ECX_HYPERVISOR | CPUID_1_ECX_VMX | CPUID_1_ECX_SMX |
				     CPUID_1_ECX_DTES64 | CPUID_1_ECX_DS_CPL);
		r.edx &= ~(uint32_t)CPUID_1_EDX_DS;
	}
	if (leaf == CPUID_STRUCTURED)
		r.ebx &= ~(uint32_t)CPUID_7_EBX_PT;
	if (leaf == CPUID_EXT_FEATURES)
		r.ecx &= ~(uint32_t)(CPUID_EXT1_ECX_SVM | CPUID_EXT1_ECX_SKINIT);
	if (leaf == CPUID_SVM || leaf == CPUID_PROCESSOR_TRACE)
		return;
	say_same("%08x.%x %08x %08x %08x %08x", leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
}

static void say_leaves(uint32_t first)
{
	uint32_t last = leaf_read(first, 0).eax;

	EXPECT(last - first < 64);
	for (uint32_t leaf = first; leaf <= last + 2; leaf++)
		for (uint32_t subleaf = 0; subleaf < 4; subleaf++)
			say_leaf(leaf, subleaf);
}

static void check_virtualization(void)
{
	struct leaf svm = leaf_read(CPUID_SVM, 0);

	EXPECT_EQ("debug store", leaf_read(CPUID_FEATURES, 0).edx & CPUID_1_EDX_DS, 0);
	EXPECT_EQ("SMX bit", leaf_read(CPUID_FEATURES, 0).ecx & CPUID_1_ECX_SMX, 0);
	EXPECT_EQ("VMX bit", leaf_read(CPUID_FEATURES, 0).ecx & CPUID_1_ECX_VMX, 0);
	EXPECT_EQ("hypervisor bit", leaf_read(CPUID_FEATURES, 0).ecx >> 31, 1);
	EXPECT_EQ("SVM bit", leaf_read(CPUID_EXT_FEATURES, 0).ecx & CPUID_EXT1_ECX_SVM, 0);
	EXPECT_EQ("SKINIT bit", leaf_read(CPUID_EXT_FEATURES, 0).ecx & CPUID_EXT1_ECX_SKINIT, 0);
	EXPECT_EQ("SVM leaf", svm.eax | svm.ebx | svm.ecx | svm.edx, 0);
}

static void check_own_leaves(void)
{
	struct leaf none = leaf_read(VELLUM_CPUID_MAX + 1, 0);
	struct leaf interface = leaf_read(VELLUM_CPUID_INTERFACE, 0);

	EXPECT_EQ("last leaf", leaf_read(VELLUM_CPUID_BASE, 0).eax, VELLUM_CPUID_MAX);
	EXPECT_EQ("interface", interface.eax, VELLUM_INTERFACE_VERSION);
	EXPECT_EQ("interface", interface.ebx | interface.ecx | interface.edx, 0);
	EXPECT_EQ("leaf behind the last", none.eax | none.ebx | none.ecx | none.edx, 0);
}

void guest_main(void)
{
	say_leaves(0);
	say_leaves(CPUID_EXT_MAX);
	if (told("native"))
		return;
	EXPECT(under_vellum());
	check_virtualization();
	check_own_leaves();
}
