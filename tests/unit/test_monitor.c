// SPDX-License-Identifier: GPL-2.0-only
/*
 * The monitor's commands on a guest of two processors, with real page tables, breakpoints and
 * symbols; only the machinery that stops processors is a fake. At the end lines of junk.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "core/processor.h"
#include "core/vendor.h"
#include "debug/breakpoints.h"
#include "debug/console_ring.h"
#include "debug/guest_symbols.h"
#include "debug/monitor.h"
#include "debug/monitor_command.h"
#include "debug/monitor_run.h"
#include "debug/trace.h"
#include "guest/e820.h"
#include "mm/frames.h"
#include "mm/guest_memory.h"
#include "mm/mmu.h"
#include "mm/page_table.h"

#define RAM_SIZE (64 * PAGE_SIZE)
#define FRAMES	 0x20000
#define MAP	 0x1e000
#define CODE	 0x4000
#define ENDS	 "ended"

static struct processor processors[2];
static struct stopped vcpus[2];
static struct page_table nested;
static char said[1 << 20];
static uint32_t sent; /* to an APIC */
static bool has_rom;
static jmp_buf end;

struct stopped *debugger_vcpu(unsigned int number)
{
	assert_true(number < ARRAY_SIZE(vcpus));
	return &vcpus[number];
}

unsigned int processor_count(void)
{
	return ARRAY_SIZE(processors);
}

struct processor *processor_at(unsigned int number)
{
	assert_true(number < ARRAY_SIZE(processors));
	return &processors[number];
}

unsigned int mmu_nested_walk(gpa_t address, uint64_t entry[PAGE_TABLE_LEVELS])
{
	return nested.root.raw ? page_table_walk(&nested, address.raw, entry) : 0;
}

static const char *nested_rights(uint64_t entry, char text[VENDOR_RIGHTS_SIZE])
{
	strcpy(text, entry & PAGE_WRITE ? "write" : "read-only");
	return text;
}

static const struct vendor fake_vendor = {.nested_name = "NPT", .nested_rights = nested_rights};
const struct vendor *vendor = &fake_vendor;

bool guest_space_is_kept(gpa_t address, uint64_t size)
{
	(void)size;
	return address.raw >= FRAMES && address.raw < RAM_SIZE;
}

static uint8_t rom[4096];

const uint8_t *rom_installed(gpa_t *slot)
{
	*slot = gpa(0xc3000);
	return has_rom ? rom : NULL;
}

bool hypercall_guest_rom(gva_t *address)
{
	*address = gva(0xc00c3000);
	return true;
}

void lapic_send(uint32_t apic_id, uint32_t command)
{
	sent = apic_id << 24 | command;
}

void record_end(const char *why)
{
	monitor_print("end %s\n", why);
}

void record_trace(void)
{
	monitor_print("records\n");
}

void record_attach(const struct vcpu *vcpu)
{
	(void)vcpu;
}

void panic_set_activity(const char *text)
{
	(void)text;
}

void power_off(void)
{
}

void power_reset(void)
{
	longjmp(end, 1);
}

/* ---- asking ---- */

static void print(const char *text)
{
	assert_true(strlen(said) + strlen(text) < sizeof(said));
	strcat(said, text);
}

static const char *ask(const char *line)
{
	said[0] = '\0';
	if (!setjmp(end))
		monitor_run(line, 0, print);
	return said;
}

static bool ask_own(const char *line, unsigned int *vcpu)
{
	said[0] = '\0';
	return monitor_run_own(line, vcpu, print);
}

static void assert_answer(const char *line, const char *expected)
{
	ask(line);
	if (!strstr(said, expected))
		fail_msg("\"%s\" says:\n%snot: %s", line, said, expected);
}

static int reset(void **state)
{
	static struct e820_map map = {.count = 1, .entry = {{0, FRAMES, E820_RAM}}};
	static const char symbols[] = "00004000 T start_kernel\n00004100 T do_timer\n"
				      "00006000 D jiffies\n";
	static struct boot_info boot;

	(void)state;
	console_clear();
	arena_create(RAM_SIZE);
	guest_memory_init(&map);
	frames_init(hpa(FRAMES), hpa(RAM_SIZE));
	assert_int_equal(page_table_init(&nested, PAGE_PRESENT | PAGE_WRITE, 2 * MIB), 0);
	assert_int_equal(page_table_map(&nested, 0, RAM_SIZE, hpa(0), PAGE_PRESENT | PAGE_WRITE),
			 0);
	memset(&boot, 0, sizeof(boot));
	strcpy(boot.module[0].string, "System.map");
	memcpy(arena_at(MAP), symbols, strlen(symbols));
	boot.module[0].start = hpa(MAP);
	boot.module[0].size = strlen(symbols);
	boot.module_count = 1;
	guest_symbols_take(&boot);
	memset(processors, 0, sizeof(processors));
	memset(vcpus, 0, sizeof(vcpus));
	breakpoints_clear();
	processors[1].vcpu.id = 1;
	processors[1].apic_id = 7;
	for (unsigned int i = 0; i < ARRAY_SIZE(vcpus); i++) {
		vcpus[i].is_there = true;
		vcpus[i].state.cr0 = CR0_PE;
		vcpus[i].state.rip = CODE + 0x10 * i;
		vcpus[i].state.cs.access = 0xc09b;
	}
	memcpy(arena_at(CODE), "\x55\x89\xe5\x90", 4);
	has_rom = false;
	return 0;
}

/* ---- */

static void help_has_a_line_for_each_command(void **state)
{
	(void)state;
	assert_answer("help", "mem ADDRESS [BYTES]        show memory\n");
	assert_answer("  help   regs ", "regs                       all registers");
	assert_answer("help no", "no: no such command");
	assert_answer("no", "no: no such command; \"help\" lists them");
	assert_string_equal(ask(""), "");
	assert_string_equal(ask("   "), "");
}

static void registers_are_decoded(void **state)
{
	struct guest_state *s = &vcpus[0].state;

	(void)state;
	s->regs.rax = 0x1234;
	s->rflags = 0x246;
	s->cr4 = CR4_PAE;
	s->cs.access = 0xc0fb;
	s->tr.access = 0x8b;
	assert_answer("regs", "rax 0000000000001234");
	assert_answer("regs", "rfl  0000000000000246  PF ZF IF\n");
	assert_answer("regs", "cr4  0000000000000020  PAE\n");
	assert_answer("regs", "32-bit code, readable, DPL 3\n");
	assert_answer("regs", "busy TSS, DPL 0\n");
	assert_answer("regs", "rip 0000000000004000  start_kernel\n");
	assert_answer("regs x", "x: too much");
}

static void memory_is_shown(void **state)
{
	(void)state;
	memcpy(arena_at(0x5000), "Hello, world\x01", 13);
	assert_string_equal(ask("mem 5000 20"),
			    "00005000  48 65 6c 6c 6f 2c 20 77  6f 72 6c 64 01 00 00 00  "
			    "Hello, world....\n"
			    "00005010  00 00 00 00                                       ....\n");
	assert_answer("mem p:5000 1", "p:00005000  48");
	assert_answer("mem 0x5000 0x10", "Hello");
	assert_answer("mem 1fff8 16", "00020000: not mapped");
	assert_answer("mem p:80000000", "p:80000000: no RAM or ROM of the guest's");
	assert_answer("mem", "an address is wanted");
	assert_answer("mem nothing", "nothing: an address is wanted");
	assert_answer("mem 5000 0", "0: a number of 1 to 4096 is wanted");
	assert_answer("mem 5000 4097", "a number of 1 to 4096");
	assert_answer("mem 5000 99999999999999999999", "a number of 1 to 4096");
	assert_answer("mem 5000 1 1", "too much");
}

static void addresses_are_names_registers_and_sums(void **state)
{
	(void)state;
	vcpus[0].state.regs.rsp = 0x6010;
	assert_string_equal(ask("sym start_kernel"), "00004000  start_kernel\n");
	assert_string_equal(ask("sym start_kernel+104"), "00004104  do_timer+4\n");
	assert_string_equal(ask("sym $esp-10"), "00006000\n");
	assert_string_equal(ask("sym jiffies"), "00006000\n");
	assert_string_equal(ask("sym $rip"), "00004000  start_kernel\n");
	assert_string_equal(ask("sym 0-1"), "ffffffff\n");
	assert_answer("sym $exx", "$exx: an address is wanted");
	assert_answer("sym $", "an address is wanted");
	assert_answer("sym p:", "an address is wanted");
	assert_answer("sym 1+", "an address is wanted");
	assert_answer("sym 1+g", "an address is wanted");
	assert_answer("sym 12345678901234567", "an address is wanted");
}

static void memory_is_written_whole_or_not(void **state)
{
	(void)state;
	assert_answer("write 5000 de ad be ef", "4 bytes written at 00005000");
	assert_memory_equal(arena_at(0x5000), "\xde\xad\xbe\xef", 4);
	assert_answer("write p:5001 \"a b\"", "3 bytes written at p:00005001");
	assert_memory_equal(arena_at(0x5000),
			    "\xde"
			    "a b",
			    4);
	assert_answer("write 1fffe 1 2 3 4", "not mapped");
	assert_memory_equal(arena_at(0x1fffe), "\0\0", 2);
	assert_answer("write 5000", "1 to 64 bytes are wanted");
	assert_answer("write 5000 100", "1 to 64 bytes are wanted");
	assert_answer("write 5000 \"open", "1 to 64 bytes are wanted");
	assert_answer("write 5000 xy", "1 to 64 bytes are wanted");
}

static void memory_is_searched(void **state)
{
	(void)state;
	memcpy(arena_at(0x5ffe), "abab", 4); /* across a page's end */
	assert_string_equal(ask("find 5000 0x2000 \"abab\""), "00005ffe\nfound 1 times\n");
	assert_answer("find 5000 0x2000 62 61", "00005fff\nfound 1 times");
	assert_answer("find p:0 4294967296 \"abab\"", "p:00005ffe\nfound 1 times");
	assert_answer("find 0 0x20000 0", "and perhaps more");
	assert_answer("find 0 1000", "1 to 64 bytes");
}

static void code_is_for_objdump(void **state)
{
	(void)state;
	assert_string_equal(ask("code $eip 4"), "code 32 4000 55 89 e5 90  start_kernel\n");
	assert_answer("code 20000", "not mapped");
	vcpus[0].state.cs.access = 0x9b;
	assert_answer("code", "code 16 4000 55");
}

static void page_tables_are_walked(void **state)
{
	uint32_t entry = 0x2007;

	(void)state;
	vcpus[0].state.cr0 = CR0_PE | CR0_PG;
	vcpus[0].state.cr3 = 0x1000;
	memcpy(arena_at(0x1000 + 0x300 * 4), &entry, 4);
	entry = 0x5025;
	memcpy(arena_at(0x2000 + 4 * 4), &entry, 4);
	ask("walk c0004123");
	assert_non_null(strstr(said, "PD   00001000[300]  00002007  present write user\n"));
	assert_non_null(strstr(said, "PT   00002000[004]  00005025  present user accessed\n"));
	assert_non_null(strstr(said, "page of 4 KiB at p:5000, user, read-only, executable\n"));
	assert_non_null(strstr(said, "NPT, for p:5123\n"));
	assert_answer("walk c0005000", "not mapped: this entry is not present\n");
	assert_answer("walk p:30000", "Vellum's own memory");
	assert_answer("walk p:ffffffffffff", "not mapped: it will be");
	nested.root = hpa(0);
	assert_answer("walk p:1000", "no nested paging");
}

static void exits_and_calls_are_counted(void **state)
{
	(void)state;
	processors[0].vcpu.exits[EXIT_CPUID] = (struct exit_counter){10, 1000};
	ask("exits");
	assert_non_null(strstr(said, "cpuid                            10             1000"
				     "          100\n"));
	assert_non_null(strstr(said, "all                              10"));
	assert_answer("vmi", "there is no VMI ROM");
	has_rom = true;
	processors[0].vcpu.vmi_calls[VMI_CALL_SetCR3].count = 5;
	assert_answer("vmi", "VMI ROM at p:c3000, the guest calls it at c00c3000");
	assert_answer("vmi", "17 SetCR3                 none");
	assert_null(strstr(said, "GetCR3"));
	assert_answer("vmi all", "21 GetCR3");
}

static void trace_exit(unsigned int cpu, uint64_t rip, enum exit_reason reason, uint64_t detail)
{
	struct vcpu *vcpu = &processors[cpu].vcpu;

	trace_begin(vcpu, rip);
	trace_note(vcpu, detail);
	vcpu_count_exit(vcpu, reason);
	trace_end(vcpu);
}

static void the_last_exits_are_shown(void **state)
{
	(void)state;
	ask("trace clear");
	processors[0].vcpu.regs.rax = 6;
	trace_exit(0, CODE, EXIT_PORT, TRACE_PORT(0xcf9, 1, false));
	trace_exit(1, CODE + 4, EXIT_EXCEPTION, 1);
	trace_exit(1, CODE + 8, EXIT_NESTED_FAULT, 0xfed00000);
	assert_answer("trace", "  0  00004000  port ");
	assert_answer("trace", "out 1 cf9 = 6  start_kernel\n");
	assert_answer("trace", "vector 1  start_kernel+4\n");
	assert_answer("trace", "without trace=on CPUID and hypercalls are not in it");
	assert_answer("trace 1", "p:fed00000");
	assert_null(strstr(said, "vector"));
	assert_answer("trace cpu=0", "cf9");
	assert_null(strstr(said, "vector"));
	assert_answer("trace 32 cpu=1 exception", "vector 1");
	assert_null(strstr(said, "fed00000"));
	assert_answer("trace cpu=x", "trace takes cpu=0 to cpu=9");
	assert_answer("trace 99999", "a number of 1 to 2048");
	assert_answer("trace json", "records");
	assert_answer("hist", "cycles from      exits\n");
	assert_answer("hist cpu=1 exception", "         1  ####");
	ask("trace clear");
	assert_string_equal(ask("hist"), "cycles from      exits\n");
}

static void processors_are_chosen(void **state)
{
	unsigned int vcpu = 0;

	(void)state;
	assert_answer("cpus", "* 0  APIC id 0");
	assert_answer("cpus", "  1  APIC id 7   0000000000004010  start_kernel+10");
	assert_false(ask_own("cpu 1", &vcpu));
	assert_int_equal(vcpu, 1);
	ask_own("cpu 2", &vcpu);
	ask_own("cpu", &vcpu);
	ask_own("cpu -1", &vcpu);
	ask_own("cpu 99999999999999999999", &vcpu);
	assert_int_equal(vcpu, 1);
	vcpus[0].is_there = false;
	ask_own("cpu 0", &vcpu);
	assert_int_equal(vcpu, 1);
	assert_answer("regs", "processor 0 is not stopped");
	ask_own("nmi", &vcpu);
	assert_int_equal(sent, 7u << 24 | 0x4400);
}

static void gdb_keeps_its_own_commands(void **state)
{
	(void)state;
	assert_answer("break start_kernel", "with gdb, gdb does that");
	assert_answer("c", "with gdb, gdb does that");
	assert_false(watchpoints_in_use());
}

static void breakpoints_are_set_and_listed(void **state)
{
	unsigned int vcpu = 0;

	(void)state;
	ask_own("break do_timer", &vcpu);
	assert_string_equal(said, "1  break  00004100  do_timer\n");
	ask_own("watch jiffies 4", &vcpu);
	assert_non_null(strstr(said, "2  watch  00006000, 4 bytes\n"));
	ask_own("watch 6001 4", &vcpu);
	assert_non_null(strstr(said, "watch takes 1, 2, 4 or 8 bytes"));
	ask_own("watch 6000 3", &vcpu);
	assert_non_null(strstr(said, "watch takes 1, 2, 4 or 8 bytes"));
	ask_own("break p:1000", &vcpu);
	assert_non_null(strstr(said, "linear addresses"));
	ask_own("break 1", &vcpu);
	ask_own("break 2", &vcpu);
	ask_own("break 3", &vcpu);
	assert_non_null(strstr(said, "all are in use"));
	ask_own("delete 1", &vcpu);
	assert_null(strstr(said, "do_timer"));
	ask_own("delete 5", &vcpu);
	assert_non_null(strstr(said, "a number of 1 to 4"));
	ask_own("delete", &vcpu);
	assert_string_equal(said, "no breakpoints\n");
}

static void it_goes_on_from_a_breakpoint(void **state)
{
	unsigned int vcpu = 0;

	(void)state;
	assert_true(ask_own("c", &vcpu));
	assert_int_equal(vcpus[0].resume, RESUME_RUN);
	ask_own("break start_kernel", &vcpu);
	assert_true(ask_own("c", &vcpu)); /* over the breakpoint first, the others stand */
	assert_int_equal(vcpus[0].resume, RESUME_STEP);
	assert_int_equal(vcpus[1].resume, RESUME_HOLD);
	assert_false(watchpoints_in_use());
	vcpus[0].why.reason = STOP_STEP;
	assert_int_equal(monitor_run_stopped(0, CODE + 1), MONITOR_RUNS_ON);
	assert_int_equal(vcpus[1].resume, RESUME_RUN);
	assert_true(watchpoints_in_use());
	vcpus[0].why.reason = STOP_HARDWARE;
	assert_int_equal(monitor_run_stopped(0, CODE), MONITOR_STOPS);
}

static void steps_are_counted(void **state)
{
	unsigned int vcpu = 1;

	(void)state;
	assert_true(ask_own("s 3", &vcpu));
	assert_int_equal(vcpus[0].resume, RESUME_HOLD);
	vcpus[1].why.reason = STOP_STEP;
	assert_int_equal(monitor_run_stopped(1, 1), MONITOR_SHOWS);
	assert_int_equal(monitor_run_stopped(1, 2), MONITOR_SHOWS);
	assert_int_equal(monitor_run_stopped(1, 3), MONITOR_STOPS);
	ask_own("s 1000", &vcpu);
	assert_int_equal(monitor_run_stopped(1, 4), MONITOR_RUNS_ON);
	vcpus[1].why.reason = STOP_WATCH; /* ends them */
	assert_int_equal(monitor_run_stopped(1, 5), MONITOR_STOPS);
	vcpus[1].why.reason = STOP_STEP;
	assert_int_equal(monitor_run_stopped(1, 6), MONITOR_STOPS);
}

static void what_was_said_is_shown_again(void **state)
{
	(void)state;
	console_ring_add("vellum: one\nvellum: two\n");
	assert_string_equal(ask("log 1"), "vellum: two\n");
	assert_answer("log", "vellum: one\nvellum: two\n");
	assert_answer("log x", "a number of 1 to 4096");
}

static void the_machine_ends(void **state)
{
	(void)state;
	assert_answer("reset now", "now: too much");
	assert_answer("reset", "end reset");
	assert_answer("power-off", "end poweroff\nthe machine has no ACPI power-off that works");
}

static void names_are_completed(void **state)
{
	struct word one = monitor_candidate((struct word){"re", 2}, true, 1);

	(void)state;
	assert_memory_equal(one.text, "reset", 5);
	assert_int_equal(monitor_candidate((struct word){"re", 2}, true, 99).length, 0);
	one = monitor_candidate((struct word){"do", 2}, false, 0);
	assert_int_equal(one.length, 8);
}

static void junk_does_no_harm(void **state)
{
	static const char *const words[] = {
		"help", "regs",	 "bt",	 "mem",	  "code",  "write",   "find",	  "walk",  "sym",
		"cpu",	"c",	 "s",	 "break", "watch", "delete",  "vmi",	  "exits", "trace",
		"hist", "cpu=1", "$esp", "p:",	  "+",	   "-",	      "ffffffff", "0",	   "5000",
		"1",	"\"",	 "0x",	 "4096",  "nmi",   "jiffies", "cpus",	  "4000"};
	uint64_t random = 11;
	char line[256];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		unsigned int vcpu = (unsigned int)random_below(&random, 2), length = 0;

		vcpus[0].state.cr0 = random_below(&random, 2) ? CR0_PE | CR0_PG : CR0_PE;
		vcpus[0].state.cr4 = random_next(&random);
		vcpus[0].state.efer = random_below(&random, 2) ? EFER_LMA : 0;
		vcpus[0].state.cr3 = random_next(&random) & 0x3ffff;
		vcpus[0].state.regs.rsp = random_next(&random);
		for (int k = 0; k < 5; k++) {
			const char *word = words[random_below(&random, ARRAY_SIZE(words))];

			if (!random_below(&random, 6))
				line[length++] = (char)(1 + random_below(&random, 255));
			length += (unsigned int)sprintf(line + length, "%s%s", word,
							random_below(&random, 4) ? " " : "");
		}
		ask_own(line, &vcpu);
		monitor_run_stopped(0, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(help_has_a_line_for_each_command),
		TEST(registers_are_decoded),
		TEST(memory_is_shown),
		TEST(addresses_are_names_registers_and_sums),
		TEST(memory_is_written_whole_or_not),
		TEST(memory_is_searched),
		TEST(code_is_for_objdump),
		TEST(page_tables_are_walked),
		TEST(exits_and_calls_are_counted),
		TEST(the_last_exits_are_shown),
		TEST(processors_are_chosen),
		TEST(gdb_keeps_its_own_commands),
		TEST(breakpoints_are_set_and_listed),
		TEST(it_goes_on_from_a_breakpoint),
		TEST(steps_are_counted),
		TEST(what_was_said_is_shown_again),
		TEST(the_machine_ends),
		TEST(names_are_completed),
		TEST(junk_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
