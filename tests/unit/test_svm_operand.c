// SPDX-License-Identifier: GPL-2.0-only
/* The operands of INVLPG, LMSW, SMSW and MOV CR, by what assemblers make of them. */
#include "support.h"

#include <string.h>

#include "lib/errno.h"
#include "svm/operand.c"

#define CODE 0x2000u

static struct e820_map map;
static struct vmcb vmcb;
static struct vcpu vcpu;
static struct svm_operand operand;

static int make_guest(void **state)
{
	(void)state;
	arena_create(16 * PAGE_SIZE);
	map.count = 1;
	map.entry[0] = (struct e820_entry){0, 16 * PAGE_SIZE, E820_RAM};
	guest_memory_init(&map);
	memset(&vmcb, 0, sizeof(vmcb));
	memset(&vcpu, 0, sizeof(vcpu));
	vcpu.arch = &vmcb;
	for (unsigned int i = 0; i < 16; i++)
		(&vcpu.regs.rax)[i] = 0x100u * (i + 1);
	vmcb.save.rsp = 0x77000;
	vmcb.save.rip = CODE;
	vmcb.save.cs.attributes = 0xc9b; /* 32-bit */
	vmcb.save.ss.base = 0x10000000;
	vmcb.save.ds.base = 0x20000000;
	vmcb.save.es.base = 0x30000000;
	return 0;
}

#define DECODE(...)                                                       \
	do {                                                              \
		static const uint8_t code[] = {__VA_ARGS__};              \
		memcpy(arena_at(CODE), code, sizeof(code));               \
		assert_int_equal(svm_decode_operand(&vcpu, &operand), 0); \
		assert_int_equal(operand.length, sizeof(code));           \
	} while (0)

#define ADDRESS(expected, ...)                                   \
	do {                                                     \
		DECODE(__VA_ARGS__);                             \
		assert_true(operand.is_memory);                  \
		assert_int_equal(operand.address.raw, expected); \
	} while (0)

/* Two bytes, whose last one has to lie in the segment, too. */
static void an_operand_outside_of_its_segment_is_told(void **state)
{
	(void)state;
	vmcb.save.ds.attributes = 0xc93; /* data, writable */
	vmcb.save.ds.limit = 0x1001;
	DECODE(0x0f, 0x01, 0x25, 0x00, 0x10, 0x00, 0x00); /* smsw [0x1000] */
	assert_true(operand.is_within);
	assert_true(operand.may_write);
	assert_false(operand.in_stack);
	DECODE(0x0f, 0x01, 0x25, 0x01, 0x10, 0x00, 0x00);
	assert_false(operand.is_within);
	vmcb.save.ds.attributes = 0xc97; /* expands down: above the limit only */
	assert_int_equal(svm_decode_operand(&vcpu, &operand), 0);
	assert_false(operand.is_within);
	DECODE(0x0f, 0x01, 0x25, 0x02, 0x10, 0x00, 0x00);
	assert_true(operand.is_within);
	vmcb.save.ds.attributes = 0xc91; /* read-only */
	assert_int_equal(svm_decode_operand(&vcpu, &operand), 0);
	assert_false(operand.may_write);
	DECODE(0x2e, 0x0f, 0x01, 0x20); /* smsw cs:[eax]: code can't be written */
	assert_false(operand.may_write);
	DECODE(0x0f, 0x01, 0x65, 0x00); /* smsw [ebp]: the stack's */
	assert_true(operand.in_stack);
}

static void operand_sizes_are_those_of_the_code_and_its_prefix(void **state)
{
	(void)state;
	DECODE(0x0f, 0x01, 0xe0); /* smsw eax */
	assert_false(operand.narrow);
	DECODE(0x66, 0x0f, 0x01, 0xe0); /* smsw ax */
	assert_true(operand.narrow);
	vmcb.save.cs.attributes = 0x9b; /* 16-bit */
	DECODE(0x0f, 0x01, 0xe0);
	assert_true(operand.narrow);
	DECODE(0x66, 0x0f, 0x01, 0xe0);
	assert_false(operand.narrow);
}

static void control_registers_are_named(void **state)
{
	(void)state;
	DECODE(0x0f, 0x22, 0xd8); /* mov cr3, eax */
	assert_int_equal(operand.opcode, 0x22);
	assert_int_equal(operand.reg, 3);
	assert_int_equal(operand.rm, 0);
	assert_false(operand.wide);
	DECODE(0x0f, 0x20, 0x27); /* mov edi, cr4, whatever mod is */
	assert_int_equal(operand.reg, 4);
	assert_int_equal(operand.rm, 7);
	assert_false(operand.is_memory);
	DECODE(0x0f, 0x06); /* clts */
	assert_int_equal(operand.opcode, OPCODE_CLTS);
	DECODE(0x66, 0x0f, 0x01, 0xf1); /* lmsw cx */
	assert_int_equal(operand.reg, GROUP_7_LMSW);
	assert_int_equal(operand.rm, 1);
}

static void addresses_of_32_bits(void **state)
{
	(void)state;
	ADDRESS(0x20000100, 0x0f, 0x01, 0x38);					/* [eax] */
	ADDRESS(0x10000600 - 16, 0x0f, 0x01, 0x7d, 0xf0);			/* [ebp-16] */
	ADDRESS(0x10077008, 0x0f, 0x01, 0x7c, 0x24, 0x08);			/* [esp+8] */
	ADDRESS(0x20001234, 0x0f, 0x01, 0x3d, 0x34, 0x12, 0, 0);		/* [1234h] */
	ADDRESS(0x20000100 + 4 * 0x200, 0x0f, 0x01, 0x3c, 0x88);		/* [eax+ecx*4] */
	ADDRESS(0x20000010 + 8 * 0x700, 0x0f, 0x01, 0x3c, 0xf5, 0x10, 0, 0, 0); /* [esi*8+10h] */
	ADDRESS(0x30000100, 0x26, 0x0f, 0x01, 0x38);				/* es:[eax] */
	ADDRESS(0x1fffff00, 0x0f, 0x01, 0xb8, 0, 0xfe, 0xff, 0xff);		/* [eax-200h] */
}

static void addresses_of_16_bits(void **state)
{
	(void)state;
	ADDRESS(0x20000400 + 0x700, 0x67, 0x0f, 0x01, 0x38);	 /* [bx+si] */
	ADDRESS(0x10000600 + 2, 0x67, 0x0f, 0x01, 0x7e, 0x02);	 /* [bp+2] */
	ADDRESS(0x20001234, 0x67, 0x0f, 0x01, 0x3e, 0x34, 0x12); /* [1234h] */
	vmcb.save.cs.attributes = 0x9b;
	vcpu.regs.rbx = 0xffff;
	ADDRESS(0x2000000e, 0x0f, 0x01, 0x7f, 0x0f); /* [bx+15] wraps */
}

static void addresses_of_64_bits(void **state)
{
	(void)state;
	vmcb.save.efer = EFER_LMA;
	vmcb.save.cs.attributes = 0xa9b;
	vcpu.regs.r9 = 0xffff880000000000;
	ADDRESS(0xffff880000000000, 0x41, 0x0f, 0x01, 0x39);	   /* [r9] */
	ADDRESS(CODE + 7 + 0x10, 0x0f, 0x01, 0x3d, 0x10, 0, 0, 0); /* [rip+10h] */
	ADDRESS(0x100 + 0x1000, 0x42, 0x0f, 0x01, 0x3c, 0x38);	   /* [rax+r15] */
	DECODE(0x41, 0x0f, 0x22, 0xd8);				   /* mov cr3, r8 */
	assert_int_equal(operand.rm, 8);
	assert_true(operand.wide);
}

static void code_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	vmcb.save.rip = 16 * PAGE_SIZE;
	assert_int_equal(svm_decode_operand(&vcpu, &operand), -EFAULT);
	vmcb.save.rip = 16 * PAGE_SIZE - 3; /* up to the end of memory is enough */
	memcpy(arena_at(16 * PAGE_SIZE - 3), "\x0f\x22\xd8", 3);
	assert_int_equal(svm_decode_operand(&vcpu, &operand), 0);
	assert_int_equal(operand.length, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(an_operand_outside_of_its_segment_is_told),
		T(operand_sizes_are_those_of_the_code_and_its_prefix),
		T(control_registers_are_named),
		T(addresses_of_32_bits),
		T(addresses_of_16_bits),
		T(addresses_of_64_bits),
		T(code_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
