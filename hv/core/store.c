/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/store.h"
#include "lib/errno.h"

#define OPCODE_MOV_REGISTER  0x89
#define OPCODE_MOV_IMMEDIATE 0xc7 /* with 0 in ModRM's reg */
#define OPCODE_MOV_EAX	     0xa3 /* to an address that stands in the instruction */
#define OPCODE_XCHG	     0x87

#define PREFIX_OPERAND_SIZE 0x66
#define PREFIX_ADDRESS_SIZE 0x67

/* APM volume 3, 1.2.7 */
#define REX_BASE 0x40
#define REX_MASK 0xf0
#define REX_W	 BIT(3)
#define REX_R	 BIT(2)

#define MODRM_MOD(modrm) ((modrm) >> 6)
#define MODRM_REG(modrm) ((modrm) >> 3 & 7)
#define MODRM_RM(modrm)	 ((modrm)&7)
#define MOD_REGISTER	 3
#define RM_SIB		 4
#define RM_DISPLACEMENT	 5 /* with mod 0: no base, but 32 bits (of RIP in 64-bit code) */

struct code {
	const uint8_t *at, *end;
	enum code_size size;
	bool operand_size, address_size; /* the prefixes */
	bool is_cut;			 /* something was behind the end */
	uint8_t rex;
};

/* The next byte; past the end 0, which what is left to decode does not mind. */
static uint8_t next(struct code *code)
{
	if (code->at < code->end)
		return *code->at++;
	code->is_cut = true;
	return 0;
}

static bool is_segment_or_lock(uint8_t byte)
{
	switch (byte) {
	case 0x26: /* ES, CS, SS, DS, FS, GS */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0xf0: /* LOCK; REPNE, REP: XACQUIRE, XRELEASE */
	case 0xf2:
	case 0xf3:
		return true;
	}
	return false;
}

static void skip_prefixes(struct code *code)
{
	for (; code->at < code->end; code->at++) {
		if (*code->at == PREFIX_OPERAND_SIZE)
			code->operand_size = true;
		else if (*code->at == PREFIX_ADDRESS_SIZE)
			code->address_size = true;
		else if (!is_segment_or_lock(*code->at))
			break;
	}
	if (code->size == CODE_64 && code->at < code->end && (*code->at & REX_MASK) == REX_BASE)
		code->rex = next(code);
}

static bool has_32bit_operand(const struct code *code)
{
	return (code->size == CODE_16) == code->operand_size && !(code->rex & REX_W);
}

static bool has_16bit_address(const struct code *code)
{
	return code->size == CODE_64 ? false : (code->size == CODE_16) != code->address_size;
}

static void skip(struct code *code, unsigned int bytes)
{
	while (bytes--)
		next(code);
}

/* Behind ModRM: what follows for the address. False if it is a register. */
static bool skip_address(struct code *code, uint8_t modrm)
{
	unsigned int mod = MODRM_MOD(modrm), base = MODRM_RM(modrm);

	if (mod == MOD_REGISTER)
		return false;
	if (base == RM_SIB)
		base = MODRM_RM(next(code));
	if (mod == 1)
		skip(code, 1);
	else if (mod == 2 || base == RM_DISPLACEMENT)
		skip(code, 4);
	return true;
}

static uint32_t read_immediate(struct code *code)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < 4; i++)
		value |= (uint32_t)next(code) << 8 * i;
	return value;
}

static int decode_modrm(struct code *code, uint8_t opcode, struct store *store)
{
	uint8_t modrm = next(code);

	store->reg = MODRM_REG(modrm) | (code->rex & REX_R ? 8 : 0);
	store->exchanges = opcode == OPCODE_XCHG;
	store->is_immediate = opcode == OPCODE_MOV_IMMEDIATE;
	if (!skip_address(code, modrm) || (store->is_immediate && MODRM_REG(modrm)))
		return -EINVAL;
	if (store->is_immediate)
		store->immediate = read_immediate(code);
	return 0;
}

static int decode_opcode(struct code *code, struct store *store)
{
	uint8_t opcode = next(code);

	switch (opcode) {
	case OPCODE_MOV_EAX:
		skip(code, code->size == CODE_64 && !code->address_size ? 8 : 4);
		return 0;
	case OPCODE_MOV_REGISTER:
	case OPCODE_MOV_IMMEDIATE:
	case OPCODE_XCHG:
		return decode_modrm(code, opcode, store);
	default:
		return -EINVAL;
	}
}

int store_decode(const uint8_t *bytes, unsigned int size, enum code_size code_size,
		 struct store *store)
{
	struct code code = {.at = bytes, .end = bytes + size, .size = code_size};

	*store = (struct store){0};
	skip_prefixes(&code);
	if (!has_32bit_operand(&code) || has_16bit_address(&code))
		return -EINVAL;
	if (decode_opcode(&code, store) || code.is_cut)
		return -EINVAL;
	store->length = (unsigned int)(code.at - bytes);
	return 0;
}
