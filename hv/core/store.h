/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an instruction that wrote to a device stores: as much of x86 as programs use to write
 * a device's 32-bit register.
 */
#ifndef VELLUM_CORE_STORE_H
#define VELLUM_CORE_STORE_H

#include "lib/types.h"

#define INSTRUCTION_SIZE_MAX 15

enum code_size { CODE_16, CODE_32, CODE_64 };

struct store {
	unsigned int length; /* of the instruction, bytes */
	bool is_immediate;
	bool exchanges;	  /* the register gets what was there */
	unsigned int reg; /* 0 to 15, as in struct guest_registers */
	uint32_t immediate;
};

/*
 * MOV and XCHG of 32 bits to memory: 89, C7 /0, A3, 87 with 32- or 64-bit addresses (APM volume
 * 3, MOV and XCHG). size: how many bytes of code can be read. -EINVAL: it is nothing of these, or
 * does not end within them.
 */
int store_decode(const uint8_t *code, unsigned int size, enum code_size code_size,
		 struct store *store);

#endif
