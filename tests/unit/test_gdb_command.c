// SPDX-License-Identifier: GPL-2.0-only
/*
 * What gdb's packets do to a guest of two processors, on real breakpoints, registers and guest
 * memory; only the machinery that stops processors is a fake. At the end random packets.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "core/processor.h"
#include "debug/breakpoints.h"
#include "debug/debugger.h"
#include "debug/gdb_command.h"
#include "debug/monitor.h"
#include "guest/e820.h"
#include "mm/guest_memory.h"

#define RAM_SIZE (16 * PAGE_SIZE)
#define CODE	 0x5000

static struct gdb_session session;
static struct stopped vcpus[2];
static char monitor_line[512];
static unsigned int monitor_vcpu;

struct stopped *debugger_vcpu(unsigned int number)
{
	assert_true(number < ARRAY_SIZE(vcpus));
	return &vcpus[number];
}

unsigned int processor_count(void)
{
	return ARRAY_SIZE(vcpus);
}

void monitor_run(const char *line, unsigned int vcpu, void (*print)(const char *text))
{
	snprintf(monitor_line, sizeof(monitor_line), "%s", line);
	monitor_vcpu = vcpu;
	print("answer");
}

static void take_text(const char *text)
{
	assert_string_equal(text, "answer");
}

static uint8_t *code(void)
{
	return arena_at(CODE);
}

static int reset(void **state)
{
	static struct e820_map map = {.count = 1, .entry = {{0, RAM_SIZE, E820_RAM}}};

	(void)state;
	arena_create(RAM_SIZE);
	guest_memory_init(&map);
	memcpy(code(), "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	memset(vcpus, 0, sizeof(vcpus));
	vcpus[0].is_there = vcpus[1].is_there = true;
	session = (struct gdb_session){.print = take_text};
	return 0;
}

static int clean_up(void **state)
{
	(void)state;
	breakpoints_clear();
	arena_free();
	return 0;
}

static enum gdb_outcome outcome(const char *packet)
{
	return gdb_command(&session, packet, strlen(packet));
}

static const char *reply(const char *packet)
{
	assert_int_equal(outcome(packet), GDB_ANSWER);
	assert_int_equal(strlen(session.reply.data), session.reply.length);
	return session.reply.data;
}

#define ASSERT_REPLY(packet, text) assert_string_equal(reply(packet), text)

static void what_is_unknown_gets_an_empty_answer(void **state)
{
	(void)state;
	ASSERT_REPLY("", "");
	ASSERT_REPLY("!", "");
	ASSERT_REPLY("qNobodyKnows", "");
	ASSERT_REPLY("QThis", "");
	ASSERT_REPLY("vMustReplyEmpty", "");
	ASSERT_REPLY("Z3,5000,4", "");
	ASSERT_REPLY("Z9,5000,4", "");
}

static void features_are_told(void **state)
{
	(void)state;
	assert_non_null(strstr(reply("qSupported:multiprocess+"), "PacketSize=1000"));
	assert_non_null(strstr(session.reply.data, "qXfer:features:read+"));
	ASSERT_REPLY("QStartNoAckMode", "OK");
	assert_true(session.no_ack);
	ASSERT_REPLY("qAttached", "1");
}

static void a_stop_is_told_with_its_reason(void **state)
{
	(void)state;
	vcpus[0].why.reason = STOP_START;
	ASSERT_REPLY("?", "T05thread:1;");
	vcpus[0].why.reason = STOP_BREAKPOINT;
	ASSERT_REPLY("?", "T05thread:1;swbreak:;");
	vcpus[0].why.reason = STOP_HARDWARE;
	ASSERT_REPLY("?", "T05thread:1;hwbreak:;");
	vcpus[0].why = (struct stop){STOP_WATCH, 0xc1234568, BREAK_WRITE};
	ASSERT_REPLY("?", "T05thread:1;watch:c1234568;");
	vcpus[0].why = (struct stop){STOP_WATCH, 0xc1234568, BREAK_ACCESS};
	ASSERT_REPLY("?", "T05thread:1;awatch:c1234568;");
	vcpus[0].why.reason = STOP_SHUTDOWN;
	ASSERT_REPLY("?", "T0bthread:1;");
	session.server = 1;
	vcpus[1].why.reason = STOP_ATTENTION;
	ASSERT_REPLY("?", "T02thread:2;");
}

static void threads_are_the_processors_that_stand_still(void **state)
{
	(void)state;
	ASSERT_REPLY("qfThreadInfo", "m1,2");
	ASSERT_REPLY("qsThreadInfo", "l");
	ASSERT_REPLY("T2", "OK");
	vcpus[1].is_there = false;
	ASSERT_REPLY("qfThreadInfo", "m1");
	ASSERT_REPLY("T2", "E02");
	ASSERT_REPLY("T3", "E02");
	ASSERT_REPLY("Hg2", "E02");
	ASSERT_REPLY("Hgffffffffffffffff", "E02");
	ASSERT_REPLY("Hx1", "");
	ASSERT_REPLY("H", "");
}

static void the_chosen_thread_is_the_one_that_is_read(void **state)
{
	(void)state;
	vcpus[0].state.regs.rax = 0x11223344;
	vcpus[1].state.regs.rax = 0x55667788;
	ASSERT_REPLY("p0", "44332211");
	ASSERT_REPLY("Hg2", "OK");
	ASSERT_REPLY("p0", "88776655");
	ASSERT_REPLY("qC", "QC2");
	ASSERT_REPLY("Hg0", "OK");
	ASSERT_REPLY("p0", "44332211");
}

static void registers_come_in_gdbs_order(void **state)
{
	(void)state;
	vcpus[0].state.regs.rcx = 0xffffffff01020304;
	vcpus[0].state.rip = 0xc0ffee00;
	vcpus[0].state.cs.selector = 0x60;
	assert_memory_equal(reply("g"), "0000000004030201", 16);
	assert_memory_equal(session.reply.data + 8 * 8, "00eeffc0", 8);
	assert_memory_equal(session.reply.data + 10 * 8, "60000000", 8);
	session.wide = true;
	assert_memory_equal(reply("g") + 2 * 16, "04030201ffffffff", 16);
}

/* One description is one list: as many bytes in 'g' as it has bits. */
static void description_and_registers_agree(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		char text[8192] = "", packet[64];
		size_t bits = 0;

		session.wide = wide;
		do {
			snprintf(packet, sizeof(packet), "qXfer:features:read:target.xml:%zx,200",
				 strlen(text));
			strcat(text, reply(packet) + 1);
		} while (session.reply.data[0] == 'm');
		assert_non_null(strstr(text, wide ? "i386:x86-64<" : ">i386<"));
		assert_non_null(strstr(text, "</target>"));
		for (const char *at = text; (at = strstr(at, "bitsize=\"")); at++)
			bits += strtoul(at + strlen("bitsize=\""), NULL, 10);
		assert_int_equal(strlen(reply("g")), bits / 8 * 2);
		assert_true(session.reply.length < GDB_PACKET_MAX);
	}
}

static void what_can_be_written_is_general_registers_and_flags(void **state)
{
	(void)state;
	vcpus[0].state.regs.rax = UINT64_MAX;
	ASSERT_REPLY("P0=44332211", "OK");
	assert_true(vcpus[0].state.regs.rax == 0x11223344);
	ASSERT_REPLY("P8=00eeffc0", "OK");
	assert_true(vcpus[0].state.rip == 0xc0ffee00);
	ASSERT_REPLY("Pa=60000000", "E16");		/* CS */
	ASSERT_REPLY("P10=0102030405060708090a", "OK"); /* ST0 */
	assert_memory_equal(vcpus[0].state.fpu + 32, "\1\2\3\4\5\6\7\x8\x9\xa\0", 11);
	ASSERT_REPLY("P1a=fffc0000", "OK"); /* the tags of ST4 */
	assert_int_equal(vcpus[0].state.fpu[4], 0x10);
	ASSERT_REPLY("P20=00112233445566778899aabbccddeeff", "OK"); /* XMM0 */
	assert_memory_equal(vcpus[0].state.fpu + 160,
			    "\0\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
	ASSERT_REPLY("P0=443322", "E16");
	ASSERT_REPLY("P0", "E16");
	ASSERT_REPLY("Pffff=00", "E16");
	ASSERT_REPLY("pffff", "E16");
	ASSERT_REPLY("G0102030405060708", "OK");
	assert_true(vcpus[0].state.regs.rcx == 0x08070605);
	ASSERT_REPLY("G010203", "E16");
}

static void memory_is_read_and_written(void **state)
{
	(void)state;
	ASSERT_REPLY("m5000,4", "01020304");
	ASSERT_REPLY("M5001,2:a5b6", "OK");
	ASSERT_REPLY("m5000,4", "01a5b604");
	assert_int_equal(gdb_command(&session, "X5000,2:\0$", 10), GDB_ANSWER);
	ASSERT_REPLY("m5000,4", "0024b604");
	ASSERT_REPLY("X5000,0:", "OK");
	ASSERT_REPLY("m5000,0", "");
}

static void what_is_no_memory_is_an_error(void **state)
{
	(void)state;
	ASSERT_REPLY("m80000000,4", "E0e");
	ASSERT_REPLY("M80000000,1:00", "E0e");
	ASSERT_REPLY("mfffe,8", "0000"); /* as far as it goes */
	ASSERT_REPLY("m5000", "E16");
	ASSERT_REPLY("m,", "E16");
	ASSERT_REPLY("M5000,4:00", "E16");
	ASSERT_REPLY("M5000,ffffffffffffffff:00", "E16");
	ASSERT_REPLY("X5000,4:x", "E16");
	assert_true(strlen(reply("m5000,ffffffff")) < GDB_PACKET_MAX);
}

/* All of the root is one table of itself, so that any canonical address is mapped. */
static void in_long_mode_an_address_is_canonical_or_nothing(void **state)
{
	struct guest_state *guest = &vcpus[0].state;
	uint64_t *table = arena_at(0x2000);

	(void)state;
	for (unsigned int i = 0; i < 512; i++)
		table[i] = 0x2001;
	guest->cr0 = CR0_PE | CR0_PG;
	guest->cr3 = 0x2000;
	guest->cr4 = CR4_PAE;
	guest->efer = EFER_LME | EFER_LMA;
	ASSERT_REPLY("mffff800000000000,4", "01200000");
	ASSERT_REPLY("m800000000000,4", "E0e");
	ASSERT_REPLY("Z0,800000000000,1", "E0e");
	guest->cr4 |= CR4_LA57;
	ASSERT_REPLY("m800000000000,4", "01200000");
	ASSERT_REPLY("m100000000000000,4", "E0e");
}

/* From its greeting on a gdb sees one kind of registers. */
static void the_width_is_that_of_the_greeting(void **state)
{
	(void)state;
	reply("qSupported:a");
	assert_false(session.wide);
	vcpus[0].state.efer = EFER_LMA;
	reply("g");
	assert_false(session.wide);
	reply("qSupported:a");
	assert_true(session.wide);
	vcpus[0].state.efer = 0;
	session.wide_guest = true;
	reply("qSupported:a");
	assert_true(session.wide);
}

static void noise_is_no_greeting(void **state)
{
	(void)state;
	assert_true(gdb_is_greeting("qSupported:multiprocess+"));
	assert_true(gdb_is_greeting("QStartNoAckMode"));
	assert_false(gdb_is_greeting("?"));
	assert_false(gdb_is_greeting("k"));
	assert_false(gdb_is_greeting(""));
	assert_false(gdb_is_greeting("qSupporte"));
}

static void a_breakpoint_is_in_the_code_and_not_in_what_is_read(void **state)
{
	struct guest_paging none = {0};

	(void)state;
	ASSERT_REPLY("Z0,5002,1", "OK");
	ASSERT_REPLY("Z0,5002,1", "OK");
	assert_int_equal(code()[2], 0xcc);
	ASSERT_REPLY("m5000,4", "01020304");
	assert_true(breakpoint_is_at(&none, 0x5002));
	assert_false(breakpoint_is_at(&none, 0x5003));
	ASSERT_REPLY("M5002,1:77", "OK");
	assert_int_equal(code()[2], 0xcc);
	ASSERT_REPLY("z0,5002,1", "OK");
	assert_int_equal(code()[2], 0x77);
	ASSERT_REPLY("z0,5002,1", "E02");
	ASSERT_REPLY("Z0,80000000,1", "E0e");
	ASSERT_REPLY("Z0,5002", "E16");
}

/* The guest has put another instruction there: that one stays. */
static void code_that_the_guest_has_changed_stays(void **state)
{
	(void)state;
	ASSERT_REPLY("Z0,5002,1", "OK");
	code()[2] = 0x90;
	ASSERT_REPLY("m5002,1", "90");
	ASSERT_REPLY("z0,5002,1", "OK");
	assert_int_equal(code()[2], 0x90);
}

static void there_are_64_software_breakpoints(void **state)
{
	char packet[32];

	(void)state;
	for (unsigned int i = 0; i < SOFTWARE_BREAKPOINTS_MAX; i++) {
		snprintf(packet, sizeof(packet), "Z0,%x,1", 0x6000 + i);
		ASSERT_REPLY(packet, "OK");
	}
	ASSERT_REPLY("Z0,7000,1", "E07");
}

static void watchpoints_are_in_dr7(void **state)
{
	(void)state;
	assert_false(watchpoints_in_use());
	ASSERT_REPLY("Z1,c1000001,3", "OK"); /* execution has no size and no alignment */
	ASSERT_REPLY("Z2,c1000004,4", "OK");
	ASSERT_REPLY("Z4,c1000008,8", "OK");
	assert_true(watchpoints_in_use());
	/* DR7: G0 G1 G2; DR0 executes; DR1 writes, 4 bytes; DR2 reads and writes, 8 bytes */
	assert_int_equal(watchpoints_dr7(),
			 0x400 | 0x2a | 1u << 20 | 3u << 22 | 3u << 24 | 2u << 26);
	ASSERT_REPLY("z2,c1000004,4", "OK");
	assert_int_equal(watchpoints_dr7(), 0x400 | 0x22 | 3u << 24 | 2u << 26);
	ASSERT_REPLY("z2,c1000004,4", "E02");
	ASSERT_REPLY("Z2,c1000002,4", "E16");
	ASSERT_REPLY("Z2,c1000000,3", "E16");
	ASSERT_REPLY("Z2,10,1", "OK");
	ASSERT_REPLY("Z2,11,1", "OK");
	ASSERT_REPLY("Z2,12,1", "E07");
}

static void going_on_is_all_but_the_one_that_steps(void **state)
{
	(void)state;
	assert_int_equal(outcome("c"), GDB_GO_ON);
	assert_int_equal(vcpus[0].resume, RESUME_RUN);
	assert_int_equal(vcpus[1].resume, RESUME_RUN);
	assert_int_equal(outcome("s5004"), GDB_GO_ON);
	assert_int_equal(vcpus[0].resume, RESUME_STEP);
	assert_true(vcpus[0].state.rip == 0x5004);
	assert_int_equal(outcome("C05;5006"), GDB_GO_ON);
	assert_true(vcpus[0].state.rip == 0x5006);
	assert_int_equal(outcome("S05"), GDB_GO_ON);
	ASSERT_REPLY("cx", "E16");
	ASSERT_REPLY("C", "E16");
}

static void vcont_decides_for_each_thread(void **state)
{
	(void)state;
	ASSERT_REPLY("vCont?", "vCont;c;C;s;S");
	assert_int_equal(outcome("vCont;s:2"), GDB_GO_ON);
	assert_int_equal(vcpus[0].resume, RESUME_HOLD);
	assert_int_equal(vcpus[1].resume, RESUME_STEP);
	assert_int_equal(outcome("vCont;s:2;c"), GDB_GO_ON);
	assert_int_equal(vcpus[0].resume, RESUME_RUN);
	assert_int_equal(vcpus[1].resume, RESUME_STEP);
	assert_int_equal(outcome("vCont;C05:1;c:-1"), GDB_GO_ON);
	ASSERT_REPLY("vCont", "E16");
	ASSERT_REPLY("vCont;x", "E16");
	ASSERT_REPLY("vCont;c:7", "E16");
	ASSERT_REPLY("vCont;c:", "E16");
	ASSERT_REPLY("vCont;c1", "E16");
}

static void detaching_takes_the_breakpoints_out(void **state)
{
	(void)state;
	ASSERT_REPLY("Z0,5002,1", "OK");
	ASSERT_REPLY("Z2,10,1", "OK");
	assert_int_equal(outcome("D"), GDB_DETACH);
	assert_string_equal(session.reply.data, "OK");
	assert_int_equal(code()[2], 3);
	assert_false(watchpoints_in_use());
	assert_int_equal(vcpus[1].resume, RESUME_RUN);
	assert_int_equal(outcome("k"), GDB_KILL);
	assert_int_equal(outcome("vKill;1"), GDB_KILL);
}

static void monitor_commands_are_passed_on(void **state)
{
	char packet[2 * 300 + 10] = "qRcmd,";

	(void)state;
	ASSERT_REPLY("Hg2", "OK");
	ASSERT_REPLY("qRcmd,72656773", "OK");
	assert_string_equal(monitor_line, "regs");
	assert_int_equal(monitor_vcpu, 1);
	ASSERT_REPLY("qRcmd,7g", "E16");
	memset(packet + strlen(packet), '4', 600);
	ASSERT_REPLY(packet, "E16");
}

/* As a fuzzer does: packets that look right, with any bytes in any place. */
static void random_packets_do_no_harm(void **state)
{
	static const char *const starts[] = {"m",
					     "M",
					     "X",
					     "Z0,",
					     "z0,",
					     "Z1,",
					     "Z2,",
					     "vCont;",
					     "vCont",
					     "qRcmd,",
					     "H",
					     "T",
					     "P",
					     "p",
					     "G",
					     "g",
					     "c",
					     "C05;",
					     "qXfer:features:read:target.xml:",
					     "qThreadExtraInfo,",
					     "q",
					     "Q",
					     "v",
					     "?",
					     "s",
					     ""};
	static const char likely[] = "0123456789abcdef,;:=-5000";
	uint64_t random = 7;
	char packet[GDB_PACKET_MAX + 1];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t length =
			strlen(strcpy(packet, starts[random_below(&random, ARRAY_SIZE(starts))]));
		size_t more = random_below(&random, 40);

		for (size_t end = length + more; length < end; length++)
			packet[length] = random_below(&random, 8)
						 ? likely[random_below(&random, sizeof(likely) - 1)]
						 : (char)random_next(&random);
		packet[length] = '\0';
		session.wide = random_below(&random, 2);
		gdb_command(&session, packet, length);
		assert_true(session.reply.length < GDB_PACKET_MAX);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, clean_up)
	const struct CMUnitTest tests[] = {
		TEST(what_is_unknown_gets_an_empty_answer),
		TEST(features_are_told),
		TEST(a_stop_is_told_with_its_reason),
		TEST(threads_are_the_processors_that_stand_still),
		TEST(the_chosen_thread_is_the_one_that_is_read),
		TEST(registers_come_in_gdbs_order),
		TEST(description_and_registers_agree),
		TEST(what_can_be_written_is_general_registers_and_flags),
		TEST(memory_is_read_and_written),
		TEST(what_is_no_memory_is_an_error),
		TEST(in_long_mode_an_address_is_canonical_or_nothing),
		TEST(the_width_is_that_of_the_greeting),
		TEST(noise_is_no_greeting),
		TEST(a_breakpoint_is_in_the_code_and_not_in_what_is_read),
		TEST(code_that_the_guest_has_changed_stays),
		TEST(there_are_64_software_breakpoints),
		TEST(watchpoints_are_in_dr7),
		TEST(going_on_is_all_but_the_one_that_steps),
		TEST(vcont_decides_for_each_thread),
		TEST(detaching_takes_the_breakpoints_out),
		TEST(monitor_commands_are_passed_on),
		TEST(random_packets_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
