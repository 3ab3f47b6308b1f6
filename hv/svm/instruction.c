/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Past the instruction that exited. Processors with the NRIPS feature save where that
 * is; for the others, QEMU's among them, the guest's code is looked at.
 */
#include "core/cpu.h"
#include "mm/guest_memory.h"
#include "mm/guest_walk.h"
#include "svm/svm.h"

#define OPCODE_ESCAPE	  0x0f /* first opcode byte of all that Vellum skips */
#define PREFIXES_MAX	  13   /* 15 bytes, less the two of the shortest opcode */
#define LINEAR_32	  0xffffffffull
#define SEGMENT_CODE_LONG BIT(9)

#define COLD __attribute__((cold, noinline))

static bool in_64bit_code(const struct vmcb_save *save)
{
	return (save->efer & EFER_LMA) && (save->cs.attributes & SEGMENT_CODE_LONG);
}

gva_t svm_instruction_address(const struct vmcb_save *save, unsigned int offset)
{
	if (in_64bit_code(save))
		return gva(save->rip + offset);
	return gva((save->cs.base + save->rip + offset) & LINEAR_32);
}

/* NULL if it can't be read. */
static const uint8_t *instruction_byte(const struct vmcb_save *save, unsigned int offset)
{
	struct guest_paging paging = {save->cr0, save->cr3, save->cr4, save->efer};
	gpa_t address;

	if (guest_memory_translate(&paging, svm_instruction_address(save, offset), &address))
		return NULL;
	return guest_memory_find(address, 1);
}

/*
 * Bytes before the opcode. The processor has decoded the instruction, so what stands
 * before the escape byte is prefixes; if it can't be read (another processor has
 * changed the page tables since), there were none.
 */
static unsigned int count_prefixes(const struct vmcb_save *save)
{
	for (unsigned int n = 0; n <= PREFIXES_MAX; n++) {
		const uint8_t *byte = instruction_byte(save, n);

		if (!byte)
			return 0;
		if (*byte == OPCODE_ESCAPE)
			return n;
	}
	return 0;
}

/* The usual case, cheaply: 32-bit paging, no prefix. False if it is anything else. */
static bool is_plain(const struct vmcb_save *save)
{
	if (!(save->cr0 & CR0_PG) || (save->cr4 & CR4_PAE))
		return false;
	return guest_code_byte_32bit(save->cr3, (uint32_t)(save->cs.base + save->rip)) ==
	       OPCODE_ESCAPE;
}

/* 0F 01 D9 for VMMCALL; 0F and one more for CPUID, RDMSR, WRMSR, INVD, WBINVD */
static unsigned int opcode_length(const struct vmcb_control *control)
{
	return control->exit_code == SVM_EXIT_VMMCALL ? 3 : 2;
}

/* RF ends with the instruction; TF makes it end in a trap (APM volume 2, 13.1.4). */
COLD static void finish_flags(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.rflags &= ~RFLAGS_RF;
	if (!(vmcb->save.rflags & RFLAGS_TF))
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

COLD static void skip_prefixed(struct vcpu *vcpu)
{
	const struct vmcb *vmcb = vmcb_of(vcpu);
	unsigned int length = count_prefixes(&vmcb->save) + opcode_length(&vmcb->control);
	uint64_t next = vmcb->save.rip + length;

	go_to(vcpu, in_64bit_code(&vmcb->save) ? next : (uint32_t)next);
}

/* Each way out is a tail call, so that the usual one saves no register. */
void svm_skip_instruction(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	uint64_t next = vmcb->control.next_rip;

	if (next) {
		vmcb->control.next_rip = 0; /* without the feature, only Vellum writes it */
		go_to(vcpu, next);
	} else if (is_plain(&vmcb->save)) {
		go_to(vcpu, (uint32_t)(vmcb->save.rip + opcode_length(&vmcb->control)));
	} else {
		skip_prefixed(vcpu);
	}
}
