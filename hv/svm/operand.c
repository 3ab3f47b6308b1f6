/* SPDX-License-Identifier: GPL-2.0-only */
/* Instruction formats: APM volume 3, chapter 1. */
#include "svm/operand.h"
#include "lib/errno.h"
#include "mm/guest_memory.h"
#include "svm/instruction.h"
#include "svm/svm.h"

#define INSTRUCTION_MAX	    15
#define REX_B		    BIT(0)
#define REX_X		    BIT(1)
#define REX_R		    BIT(2)
#define REX_W		    BIT(3)
#define IS_REX(byte)	    (((byte)&0xf0) == 0x40)
#define SEGMENT_BIG	    BIT(10) /* of attributes: the D bit */
#define SEGMENT_CODE	    BIT(3)
#define SEGMENT_DOWN	    BIT(2) /* of data */
#define SEGMENT_WRITABLE    BIT(1) /* of data */
#define OPERAND_SIZE	    2	   /* of SMSW and LMSW, in memory */
#define LINEAR_BITS	    48	   /* shadow paging has four levels */
#define REAL_CODE	    16
#define PREFIX_OPERAND_SIZE 0x66
#define PREFIX_ADDRESS_SIZE 0x67

enum { RSP = 4, RBP = 5, RSI = 6, RDI = 7, RBX = 3, NO_REGISTER = 16 };

struct decoder {
	const struct vcpu *vcpu;
	uint8_t code[INSTRUCTION_MAX];
	unsigned int at, size; /* the next byte, and how many there are */
	uint8_t rex;
	const struct vmcb_segment *segment; /* NULL: as the operand wants */
	bool other_address_size, other_operand_size;
	unsigned int bits; /* of addresses */
};

uint64_t svm_read_register(const struct vcpu *vcpu, unsigned int number)
{
	const uint64_t *registers = &vcpu->regs.rax;

	return number == RSP ? vmcb_of(vcpu)->save.rsp : registers[number];
}

void svm_write_register(struct vcpu *vcpu, unsigned int number, uint64_t value)
{
	uint64_t *registers = &vcpu->regs.rax;

	if (number == RSP)
		vmcb_of(vcpu)->save.rsp = value;
	else
		registers[number] = value;
}

static uint8_t next(struct decoder *d)
{
	return d->at < d->size ? d->code[d->at++] : 0;
}

/* Sign-extended, of 1, 2 or 4 bytes. */
static int64_t displacement(struct decoder *d, unsigned int size)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint32_t)next(d) << 8 * i;
	return size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : (int32_t)value;
}

/* As far as the page goes, if the next one is not there. */
static void read_code(struct decoder *d)
{
	struct guest_paging paging = svm_guest_paging(d->vcpu);
	gva_t address = svm_instruction_address(&vmcb_of(d->vcpu)->save, 0);

	d->size = INSTRUCTION_MAX;
	if (!guest_memory_read(&paging, address, d->code, d->size))
		return;
	d->size = (unsigned int)min_u64(PAGE_SIZE - address.raw % PAGE_SIZE, INSTRUCTION_MAX);
	if (guest_memory_read(&paging, address, d->code, d->size))
		d->size = 0;
}

static const struct vmcb_segment *segment_of_prefix(const struct vmcb_save *save, uint8_t byte)
{
	switch (byte) {
	case 0x26:
		return &save->es;
	case 0x2e:
		return &save->cs;
	case 0x36:
		return &save->ss;
	case 0x3e:
		return &save->ds;
	case 0x64:
		return &save->fs;
	case 0x65:
		return &save->gs;
	default:
		return NULL;
	}
}

/* REX counts only right before the opcode. */
static void take_prefix(struct decoder *d, uint8_t byte)
{
	const struct vmcb_save *save = &vmcb_of(d->vcpu)->save;
	const struct vmcb_segment *segment = segment_of_prefix(save, byte);

	d->rex = svm_in_64bit_code(save) && IS_REX(byte) ? byte : 0;
	if (segment)
		d->segment = segment;
	if (byte == PREFIX_ADDRESS_SIZE)
		d->other_address_size = true;
	if (byte == PREFIX_OPERAND_SIZE)
		d->other_operand_size = true;
}

/* The processor has decoded this instruction: what precedes the escape byte are prefixes. */
static bool take_prefixes(struct decoder *d)
{
	while (d->at < d->size) {
		uint8_t byte = next(d);

		if (byte == OPCODE_ESCAPE)
			return true;
		take_prefix(d, byte);
	}
	return false;
}

static unsigned int address_bits(const struct decoder *d)
{
	const struct vmcb_save *save = &vmcb_of(d->vcpu)->save;
	bool big = save->cs.attributes & SEGMENT_BIG;

	if (svm_in_64bit_code(save))
		return d->other_address_size ? 32 : 64;
	return big != d->other_address_size ? 32 : REAL_CODE;
}

/* Unless REX.W, which only 64-bit code has, says otherwise. */
static bool has_16bit_operands(const struct decoder *d)
{
	const struct vmcb_save *save = &vmcb_of(d->vcpu)->save;
	bool big = svm_in_64bit_code(save) || (save->cs.attributes & SEGMENT_BIG);

	return big == d->other_operand_size;
}

static uint64_t register_or_0(const struct decoder *d, unsigned int number)
{
	return number == NO_REGISTER ? 0 : svm_read_register(d->vcpu, number);
}

static void default_segment(struct decoder *d, bool stack)
{
	const struct vmcb_save *save = &vmcb_of(d->vcpu)->save;

	if (!d->segment)
		d->segment = stack ? &save->ss : &save->ds;
}

/* Table A-33: eight pairs of registers. */
static uint64_t address_16bit(struct decoder *d, unsigned int mod, unsigned int rm)
{
	static const uint8_t bases[] = {RBX, RBX, RBP, RBP, RSI, RDI, RBP, RBX};
	static const uint8_t indices[] = {RSI,	       RDI,	    RSI,	 RDI,
					  NO_REGISTER, NO_REGISTER, NO_REGISTER, NO_REGISTER};
	bool absolute = mod == 0 && rm == 6;
	unsigned int base = absolute ? NO_REGISTER : bases[rm];
	int64_t offset = displacement(d, mod == 2 || absolute ? 2 : mod);

	default_segment(d, base == RBP);
	return (uint16_t)(register_or_0(d, base) + register_or_0(d, indices[rm]) +
			  (uint64_t)offset);
}

struct sib {
	unsigned int base, index, scale;
};

static struct sib read_sib(struct decoder *d, unsigned int mod)
{
	uint8_t byte = next(d);
	struct sib sib = {byte & 7, byte >> 3 & 7, byte >> 6};

	if (sib.base == RBP && mod == 0)
		sib.base = NO_REGISTER;
	else if (d->rex & REX_B)
		sib.base += 8;
	if (d->rex & REX_X)
		sib.index += 8;
	if (sib.index == RSP)
		sib.index = NO_REGISTER;
	return sib;
}

/* Mod 0 with RBP, or no base, has 32 bits of displacement; in 64-bit code it is RIP-relative. */
static uint64_t address_wide(struct decoder *d, unsigned int mod, unsigned int rm)
{
	const struct vmcb_save *save = &vmcb_of(d->vcpu)->save;
	struct sib sib = {rm | (d->rex & REX_B ? 8u : 0), NO_REGISTER, 0};
	bool relative = false;
	uint64_t offset;

	if (rm == RSP)
		sib = read_sib(d, mod);
	else if (mod == 0 && rm == RBP)
		sib.base = NO_REGISTER, relative = svm_in_64bit_code(save);
	offset = (uint64_t)displacement(d, mod == 1				 ? 1
					   : mod == 2 || sib.base == NO_REGISTER ? 4
										 : 0);
	default_segment(d, sib.base == RSP || sib.base == RBP);
	if (relative)
		offset += save->rip + d->at;
	return offset + register_or_0(d, sib.base) + (register_or_0(d, sib.index) << sib.scale);
}

/* FS and GS are in the processor until asked for; 64-bit code uses no other base. */
static uint64_t segment_base(const struct decoder *d)
{
	const struct vmcb *vmcb = vmcb_of(d->vcpu);
	bool far = d->segment == &vmcb->save.fs || d->segment == &vmcb->save.gs;

	if (far)
		vmsave(vmcb);
	return far || !svm_in_64bit_code(&vmcb->save) ? d->segment->base : 0;
}

/* In bytes of the segment, before its base is added. */
static uint64_t memory_offset(struct decoder *d, unsigned int mod, unsigned int rm)
{
	uint64_t offset;

	d->bits = address_bits(d);
	offset = d->bits == REAL_CODE ? address_16bit(d, mod, rm) : address_wide(d, mod, rm);
	return d->bits == 32 ? (uint32_t)offset : offset;
}

/* Data that expands down lies above its limit (APM volume 2, 4.7.3, 4.12). */
static bool is_within(const struct vmcb_segment *segment, uint64_t offset)
{
	uint64_t last = offset + OPERAND_SIZE - 1;
	uint64_t top = segment->attributes & SEGMENT_BIG ? UINT32_MAX : UINT16_MAX;

	if ((segment->attributes & (SEGMENT_CODE | SEGMENT_DOWN)) == SEGMENT_DOWN)
		return offset > segment->limit && last <= top;
	return last <= segment->limit;
}

static void read_memory_operand(struct decoder *d, struct svm_operand *operand, unsigned int mod)
{
	const struct vmcb_save *save = &vmcb_of(d->vcpu)->save;
	uint64_t offset = memory_offset(d, mod, operand->rm & 7);
	uint64_t address = segment_base(d) + offset;

	operand->is_memory = true;
	operand->in_stack = d->segment == &save->ss;
	if (svm_in_64bit_code(save)) {
		operand->address = gva(address);
		operand->is_within = is_canonical(address, LINEAR_BITS) &&
				     is_canonical(address + OPERAND_SIZE - 1, LINEAR_BITS);
		operand->may_write = true;
		return;
	}
	operand->address = gva((uint32_t)address);
	operand->is_within = is_within(d->segment, offset);
	operand->may_write =
		(d->segment->attributes & (SEGMENT_CODE | SEGMENT_WRITABLE)) == SEGMENT_WRITABLE;
}

static void read_modrm(struct decoder *d, struct svm_operand *operand)
{
	uint8_t modrm = next(d);
	unsigned int mod = modrm >> 6, rm = modrm & 7;

	operand->reg = (modrm >> 3 & 7) | (d->rex & REX_R ? 8u : 0);
	operand->rm = rm | (d->rex & REX_B ? 8u : 0);
	/* MOV of a control or debug register has registers only, whatever mod says. */
	if (operand->opcode == OPCODE_GROUP_7 && mod != 3)
		read_memory_operand(d, operand, mod);
}

int svm_decode_operand(const struct vcpu *vcpu, struct svm_operand *operand)
{
	struct decoder d = {.vcpu = vcpu};

	read_code(&d);
	if (!take_prefixes(&d))
		return -EFAULT;
	*operand = (struct svm_operand){.opcode = next(&d)};
	operand->wide = svm_in_64bit_code(&vmcb_of(vcpu)->save);
	if (operand->opcode != OPCODE_CLTS)
		read_modrm(&d, operand);
	operand->narrow = has_16bit_operands(&d) && !(d.rex & REX_W);
	operand->length = d.at;
	return 0;
}
