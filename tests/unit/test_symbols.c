// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of Vellum's functions by address, from a table that symbols.awk has made of
 * symbols.nm: the way from nm to symbol_find() as in the real build.
 */
#include "support.h"

#include "debug/symbols.h"

/* As many bytes of "text" as symbols.nm says. */
asm(".pushsection .rodata\n"
    ".globl image_start, image_text_end\n"
    "image_start: .skip 0x60\n"
    "image_text_end: .byte 0\n"
    ".popsection");

extern const char image_start[], image_text_end[];

static void assert_symbol(uint64_t place, const char *name, uint64_t offset)
{
	uint64_t found_offset = 0;
	const char *found = symbol_find((uintptr_t)image_start + place, &found_offset);

	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_offset, offset);
}

static void assert_none(uint64_t address)
{
	uint64_t offset = 0x1234;

	assert_null(symbol_find(address, &offset));
	assert_int_equal(offset, 0x1234);
}

static void a_function_reaches_up_to_the_next(void **state)
{
	(void)state;
	assert_symbol(0x10, "first", 0);
	assert_symbol(0x1f, "first", 0xf);
	assert_symbol(0x20, "second", 0);
	assert_symbol(0x27, "second", 7);
}

static void the_last_function_reaches_to_the_end_of_the_text(void **state)
{
	(void)state;
	assert_symbol(0x48, "last", 0);
	assert_symbol(0x5f, "last", 0x17);
	assert_none((uintptr_t)image_text_end);
}

static void of_two_names_the_later_is_told(void **state)
{
	(void)state;
	assert_symbol(0x30, "alias_behind", 0);
}

/* What the compiler has put aside, "second.cold", goes by the function's own name. */
static void a_part_of_a_function_has_its_name(void **state)
{
	(void)state;
	assert_symbol(0x28, "second", 0);
	assert_symbol(0x2f, "second", 7);
}

/* Data and the linker script's marks are no functions. */
static void what_is_no_function_has_no_name(void **state)
{
	(void)state;
	assert_symbol(0x18, "first", 8);
	assert_symbol(0x40, "alias_behind", 0x10);
}

static void what_is_before_the_first_function_is_nameless(void **state)
{
	(void)state;
	assert_none((uintptr_t)image_start);
	assert_none((uintptr_t)image_start + 0xf);
}

static void addresses_outside_of_the_text_are_nameless(void **state)
{
	(void)state;
	assert_none((uintptr_t)image_start - 1);
	assert_none(0);
	assert_none(0x100000);
	assert_none(UINT64_MAX);
	assert_none((uintptr_t)image_start + BIT(32) +
		    0x10); /* offsets in the table have 32 bits */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_reaches_up_to_the_next),
		cmocka_unit_test(the_last_function_reaches_to_the_end_of_the_text),
		cmocka_unit_test(of_two_names_the_later_is_told),
		cmocka_unit_test(a_part_of_a_function_has_its_name),
		cmocka_unit_test(what_is_no_function_has_no_name),
		cmocka_unit_test(what_is_before_the_first_function_is_nameless),
		cmocka_unit_test(addresses_outside_of_the_text_are_nameless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
