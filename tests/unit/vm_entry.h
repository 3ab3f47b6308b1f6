/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What VM entry checks of the guest in a fake VMCS: SDM volume 3C, 27.2.1.3 and 27.3.1, for
 * an unrestricted guest without virtual-8086 extensions, enclaves and SMM. A guest that
 * fails them ends Vellum, so whatever a module made of the guest has to pass.
 */
#ifndef VELLUM_TESTS_UNIT_VM_ENTRY_H
#define VELLUM_TESTS_UNIT_VM_ENTRY_H

#include "core/cpu.h"
#include "fake_vmcs.h"

#define ENTRY_PHYSICAL_BITS 36
#define ENTRY_CR4_PCIDE	    BIT(17)
#define ENTRY_UNUSABLE	    BIT(16)

static inline uint64_t entry_access(enum vmcs_segment segment)
{
	return *vmcs_segment(VMCS_GUEST_ES_ACCESS, segment);
}

static inline bool entry_limit_is_bad(enum vmcs_segment segment)
{
	uint64_t limit = *vmcs_segment(VMCS_GUEST_ES_LIMIT, segment);
	bool pages = entry_access(segment) & BIT(15);

	return ((limit & 0xfff) != 0xfff && pages) || (limit >> 20 && !pages);
}

/* 27.3.1.2: DS, ES, FS, GS, SS and CS outside of virtual-8086 mode */
static inline const char *code_or_data_failure(enum vmcs_segment segment)
{
	uint64_t access = entry_access(segment);
	unsigned int type = access & 15;
	unsigned int dpl = ACCESS_DPL(access);
	unsigned int ss_dpl = ACCESS_DPL(entry_access(SEGMENT_SS));

	if (segment != SEGMENT_CS && (access & ENTRY_UNUSABLE))
		return NULL;
	if (segment == SEGMENT_CS) {
		if (type != 3 && !((type & 9) == 9))
			return "CS: type";
		if ((type == 9 || type == 11) && dpl != ss_dpl)
			return "CS: DPL is not that of SS";
		if ((type == 13 || type == 15) && dpl > ss_dpl)
			return "CS: DPL of conforming code";
		if ((vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E) && (access & BIT(13)) &&
		    (access & BIT(14)))
			return "CS: L and D";
	} else if (segment == SEGMENT_SS) {
		if (type != 3 && type != 7)
			return "SS: type";
	} else if (!(type & 1) || ((type & 8) && !(type & 2))) {
		return "data segment: type";
	}
	if (segment == SEGMENT_SS && dpl &&
	    ((entry_access(SEGMENT_CS) & 15) == 3 || !(vmcs[VMCS_GUEST_CR0] & CR0_PE)))
		return "SS: DPL";
	if (!(access & BIT(4)) || !(access & BIT(7)) || (access & 0xfffe0f00))
		return "segment: S, P or a reserved bit";
	if (segment != SEGMENT_FS && segment != SEGMENT_GS &&
	    *vmcs_segment(VMCS_GUEST_ES_BASE, segment) >> 32)
		return "segment: base";
	return entry_limit_is_bad(segment) ? "segment: limit and G" : NULL;
}

static inline const char *v86_failure(enum vmcs_segment segment)
{
	uint64_t selector = *vmcs_segment(VMCS_GUEST_ES_SELECTOR, segment);

	if (*vmcs_segment(VMCS_GUEST_ES_BASE, segment) != selector << 4)
		return "v86: base";
	if (*vmcs_segment(VMCS_GUEST_ES_LIMIT, segment) != 0xffff)
		return "v86: limit";
	return entry_access(segment) == 0xf3 ? NULL : "v86: access";
}

static inline const char *system_segment_failure(void)
{
	uint64_t tr = entry_access(SEGMENT_TR), ldtr = entry_access(SEGMENT_LDTR);

	if (*vmcs_segment(VMCS_GUEST_ES_SELECTOR, SEGMENT_TR) & 4)
		return "TR: TI";
	if ((tr & 15) != 11 && ((tr & 15) != 3 || (vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E)))
		return "TR: type";
	if ((tr & (BIT(4) | ENTRY_UNUSABLE)) || !(tr & BIT(7)) || (tr & 0xfffe0f00) ||
	    entry_limit_is_bad(SEGMENT_TR))
		return "TR: access";
	if (ldtr & ENTRY_UNUSABLE)
		return NULL;
	if (*vmcs_segment(VMCS_GUEST_ES_SELECTOR, SEGMENT_LDTR) & 4)
		return "LDTR: TI";
	if ((ldtr & 31) != 2 || !(ldtr & BIT(7)) || (ldtr & 0xfffe0f00) ||
	    entry_limit_is_bad(SEGMENT_LDTR))
		return "LDTR: access";
	return NULL;
}

static inline const char *segment_failure(void)
{
	const char *failure = system_segment_failure();

	for (enum vmcs_segment segment = SEGMENT_ES; segment <= SEGMENT_GS && !failure; segment++)
		failure = vmcs[VMCS_GUEST_RFLAGS] & RFLAGS_VM ? v86_failure(segment)
							      : code_or_data_failure(segment);
	return failure;
}

/* 27.3.1.1 and 27.3.1.6 */
static inline const char *control_register_failure(void)
{
	uint64_t cr0 = vmcs[VMCS_GUEST_CR0], cr4 = vmcs[VMCS_GUEST_CR4];
	uint64_t efer = vmcs[VMCS_GUEST_EFER];
	bool long_mode = vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E;

	if (!(cr0 & CR0_NE) || !(cr4 & CR4_VMXE) || cr0 >> 32)
		return "CR0 or CR4: fixed bits";
	if ((cr0 & CR0_PG) && !(cr0 & CR0_PE))
		return "CR0: PG without PE";
	if (long_mode && (!(cr0 & CR0_PG) || !(cr4 & CR4_PAE)))
		return "long mode without paging or PAE";
	if (!long_mode && (cr4 & ENTRY_CR4_PCIDE))
		return "PCIDE outside of long mode";
	if (vmcs[VMCS_GUEST_CR3] >> ENTRY_PHYSICAL_BITS)
		return "CR3";
	if (!!(efer & EFER_LMA) != long_mode ||
	    ((cr0 & CR0_PG) && !!(efer & EFER_LME) != long_mode))
		return "EFER: LMA and LME";
	for (unsigned int i = 0; (cr0 & CR0_PG) && (cr4 & CR4_PAE) && !long_mode && i < 4; i++) {
		uint64_t entry = vmcs[VMCS_GUEST_PDPTE0 + 2 * i];

		if ((entry & 1) && ((entry & 0x1e6) || entry >> ENTRY_PHYSICAL_BITS))
			return "PDPTE";
	}
	return NULL;
}

/* 27.3.1.4 and 27.3.1.5 */
static inline const char *non_segment_failure(void)
{
	uint64_t rflags = vmcs[VMCS_GUEST_RFLAGS];
	uint64_t blocking = vmcs[VMCS_GUEST_INTERRUPTIBILITY];
	uint64_t debug = vmcs[VMCS_GUEST_PENDING_DEBUG];
	bool steps = (rflags & RFLAGS_TF) && !(vmcs[VMCS_GUEST_DEBUGCTL] & BIT(1));

	if ((rflags & 0xffffffffffc08028) || !(rflags & 2))
		return "RFLAGS: reserved bits";
	if ((rflags & RFLAGS_VM) &&
	    ((vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E) || !(vmcs[VMCS_GUEST_CR0] & CR0_PE)))
		return "RFLAGS: VM";
	if (vmcs[VMCS_GUEST_RIP] >> 32 && (!(vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E) ||
					   !(entry_access(SEGMENT_CS) & ACCESS_LONG)))
		return "RIP";
	if ((blocking & 3) == 3 || blocking & ~0x1full)
		return "interruptibility";
	if ((blocking & BLOCKING_STI) && !(rflags & RFLAGS_IF))
		return "blocking by STI without IF";
	if ((blocking & 3) && !!(debug & PENDING_DEBUG_BS) != steps)
		return "pending single step";
	return NULL;
}

/* 27.2.1.3, and what 27.3.1.5 says of it */
static inline const char *injection_failure(void)
{
	uint64_t event = vmcs[VMCS_ENTRY_INTERRUPTION];
	uint64_t blocking = vmcs[VMCS_GUEST_INTERRUPTIBILITY];
	unsigned int vector = event & 0xff, type = event >> 8 & 7;
	bool has_code = vector == 8 || (vector >= 10 && vector <= 14) || vector == 17;

	if (!(event & BIT(31)))
		return NULL;
	if ((event & 0x7ffff000) || type == 1 || type == 7)
		return "event: type or reserved bits";
	if ((type == 2 && vector != 2) || (type == 3 && vector > 31))
		return "event: vector";
	if (!!(event & BIT(11)) != (type == 3 && has_code && (vmcs[VMCS_GUEST_CR0] & CR0_PE)))
		return "event: error code";
	if (type >= 4 &&
	    (vmcs[VMCS_ENTRY_INSTRUCTION_LENGTH] < 1 || vmcs[VMCS_ENTRY_INSTRUCTION_LENGTH] > 15))
		return "event: instruction length";
	if (type == 0 && (!(vmcs[VMCS_GUEST_RFLAGS] & RFLAGS_IF) || (blocking & 3)))
		return "event: interrupts are blocked";
	if (type == 2 && (blocking & 3))
		return "event: NMIs are blocked";
	if (type == 2 && (blocking & BLOCKING_NMI) && (vmcs[VMCS_PIN_CONTROLS] & PIN_VIRTUAL_NMIS))
		return "event: virtual NMIs are blocked";
	return NULL;
}

/* The check that the next entry would fail, NULL for none. */
static inline const char *vm_entry_failure(void)
{
	const char *failure = control_register_failure();

	if (!failure)
		failure = segment_failure();
	if (!failure)
		failure = non_segment_failure();
	return failure ? failure : injection_failure();
}

static inline void assert_can_enter(void)
{
	const char *failure = vm_entry_failure();

	if (failure)
		fail_msg("VM entry would fail: %s", failure);
}

/* Flat 32-bit protected mode at CPL 0, as Vellum starts a guest. */
static inline void make_enterable_guest(void)
{
	memset(vmcs, 0, sizeof(vmcs));
	vmcs_writes = 0;
	for (enum vmcs_segment segment = SEGMENT_ES; segment <= SEGMENT_GS; segment++) {
		*vmcs_segment(VMCS_GUEST_ES_SELECTOR, segment) = 0x18;
		*vmcs_segment(VMCS_GUEST_ES_ACCESS, segment) = 0xc093;
		*vmcs_segment(VMCS_GUEST_ES_LIMIT, segment) = UINT32_MAX;
	}
	*vmcs_segment(VMCS_GUEST_ES_SELECTOR, SEGMENT_CS) = 0x10;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) = 0xc09b;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_LDTR) = 0x10000;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_TR) = 0x8b;
	*vmcs_segment(VMCS_GUEST_ES_LIMIT, SEGMENT_TR) = 0x67;
	vmcs[VMCS_GUEST_CR0] = CR0_PE | CR0_ET | CR0_NE;
	vmcs[VMCS_GUEST_CR4] = CR4_VMXE;
	vmcs[VMCS_CR0_MASK] = CR0_NE;
	vmcs[VMCS_CR4_MASK] = CR4_VMXE;
	vmcs[VMCS_GUEST_RFLAGS] = 2;
	vmcs[VMCS_GUEST_RIP] = 0x1000;
	vmcs[VMCS_LINK_POINTER] = UINT64_MAX;
}

#endif
