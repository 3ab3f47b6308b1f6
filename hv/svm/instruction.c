/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Past the instruction that exited. Processors with the NRIPS feature save where that
 * is; for the others, QEMU's among them, the guest's code is looked at.
 */
#include "svm/instruction.h"
#include "debug/debugger.h"
#include "mm/guest_memory.h"
#include "svm/svm.h"
#include "vmi/vmi.h"

#define PREFIXES_MAX 13 /* 15 bytes, less the two of the shortest opcode */

/* NULL if it can't be read. */
static const uint8_t *instruction_byte(const struct vcpu *vcpu, unsigned int offset)
{
	struct guest_paging paging = svm_guest_paging(vcpu);
	gva_t linear = svm_instruction_address(&vmcb_of(vcpu)->save, offset);
	gpa_t address;

	if (guest_memory_translate(&paging, linear, &address))
		return NULL;
	return guest_memory_find(address, 1);
}

/*
 * Bytes before the opcode. The processor has decoded the instruction, so what stands
 * before the escape byte is prefixes; if it can't be read (another processor has
 * changed the page tables since), there were none.
 */
static unsigned int count_prefixes(const struct vcpu *vcpu)
{
	for (unsigned int n = 0; n <= PREFIXES_MAX; n++) {
		const uint8_t *byte = instruction_byte(vcpu, n);

		if (!byte)
			return 0;
		if (*byte == OPCODE_ESCAPE)
			return n;
	}
	return 0;
}

static bool is_plain(const struct vmcb_save *save)
{
	return save->cr4 & CR4_PAE ? svm_is_plain_pae(save) : svm_is_plain_32bit(save);
}

/* 0F and one more byte for CPUID, RDMSR, WRMSR, INVD, WBINVD; 0F 21 and 23 have a third. */
static unsigned int escaped_length(const struct vcpu *vcpu)
{
	const struct vmcb *vmcb = vmcb_of(vcpu);
	unsigned int length = vmcb->control.exit_code < SVM_EXIT_EXCEPTION ? 3 : 2;

	return length + (is_plain(&vmcb->save) ? 0 : count_prefixes(vcpu));
}

/*
 * 0F 01 D9 for VMMCALL, which is Vellum's own and has no prefixes (docs/vmi.md). PAUSE is
 * F3 90, HLT F4; nobody puts more before them.
 */
static unsigned int instruction_length(const struct vcpu *vcpu)
{
	switch (vmcb_of(vcpu)->control.exit_code) {
	case SVM_EXIT_VMMCALL:
		return VMI_HYPERCALL_INSTRUCTION_SIZE;
	case SVM_EXIT_PAUSE:
		return 2;
	case SVM_EXIT_HLT:
		return 1;
	default:
		return escaped_length(vcpu);
	}
}

/* RF ends with the instruction; TF makes it end in a trap (APM volume 2, 13.1.4). */
static void finish_flags(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.rflags &= ~RFLAGS_RF;
	if (!(vmcb->save.rflags & RFLAGS_TF))
		return;
	if (debugger_is_on && debugger_takes_debug_exception(vcpu, DR6_BS))
		return;
	vmcb->save.dr6 |= DR6_BS;
	vmcb->control.clean &= ~(uint32_t)CLEAN_DRX;
	svm_inject_exception(vcpu, VECTOR_DB, NO_ERROR_CODE);
}

static void go_to(struct vcpu *vcpu, uint64_t rip)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.rip = rip;
	vmcb->control.interrupt_state &= ~INTERRUPT_SHADOW;
	if (vmcb->save.rflags & (RFLAGS_TF | RFLAGS_RF))
		finish_flags(vcpu);
}

void svm_skip_instruction(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	uint64_t next = vmcb->control.next_rip;

	vmcb->control.next_rip = 0; /* without the feature, only Vellum writes it */
	go_to(vcpu, next ? next : svm_rip_behind(&vmcb->save, instruction_length(vcpu)));
}
