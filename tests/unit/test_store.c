// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stores that a guest writes to its APIC with: what is stored, from where, and how long
 * the instruction is. The forms are what NASM makes of the text beside them; the lengths of
 * all forms of ModRM and SIB are those that objdump gives.
 */
#include "support.h"

#include <string.h>

#include "core/store.h"
#include "lib/errno.h"

#define IMMEDIATE 16 /* no register */

struct form {
	enum code_size size;
	unsigned int source; /* register, or IMMEDIATE */
	uint32_t immediate;
	unsigned int length;
	uint8_t code[INSTRUCTION_SIZE_MAX];
};

/* clang-format off */
static const struct form moves[] = {
	{CODE_64, 1, 0, 2, {0x89, 0x08}}, /* mov [rax], ecx */
	{CODE_64, 2, 0, 3, {0x89, 0x14, 0x8b}}, /* mov [rbx+rcx*4], edx */
	{CODE_64, 3, 0, 3, {0x89, 0x1c, 0x24}}, /* mov [rsp], ebx */
	{CODE_64, 4, 0, 3, {0x89, 0x65, 0x00}}, /* mov [rbp+0], esp */
	{CODE_64, 5, 0, 4, {0x41, 0x89, 0x6d, 0x00}}, /* mov [r13+0], ebp */
	{CODE_64, 6, 0, 4, {0x41, 0x89, 0x34, 0x24}}, /* mov [r12], esi */
	{CODE_64, 7, 0, 6, {0x89, 0xbf, 0x00, 0x03, 0x00, 0x00}}, /* mov [rdi+0x300], edi */
	{CODE_64, 8, 0, 4, {0x44, 0x89, 0x46, 0x7f}}, /* mov [rsi+0x7f], r8d */
	{CODE_64, 15, 0, 8, {0x47, 0x89, 0xbc, 0xd1, 0x78, 0x56, 0x34, 0x12}}, /* mov [r9+r10*8+0x12345678], r15d */
	{CODE_64, 0, 0, 6, {0x89, 0x05, 0x78, 0x56, 0x34, 0x12}}, /* mov [rel $+0x1234567e], eax */
	{CODE_64, 1, 0, 7, {0x89, 0x0c, 0x25, 0xf0, 0xff, 0xff, 0x7f}}, /* mov [abs 0x7ffffff0], ecx */
	{CODE_64, 2, 0, 7, {0x89, 0x14, 0x85, 0x00, 0x03, 0x00, 0x00}}, /* mov [rax*4+0x300], edx */
	{CODE_64, 0, 0, 9, {0xa3, 0x00, 0x03, 0xe0, 0xfe, 0x00, 0x00, 0x00, 0x00}}, /* mov [qword 0xfee00300], eax */
	{CODE_64, 0, 0, 6, {0x67, 0xa3, 0x00, 0x03, 0xe0, 0xfe}}, /* a32 mov [dword 0xfee00300], eax */
	{CODE_64, 9, 0, 8, {0x67, 0x44, 0x89, 0x88, 0x00, 0x03, 0x00, 0x00}}, /* mov [eax+0x300], r9d */
	{CODE_64, 2, 0, 3, {0x65, 0x89, 0x11}}, /* mov [gs:rcx], edx */
	{CODE_64, 1, 0, 3, {0xf3, 0x89, 0x08}}, /* xrelease mov [rax], ecx */
	{CODE_64, IMMEDIATE, 0x000c4600, 10, {0xc7, 0x87, 0x00, 0x03, 0x00, 0x00, 0x00, 0x46, 0x0c, 0x00}}, /* mov dword [rdi+0x300], 0x000c4600 */
	{CODE_64, IMMEDIATE, 0x11223344, 8, {0x41, 0xc7, 0x40, 0x20, 0x44, 0x33, 0x22, 0x11}}, /* mov dword [r8+0x20], 0x11223344 */
	{CODE_64, IMMEDIATE, 0xffffffff, 8, {0xc7, 0x44, 0x24, 0x04, 0xff, 0xff, 0xff, 0xff}}, /* mov dword [rsp+4], -1 */
	{CODE_64, IMMEDIATE, 0x00000fee, 11, {0xc7, 0x04, 0x25, 0x00, 0x20, 0x00, 0x00, 0xee, 0x0f, 0x00, 0x00}}, /* mov dword [abs 0x2000], 0xfee */
	{CODE_32, 1, 0, 2, {0x89, 0x08}}, /* mov [eax], ecx */
	{CODE_32, 2, 0, 3, {0x89, 0x14, 0x8b}}, /* mov [ebx+ecx*4], edx */
	{CODE_32, 3, 0, 3, {0x89, 0x1c, 0x24}}, /* mov [esp], ebx */
	{CODE_32, 4, 0, 3, {0x89, 0x65, 0x00}}, /* mov [ebp+0], esp */
	{CODE_32, 1, 0, 6, {0x89, 0x0d, 0x00, 0x03, 0xe0, 0xfe}}, /* mov [0xfee00300], ecx */
	{CODE_32, 0, 0, 5, {0xa3, 0x00, 0x03, 0xe0, 0xfe}}, /* mov [0xfee00300], eax */
	{CODE_32, 7, 0, 6, {0x89, 0xbf, 0x00, 0x03, 0x00, 0x00}}, /* mov [edi+0x300], edi */
	{CODE_32, 2, 0, 7, {0x89, 0x14, 0x85, 0x00, 0x03, 0x00, 0x00}}, /* mov [eax*4+0x300], edx */
	{CODE_32, 5, 0, 7, {0x89, 0xac, 0x72, 0xff, 0xff, 0xff, 0x7f}}, /* mov [edx+esi*2+0x7fffffff], ebp */
	{CODE_32, 2, 0, 3, {0x64, 0x89, 0x10}}, /* mov [fs:eax], edx */
	{CODE_32, 3, 0, 7, {0x3e, 0x89, 0x1d, 0x00, 0x03, 0xe0, 0xfe}}, /* mov [ds:0xfee00300], ebx */
	{CODE_32, IMMEDIATE, 0, 10, {0xc7, 0x05, 0xb0, 0x00, 0xe0, 0xfe, 0x00, 0x00, 0x00, 0x00}}, /* mov dword [0xfee000b0], 0 */
	{CODE_32, IMMEDIATE, 0x44434241, 7, {0xc7, 0x45, 0x10, 0x41, 0x42, 0x43, 0x44}}, /* mov dword [ebp+0x10], 0x44434241 */
	{CODE_32, IMMEDIATE, 5, 11, {0xc7, 0x84, 0x24, 0x00, 0x01, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00}}, /* mov dword [esp+0x100], 5 */
	{CODE_16, 1, 0, 4, {0x66, 0x67, 0x89, 0x08}}, /* mov [eax], ecx */
	{CODE_16, 0, 0, 7, {0x66, 0x67, 0xa3, 0x00, 0x03, 0xe0, 0xfe}}, /* mov [dword 0xfee00300], eax */
	{CODE_16, 2, 0, 6, {0x65, 0x66, 0x67, 0x89, 0x56, 0x08}}, /* mov [gs:esi+8], edx */
	{CODE_16, 1, 0, 8, {0x66, 0x67, 0x89, 0x0d, 0x78, 0x56, 0x34, 0x12}}, /* mov [dword 0x12345678], ecx */
	{CODE_16, IMMEDIATE, 0x4600, 12, {0x66, 0x67, 0xc7, 0x87, 0x00, 0x03, 0x00, 0x00, 0x00, 0x46, 0x00, 0x00}}, /* mov dword [edi+0x300], 0x4600 */
};

static const struct form exchanges[] = {
	{CODE_64, 0, 0, 6, {0x87, 0x87, 0x00, 0x03, 0x00, 0x00}}, /* xchg [rdi+0x300], eax */
	{CODE_64, 12, 0, 3, {0x45, 0x87, 0x23}}, /* xchg [r11], r12d */
	{CODE_64, 1, 0, 3, {0xf0, 0x87, 0x08}}, /* lock xchg [rax], ecx */
	{CODE_32, 6, 0, 2, {0x87, 0x37}}, /* xchg [edi], esi */
	{CODE_16, 5, 0, 8, {0x66, 0x67, 0x87, 0xab, 0x80, 0x00, 0x00, 0x00}}, /* xchg [ebx+0x80], ebp */
};

/* Not of 32 bits, not with addresses of 32 or 64 bits, not to memory, or another instruction */
static const struct form others[] = {
	{CODE_64, 0, 0, 2, {0x88, 0x08}}, /* mov [rax], cl */
	{CODE_64, 0, 0, 3, {0x66, 0x89, 0x08}}, /* mov [rax], cx */
	{CODE_64, 0, 0, 3, {0x48, 0x89, 0x08}}, /* mov [rax], rcx */
	{CODE_64, 0, 0, 4, {0x66, 0x48, 0x89, 0x08}}, /* mov [rax], rcx */
	{CODE_64, 0, 0, 2, {0x89, 0xc8}}, /* mov eax, ecx */
	{CODE_64, 0, 0, 2, {0x8b, 0x08}}, /* mov ecx, [rax] */
	{CODE_64, 0, 0, 2, {0x01, 0x08}}, /* add [rax], ecx */
	{CODE_64, 0, 0, 6, {0x81, 0x08, 0x00, 0x01, 0x00, 0x00}}, /* or dword [rax], 0x100 */
	{CODE_64, 0, 0, 3, {0x0f, 0xc3, 0x08}}, /* movnti [rax], ecx */
	{CODE_64, 0, 0, 1, {0xab}}, /* stosd */
	{CODE_64, 0, 0, 6, {0xc7, 0xc0, 0x01, 0x00, 0x00, 0x00}}, /* mov eax, 1 */
	{CODE_64, 0, 0, 6, {0xc7, 0xf8, 0x00, 0x00, 0x00, 0x00}}, /* xbegin */
	{CODE_64, 0, 0, 6, {0xc7, 0x08, 0x01, 0x00, 0x00, 0x00}}, /* C7 /1: undefined */
	{CODE_64, 0, 0, 2, {0x87, 0xc8}}, /* xchg eax, ecx */
	{CODE_64, 0, 0, 4, {0x44, 0x66, 0x89, 0x08}}, /* REX that counts for nothing */
	{CODE_32, 0, 0, 3, {0x66, 0x89, 0x08}}, /* mov [eax], cx */
	{CODE_32, 0, 0, 3, {0x67, 0x89, 0x0c}}, /* mov [si], ecx */
	{CODE_32, 0, 0, 4, {0x67, 0xa3, 0x00, 0x03}}, /* mov [word 0x300], eax */
	{CODE_32, 0, 0, 3, {0x41, 0x89, 0x08}}, /* inc ecx */
	{CODE_16, 0, 0, 2, {0x89, 0x0c}}, /* mov [si], cx */
	{CODE_16, 0, 0, 3, {0x66, 0x89, 0x0c}}, /* mov [si], ecx */
	{CODE_16, 0, 0, 3, {0x67, 0x89, 0x08}}, /* mov [eax], cx */
	{CODE_16, 0, 0, 6, {0x66, 0x67, 0x41, 0x89, 0x08}}, /* inc ecx */
};
/* clang-format on */

static int decode(const struct form *form, unsigned int size, struct store *store)
{
	memset(store, 0xa5, sizeof(*store));
	return store_decode(form->code, size, form->size, store);
}

static void assert_form(const struct form *form, bool is_exchange)
{
	struct store store;

	if (decode(form, INSTRUCTION_SIZE_MAX, &store))
		fail_msg("%02x %02x %02x is not known", form->code[0], form->code[1],
			 form->code[2]);
	assert_int_equal(store.length, form->length);
	assert_int_equal(store.exchanges, is_exchange);
	assert_int_equal(store.is_immediate, form->source == IMMEDIATE);
	if (store.is_immediate)
		assert_int_equal(store.immediate, form->immediate);
	else
		assert_int_equal(store.reg, form->source);
}

static void each_form_of_mov_is_known(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(moves); i++)
		assert_form(&moves[i], false);
}

static void each_form_of_xchg_is_known(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(exchanges); i++)
		assert_form(&exchanges[i], true);
}

static void nothing_else_is(void **state)
{
	struct store store;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++)
		if (decode(&others[i], INSTRUCTION_SIZE_MAX, &store) != -EINVAL)
			fail_msg("%u: taken for a store", i);
}

/* Wherever it is cut, no value is made of what is missing. */
static void code_that_is_cut_is_nothing(void **state)
{
	struct store store;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(moves); i++) {
		for (unsigned int size = 0; size < moves[i].length; size++)
			assert_int_equal(decode(&moves[i], size, &store), -EINVAL);
		assert_int_equal(decode(&moves[i], moves[i].length, &store), 0);
	}
}

/* Bytes behind ModRM for the address, by mod and rm; with SIB, by mod and the base. */
static unsigned int address_bytes(uint8_t modrm, uint8_t sib)
{
	static const uint8_t plain[3][8] = {
		{0, 0, 0, 0, 1, 4, 0, 0}, {1, 1, 1, 1, 2, 1, 1, 1}, {4, 4, 4, 4, 5, 4, 4, 4}};
	unsigned int mod = modrm >> 6, rm = modrm & 7;

	return plain[mod][rm] + (rm == 4 && mod == 0 && (sib & 7) == 5 ? 4u : 0);
}

static void assert_all_addresses(enum code_size size, const uint8_t *prefixes, unsigned int count)
{
	static const uint8_t opcodes[] = {0x89, 0x87, 0xc7};
	uint8_t code[INSTRUCTION_SIZE_MAX];
	struct store store;

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes) * 0xc0 * 0x100; i++) {
		uint8_t opcode = opcodes[i / 0xc000], sib = (uint8_t)i;
		uint8_t modrm = (uint8_t)(i / 0x100 % 0xc0);
		bool immediate = opcode == 0xc7;

		if (immediate && (modrm & 0x38))
			continue;
		memset(code, 0x90, sizeof(code));
		if (count)
			memcpy(code, prefixes, count);
		code[count] = opcode;
		code[count + 1] = modrm;
		code[count + 2] = sib;
		assert_int_equal(store_decode(code, sizeof(code), size, &store), 0);
		assert_int_equal(store.length,
				 count + 2 + address_bytes(modrm, sib) + (immediate ? 4 : 0));
		if (!immediate)
			assert_int_equal(store.reg, modrm >> 3 & 7);
	}
}

static void every_address_has_its_length(void **state)
{
	static const uint8_t of_16bit_code[] = {0x67, 0x66};

	(void)state;
	assert_all_addresses(CODE_64, NULL, 0);
	assert_all_addresses(CODE_32, NULL, 0);
	assert_all_addresses(CODE_16, of_16bit_code, 2);
}

/* 15 bytes are the most; a prefix may stand there twice. */
static void prefixes_count_up_to_the_longest_instruction(void **state)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0xf0, 0xf2, 0xf3};
	uint8_t code[INSTRUCTION_SIZE_MAX + 1];
	struct store store;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(prefixes); i++) {
		memset(code, prefixes[i], sizeof(code));
		code[13] = 0x89;
		code[14] = 0x08;
		assert_int_equal(store_decode(code, INSTRUCTION_SIZE_MAX, CODE_32, &store), 0);
		assert_int_equal(store.length, INSTRUCTION_SIZE_MAX);
		code[13] = prefixes[i];
		code[14] = 0x89;
		code[15] = 0x08;
		assert_int_equal(store_decode(code, INSTRUCTION_SIZE_MAX, CODE_32, &store),
				 -EINVAL);
	}
}

/* All code that is, as a guest may have any: nothing is read behind its end. */
static void random_code_does_no_harm(void **state)
{
	uint64_t random = 0x5eed;
	struct store store;

	(void)state;
	for (unsigned int i = 0; i < 1000000; i++) {
		unsigned int size = (unsigned int)random_below(&random, INSTRUCTION_SIZE_MAX + 1);
		uint8_t code[INSTRUCTION_SIZE_MAX];
		uint8_t *end = code + sizeof(code);

		for (unsigned int byte = 0; byte < sizeof(code); byte++)
			code[byte] = (uint8_t)random_next(&random);
		if (store_decode(end - size, size, (enum code_size)(i % 3), &store))
			continue;
		assert_in_range(store.length, 2, size);
		assert_in_range(store.reg, 0, 15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_of_mov_is_known),
		cmocka_unit_test(each_form_of_xchg_is_known),
		cmocka_unit_test(nothing_else_is),
		cmocka_unit_test(code_that_is_cut_is_nothing),
		cmocka_unit_test(every_address_has_its_length),
		cmocka_unit_test(prefixes_count_up_to_the_longest_instruction),
		cmocka_unit_test(random_code_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
