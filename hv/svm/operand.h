/* SPDX-License-Identifier: GPL-2.0-only */
/* The operands of 0F 01 and of 0F 20 to 23, for processors without decode assists. */
#ifndef VELLUM_SVM_OPERAND_H
#define VELLUM_SVM_OPERAND_H

#include "core/vcpu.h"
#include "lib/types.h"

#define OPCODE_GROUP_7 0x01 /* behind 0F: SMSW, LMSW and INVLPG among them */
#define OPCODE_CLTS    0x06

/* ModRM's middle field with OPCODE_GROUP_7 */
#define GROUP_7_SMSW 4
#define GROUP_7_LMSW 6

struct svm_operand {
	uint8_t opcode;	     /* the byte behind 0F */
	unsigned int length; /* of the instruction, prefixes included */
	unsigned int reg;    /* ModRM's middle field: a register, or more of the opcode */
	unsigned int rm;     /* a general register, unless is_memory */
	bool is_memory;
	bool wide;	/* 64-bit operands */
	bool narrow;	/* 16-bit operands, where the instruction has such */
	bool in_stack;	/* memory, by SS */
	bool is_within; /* memory: its two bytes lie in the segment, or are canonical */
	bool may_write; /* memory: the segment allows it */
	gva_t address;
};

/* -EFAULT if the guest's code can't be read, or is none of these any more. */
int svm_decode_operand(const struct vcpu *vcpu, struct svm_operand *operand);

/* General registers by their number in an instruction. */
uint64_t svm_read_register(const struct vcpu *vcpu, unsigned int number);
void svm_write_register(struct vcpu *vcpu, unsigned int number, uint64_t value);

#endif
