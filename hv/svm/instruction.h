/* SPDX-License-Identifier: GPL-2.0-only */
/* The usual case of svm_skip_instruction(), inline. */
#ifndef VELLUM_SVM_INSTRUCTION_H
#define VELLUM_SVM_INSTRUCTION_H

#include "core/cpu.h"
#include "mm/guest_walk.h"
#include "svm/vmcb.h"

#define OPCODE_ESCAPE	  0x0f /* first opcode byte of all that Vellum skips */
#define SEGMENT_CODE_LONG BIT(9)

static inline bool svm_in_64bit_code(const struct vmcb_save *save)
{
	return (save->efer & EFER_LMA) && (save->cs.attributes & SEGMENT_CODE_LONG);
}

/* Linear address of the byte offset bytes behind RIP. */
static inline gva_t svm_instruction_address(const struct vmcb_save *save, unsigned int offset)
{
	if (svm_in_64bit_code(save))
		return gva(save->rip + offset);
	return gva((uint32_t)(save->cs.base + save->rip + offset));
}

/*
 * Whether the instruction that exited has no prefix, in code behind page tables of 8-byte
 * entries. False also for what takes more to know.
 */
static inline bool svm_is_plain_pae(const struct vmcb_save *save)
{
	uint64_t address = svm_instruction_address(save, 0).raw;

	if (!(save->cr0 & CR0_PG) || (save->cr4 & CR4_LA57))
		return false;
	if (save->efer & EFER_LMA)
		return guest_code_is_64bit(save->cr3 & GUEST_PTE_FRAME_64, 39, address,
					   OPCODE_ESCAPE);
	return guest_code_is_pae(save->cr3, (uint32_t)address, OPCODE_ESCAPE);
}

/* The same, in code behind 32-bit page tables. */
static inline bool svm_is_plain_32bit(const struct vmcb_save *save)
{
	return (save->cr0 & CR0_PG) &&
	       guest_code_is_32bit(save->cr3, (uint32_t)(save->cs.base + save->rip), OPCODE_ESCAPE);
}

/* RIP behind an instruction of length bytes. */
static inline uint64_t svm_rip_behind(const struct vmcb_save *save, unsigned int length)
{
	return svm_in_64bit_code(save) ? save->rip + length : (uint32_t)(save->rip + length);
}

#endif
