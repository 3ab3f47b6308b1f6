// SPDX-License-Identifier: GPL-2.0-only
/* A System.map as a module, whole and broken; and backtraces by its names. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "debug/guest_backtrace.h"
#include "debug/guest_symbols.h"
#include "guest/e820.h"
#include "mm/frames.h"
#include "mm/guest_memory.h"

#define RAM_SIZE (64 * PAGE_SIZE)
#define FRAMES	 0x20000
#define MODULE	 0x10000
#define CODE	 0x4000
#define STACK	 0x8000

static struct boot_info boot;

static void load(const char *name, const char *text)
{
	memcpy(arena_at(MODULE), text, strlen(text));
	memset(&boot, 0, sizeof(boot));
	boot.module_count = 3;
	strcpy(boot.module[0].string, "bzImage console=ttyS0");
	strcpy(boot.module[1].string, name);
	boot.module[1].start = hpa(MODULE);
	boot.module[1].size = strlen(text);
	strcpy(boot.module[2].string, "initrd");
	guest_symbols_take(&boot);
}

static int make_memory(void **state)
{
	static struct e820_map map = {.count = 1, .entry = {{0, RAM_SIZE, E820_RAM}}};

	(void)state;
	console_clear();
	arena_create(RAM_SIZE);
	guest_memory_init(&map);
	frames_init(hpa(FRAMES), hpa(RAM_SIZE));
	return 0;
}

static const char system_map[] = "00000000 A no_address\n"
				 "00004000 T _stext\n"
				 "00004000 T first\n"
				 "00004040 t second.isra.0\n"
				 "00004080 W last\n"
				 "00005000 D counter\n"
				 "00005010 r __ksymtab_first\n"
				 "00006000 b buffer\n";

static void assert_name(uint64_t address, const char *name, uint64_t expected)
{
	uint64_t offset = 0;
	struct word found = guest_symbol_at(address, &offset);

	assert_int_equal(found.length, strlen(name));
	assert_memory_equal(found.text, name, strlen(name));
	if (found.length)
		assert_int_equal(offset, expected);
}

static void addresses_have_names(void **state)
{
	(void)state;
	load("/boot/System.map-6.1", system_map);
	assert_console_quiet();
	assert_name(0x4000, "first", 0);
	assert_name(0x403f, "first", 0x3f);
	assert_name(0x4040, "second.isra.0", 0);
	assert_name(0x4fff, "last", 0xf7f);
	assert_name(0x3fff, "", 0);
	assert_name(0x5000, "", 0); /* data */
	assert_name(UINT64_MAX, "", 0);
	load("System.map", "00004000 T only\n");
	assert_name(0x4000 + 1 * MIB, "only", 1 * MIB);
	assert_name(0x4001 + 1 * MIB, "", 0); /* of something else: a module, user space */
}

static void names_have_addresses(void **state)
{
	uint64_t address;

	(void)state;
	load("System.map", system_map);
	assert_true(guest_symbol_find((struct word){"counter", 7}, &address));
	assert_int_equal(address, 0x5000);
	assert_false(guest_symbol_find((struct word){"count", 5}, &address));
	assert_false(guest_symbol_find((struct word){"no_address", 10}, &address));
	assert_int_equal(guest_symbol_match((struct word){"b", 1}, 0).length, 6);
	assert_int_equal(guest_symbol_match((struct word){"b", 1}, 1).length, 0);
	assert_int_equal(guest_symbol_match((struct word){"_", 1}, 1).length, 0);
}

static void the_guest_does_not_get_it(void **state)
{
	(void)state;
	load("System.map", system_map);
	assert_int_equal(boot.module_count, 2);
	assert_string_equal(boot.module[0].string, "bzImage console=ttyS0");
	assert_string_equal(boot.module[1].string, "initrd");
	load("initrd.System.map", system_map);
	assert_int_equal(boot.module_count, 3);
}

static void a_broken_map_is_named(void **state)
{
	(void)state;
	load("System.map", "\n\n\x7f"
			   "ELF c000000 T\nc0000000\nc0000000 T \n 12 T x\nc1000000 T cut");
	assert_console(LOG_WARN, "no line of it looks like");
	load("System.map", "");
	assert_int_equal(boot.module_count, 2);
}

static void random_maps_do_no_harm(void **state)
{
	static const char letters[] = "0123456789abcdef  \n\n Tt";
	uint64_t random = 9, offset;
	char text[300];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		make_memory(NULL);
		for (unsigned int k = 0; k < sizeof(text); k++)
			text[k] = letters[random_below(&random, sizeof(letters) - 1)];
		text[random_below(&random, sizeof(text))] = '\0';
		load("System.map", text);
		for (int k = 0; k < 50; k++)
			guest_symbol_at(random_next(&random) >> random_below(&random, 64), &offset);
		guest_symbol_match((struct word){"a", 1}, 0);
	}
}

/* ---- backtraces ---- */

static struct guest_state guest;
static struct backtrace_frame frames[8];

static void put_word(uint64_t address, uint32_t value)
{
	memcpy(arena_at(address), &value, sizeof(value));
}

/* A call whose return address is this. */
static uint32_t call_at(uint64_t next)
{
	*(uint8_t *)arena_at(next - 5) = 0xe8;
	return (uint32_t)next;
}

static void start_guest(void)
{
	memset(&guest, 0, sizeof(guest));
	guest.cr0 = CR0_PE;
	guest.rip = CODE + 0x90;
	guest.regs.rsp = STACK + 0x100;
	load("System.map", system_map);
}

static void frame_pointers_are_followed(void **state)
{
	(void)state;
	start_guest();
	guest.regs.rbp = STACK + 0x110;
	put_word(STACK + 0x110, STACK + 0x140);
	put_word(STACK + 0x114, call_at(CODE + 0x50));
	put_word(STACK + 0x140, 0);
	put_word(STACK + 0x144, call_at(CODE + 0x20));
	assert_int_equal(guest_backtrace(&guest, frames, 8), 3);
	assert_int_equal(frames[0].address, CODE + 0x90);
	assert_int_equal(frames[1].address, CODE + 0x50);
	assert_int_equal(frames[2].address, CODE + 0x20);
	assert_false(frames[2].guessed);
	assert_int_equal(guest_backtrace(&guest, frames, 2), 2);
}

static void frame_pointers_in_a_circle_end(void **state)
{
	(void)state;
	start_guest();
	guest.regs.rbp = STACK + 0x110;
	put_word(STACK + 0x110, STACK + 0x110);
	put_word(STACK + 0x114, call_at(CODE + 0x50));
	assert_true(guest_backtrace(&guest, frames, 8) <= 3);
}

static void without_them_the_stack_is_searched(void **state)
{
	(void)state;
	start_guest();
	guest.regs.rbp = 12345;
	put_word(STACK + 0x108, CODE + 0x64); /* behind no call */
	put_word(STACK + 0x120, call_at(CODE + 0x50));
	put_word(STACK + 0x124, 0x5000);
	put_word(STACK, 0xb000); /* an interrupt's stack, and what it interrupted */
	put_word(0xb000, call_at(CODE + 0x20));
	put_word(0xb000 - 4, call_at(CODE + 0x30));
	assert_int_equal(guest_backtrace(&guest, frames, 8), 3);
	assert_int_equal(frames[1].address, CODE + 0x50);
	assert_true(frames[1].guessed);
	assert_int_equal(frames[2].address, CODE + 0x20);
}

static void a_wild_stack_has_no_callers(void **state)
{
	(void)state;
	start_guest();
	guest.regs.rsp = guest.regs.rbp = 0xfffffff0;
	assert_int_equal(guest_backtrace(&guest, frames, 8), 1);
	guest.rip = 0xfffffff0;
	assert_int_equal(guest_backtrace(&guest, frames, 8), 1);
}

#define TEST(name) cmocka_unit_test_setup(name, make_memory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(addresses_have_names),	      TEST(names_have_addresses),
		TEST(the_guest_does_not_get_it),      TEST(a_broken_map_is_named),
		TEST(random_maps_do_no_harm),	      TEST(frame_pointers_are_followed),
		TEST(frame_pointers_in_a_circle_end), TEST(without_them_the_stack_is_searched),
		TEST(a_wild_stack_has_no_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
