// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping and letting go, with the real breakpoints: what gdb sees of a stopped processor and
 * what goes back, what is the guest's own, single steps and the flag that makes them, and two
 * processors (threads here), of which one stops the other.
 */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "core/cpu.h"
#include "core/guest_state.h"
#include "core/processor.h"
#include "core/vendor.h"
#include "guest/e820.h"
#include "mm/guest_memory.h"

static uint64_t tsc;
static bool has_threads;
static uint8_t processor_fpu[512], loaded_fpu[512];

static void fake_fxsave(void *image)
{
	memcpy(image, processor_fpu, sizeof(processor_fpu));
}

static void fake_fxrstor(const void *image)
{
	memcpy(loaded_fpu, image, sizeof(loaded_fpu));
}

#define rdtsc()	       tsc
#define inb(port)      ((void)(port))
#define cpu_relax()    (has_threads ? sched_yield() : 0)
#define fxsave(image)  fake_fxsave(image)
#define fxrstor(image) fake_fxrstor(image)
#include "debug/debugger.c"

#define CODE  0x5000
#define STACK 0x6000

static struct vcpu guests[2] = {{.id = 0}, {.id = 1}};
static struct guest_state states[2]; /* as the processor has them */
static unsigned int count, skips, attends, guards;
static bool guarded[2], taken;
static uint64_t moved_to_dr;
static unsigned int moved_number;

struct options options;

struct processor *processor_at(unsigned int number)
{
	static struct processor processors[2];

	assert_true(number < count);
	return &processors[number];
}

/* ---- a guest that dies ---- */

static bool panicked, hangs, panic_goes_on;
static unsigned int hang_reports;

bool guest_has_panicked(const struct stopped *stopped)
{
	(void)stopped;
	return panicked;
}

bool guest_panic_report(struct vcpu *vcpu)
{
	(void)vcpu;
	panicked = false;
	return panic_goes_on;
}

bool guest_hangs(struct vcpu *vcpu)
{
	(void)vcpu;
	return hangs;
}

void guest_hang_report(struct vcpu *vcpu)
{
	(void)vcpu;
	hangs = false;
	hang_reports++;
}

unsigned int processor_count(void)
{
	return count;
}

void debug_registers_load(struct vcpu *vcpu)
{
	(void)vcpu;
	taken = watchpoints_in_use();
}

void debug_registers_forget(const struct vcpu *vcpu)
{
	(void)vcpu;
}

bool debug_registers_are_taken(const struct vcpu *vcpu)
{
	(void)vcpu;
	return taken;
}

void debug_registers_show(const struct vcpu *vcpu, struct guest_state *state)
{
	(void)vcpu;
	state->dr7 = 0x4711;
}

uint64_t debug_registers_read(const struct vcpu *vcpu, unsigned int number,
			      const struct guest_state *state)
{
	(void)vcpu;
	(void)state;
	return 0xd0 + number;
}

void debug_registers_write(struct vcpu *vcpu, unsigned int number, uint64_t value)
{
	(void)vcpu;
	moved_number = number;
	moved_to_dr = value;
}

static void read_state(struct vcpu *vcpu, struct guest_state *state)
{
	*state = states[vcpu->id];
}

static void write_state(struct vcpu *vcpu, const struct guest_state *state)
{
	states[vcpu->id] = *state;
}

static void skip_instruction(struct vcpu *vcpu)
{
	(void)vcpu;
	skips++;
}

static void attend(struct vcpu *vcpu)
{
	(void)vcpu;
	attends++;
}

static void fake_guard(struct vcpu *vcpu, bool on)
{
	guarded[vcpu->id] = on;
	guards++;
}

static const struct vendor fake_vendor = {
	.read_state = read_state,
	.write_state = write_state,
	.skip_instruction = skip_instruction,
	.attend = attend,
	.guard_breakpoints = fake_guard,
};

const struct vendor *vendor = &fake_vendor;

/* ---- who serves the line ---- */

static _Atomic bool attention;
static unsigned int serves, served_by;
static struct stop seen;
static struct guest_state seen_state;
static bool other_was_there;
static void (*orders)(unsigned int by); /* of the one who sits at the line */

static bool wants(void)
{
	return atomic_exchange(&attention, false);
}

static void serve_line(unsigned int by)
{
	serves++;
	served_by = by;
	seen = debugger_vcpu(by)->why;
	seen_state = debugger_vcpu(by)->state;
	other_was_there = debugger_vcpu(by ^ 1)->is_there;
	for (unsigned int i = 0; i < count; i++)
		debugger_vcpu(i)->resume = RESUME_RUN;
	if (orders)
		orders(by);
}

static const struct debugger_line fake_line = {
	.wants_attention = wants,
	.waits_at_start = true,
	.serve = serve_line,
};

static uint8_t *memory(uint64_t address)
{
	return arena_at(address);
}

static int reset(void **state)
{
	static struct e820_map map = {.count = 1, .entry = {{0, 16 * PAGE_SIZE, E820_RAM}}};

	(void)state;
	arena_create(16 * PAGE_SIZE);
	guest_memory_init(&map);
	breakpoints_clear();
	memset(own, 0, sizeof(own));
	memset(vcpus, 0, sizeof(vcpus));
	memset(states, 0, sizeof(states));
	for (unsigned int i = 0; i < 2; i++) {
		states[i].rip = CODE;
		states[i].regs.rsp = STACK;
		states[i].rflags = 2;
		own[i].exists = true;
	}
	memset(memory(CODE), 0x90, 16);
	count = 1;
	serves = skips = attends = guards = 0;
	taken = guarded[0] = guarded[1] = false;
	orders = NULL;
	debugger_init(&fake_line);
	return 0;
}

static int clean_up(void **state)
{
	(void)state;
	breakpoints_clear();
	arena_free();
	return 0;
}

/* First in main(): a guest starts once. */
static void the_first_one_stops_at_its_first_instruction(void **state)
{
	(void)state;
	debugger_vcpu_starts(&guests[0]);
	assert_int_equal(serves, 1);
	assert_int_equal(seen.reason, STOP_START);
	assert_int_equal(attends, 1);
	debugger_vcpu_starts(&guests[0]); /* after INIT */
	assert_int_equal(serves, 1);
	assert_int_equal(attends, 2);
}

static void nobody_wants_anything(void **state)
{
	(void)state;
	debugger_attend(&guests[0]);
	assert_int_equal(serves, 0);
}

static void change_everything(unsigned int by)
{
	debugger_vcpu(by)->state.regs.rbx = 0x1234;
	debugger_vcpu(by)->state.fpu[160] = 0x77;
	memset(debugger_vcpu(by)->state.fpu + 24, 0xff, 4);
}

static void what_is_changed_goes_back(void **state)
{
	(void)state;
	orders = change_everything;
	attention = true;
	processor_fpu[32] = 0x55;
	states[0].regs.rax = 0xabc;
	debugger_attend(&guests[0]);
	assert_int_equal(seen.reason, STOP_ATTENTION);
	assert_int_equal(seen_state.regs.rax, 0xabc);
	assert_int_equal(seen_state.fpu[32], 0x55);
	assert_int_equal(seen_state.dr7, 0x4711);
	assert_int_equal(states[0].regs.rbx, 0x1234);
	assert_int_equal(loaded_fpu[160], 0x77);
	assert_memory_equal(loaded_fpu + 24, "\xbf\xff\0\0", 4); /* MXCSR's reserved bits */
	assert_false(debugger_vcpu(0)->is_there);
}

static void set_breakpoint(unsigned int by)
{
	struct guest_paging paging = debugger_paging(debugger_vcpu(by));

	assert_int_equal(breakpoint_add(&paging, CODE + 4), 0);
}

static void only_its_own_int3_is_taken_and_only_then_one_exits(void **state)
{
	(void)state;
	orders = set_breakpoint;
	attention = true;
	debugger_attend(&guests[0]);
	assert_true(guarded[0]);
	orders = NULL;
	assert_false(debugger_takes_breakpoint(&guests[0]));
	states[0].rip = CODE + 4;
	assert_true(debugger_takes_breakpoint(&guests[0]));
	assert_int_equal(seen.reason, STOP_BREAKPOINT);
	assert_int_equal(states[0].rip, CODE + 4);
	breakpoints_clear();
	attention = true;
	debugger_attend(&guests[0]);
	assert_false(guarded[0]);
	assert_int_equal(guards, 2);
}

static void in_real_mode_code_has_a_base(void **state)
{
	struct guest_paging none = {0};

	(void)state;
	assert_int_equal(breakpoint_add(&none, CODE + 4), 0);
	states[0].cs.base = CODE;
	states[0].rip = 4;
	assert_true(debugger_takes_breakpoint(&guests[0]));
	states[0].efer = EFER_LMA; /* there it has none */
	assert_false(debugger_takes_breakpoint(&guests[0]));
}

static void step(unsigned int by)
{
	debugger_vcpu(by)->resume = RESUME_STEP;
}

static void begin(void)
{
	orders = step;
	attention = true;
	debugger_attend(&guests[0]);
	assert_true(states[0].rflags & RFLAGS_TF);
	orders = NULL;
}

static void a_step_ends_without_its_flag(void **state)
{
	(void)state;
	begin();
	states[0].rip++;
	assert_true(debugger_takes_debug_exception(&guests[0], DR6_BS));
	assert_int_equal(seen.reason, STOP_STEP);
	assert_false(seen_state.rflags & RFLAGS_TF);
	assert_false(states[0].rflags & RFLAGS_TF);
	assert_false(debugger_takes_debug_exception(&guests[0], DR6_BS)); /* the guest's own */
}

static void the_guests_own_trap_flag_stays(void **state)
{
	(void)state;
	states[0].rflags |= RFLAGS_TF;
	begin();
	assert_true(debugger_takes_debug_exception(&guests[0], DR6_BS));
	assert_true(states[0].rflags & RFLAGS_TF);
}

static void a_stepped_pushf_does_not_show_the_flag(void **state)
{
	(void)state;
	*memory(CODE) = 0x9c;
	begin();
	states[0].regs.rsp = STACK - 4;
	memory(STACK - 4)[1] = 0x03; /* TF and IF */
	assert_true(debugger_takes_debug_exception(&guests[0], DR6_BS));
	assert_int_equal(memory(STACK - 4)[1], 0x02);
}

/* Broken off by Ctrl-C in an interrupt's handler; the saved flags have TF. */
static void a_step_that_was_broken_off_ends_quietly(void **state)
{
	(void)state;
	begin();
	states[0].rflags &= ~RFLAGS_TF;
	attention = true;
	debugger_attend(&guests[0]);
	assert_int_equal(seen.reason, STOP_ATTENTION);
	states[0].rflags |= RFLAGS_TF; /* the handler's IRET */
	serves = 0;
	assert_true(debugger_takes_debug_exception(&guests[0], DR6_BS));
	assert_int_equal(serves, 0);
	assert_false(states[0].rflags & RFLAGS_TF);
	assert_false(debugger_takes_debug_exception(&guests[0], DR6_BS));
}

static void watchpoints_are_told_by_their_address(void **state)
{
	(void)state;
	assert_int_equal(watchpoint_add(0x7000, BREAK_EXECUTE, 1), 0);
	assert_int_equal(watchpoint_add(0x7004, BREAK_WRITE, 4), 0);
	assert_false(debugger_takes_debug_exception(&guests[0], BIT(1))); /* not loaded yet */
	taken = true;
	assert_true(debugger_takes_debug_exception(&guests[0], BIT(1)));
	assert_int_equal(seen.reason, STOP_WATCH);
	assert_int_equal(seen.address, 0x7004);
	assert_int_equal(seen.access, BREAK_WRITE);
	assert_true(debugger_takes_debug_exception(&guests[0], BIT(0)));
	assert_int_equal(seen.reason, STOP_HARDWARE);
	assert_false(debugger_takes_debug_exception(&guests[0], BIT(3)));
}

static void a_shutdown_is_shown(void **state)
{
	(void)state;
	states[0].regs.rax = 0xdead;
	debugger_shows_shutdown(&guests[0]);
	assert_int_equal(seen.reason, STOP_SHUTDOWN);
	assert_int_equal(seen_state.regs.rax, 0xdead);
}

static void debug_registers_move_to_and_from_general_ones(void **state)
{
	(void)state;
	states[0].regs.rdx = 0x7001;
	debugger_moves_register(&guests[0], 2, 2, true);
	assert_int_equal(moved_number, 2);
	assert_int_equal(moved_to_dr, 0x7001);
	debugger_moves_register(&guests[0], 7, 6, false);
	assert_int_equal(states[0].regs.rsi, 0xd7);
	assert_int_equal(skips, 2);
}

/* ---- two of them ---- */

static _Atomic bool ends;

/* Runs in a guest that makes exits, with nothing to say. */
static void *run_second(void *argument)
{
	(void)argument;
	while (!atomic_load(&ends)) {
		if (atomic_load(&stopping))
			debugger_attend(&guests[1]);
		sched_yield();
	}
	return NULL;
}

static pthread_t start_second(void)
{
	pthread_t thread;

	count = 2;
	has_threads = true;
	ends = false;
	assert_int_equal(pthread_create(&thread, NULL, run_second, NULL), 0);
	return thread;
}

static void end_second(pthread_t thread)
{
	atomic_store(&ends, true);
	pthread_join(thread, NULL);
	has_threads = false;
}

static void one_stops_the_other(void **state)
{
	pthread_t thread = start_second();

	(void)state;
	states[1].regs.rcx = 0x222;
	debugger_shows_shutdown(&guests[0]);
	assert_int_equal(served_by, 0);
	assert_true(other_was_there);
	assert_int_equal(vcpus[1].state.regs.rcx, 0x222);
	end_second(thread);
	assert_false(atomic_load(&own[1].waits));
}

static bool held;

/* First it steps alone, then all go on. */
static void step_alone(unsigned int by)
{
	static unsigned int calls;

	held = atomic_load(&own[by ^ 1].waits) && debugger_vcpu(by ^ 1)->is_there;
	if (calls++)
		return;
	debugger_vcpu(by)->resume = RESUME_STEP;
	debugger_vcpu(by ^ 1)->resume = RESUME_HOLD;
}

static void one_steps_while_the_other_stays(void **state)
{
	pthread_t thread = start_second();

	(void)state;
	orders = step_alone;
	attention = true;
	debugger_attend(&guests[0]);
	assert_true(held);
	assert_true(atomic_load(&own[1].waits));
	held = false;
	assert_true(debugger_takes_debug_exception(&guests[0], DR6_BS));
	assert_true(held);
	assert_int_equal(serves, 2);
	end_second(thread);
}

/* One that makes no exit is missing, and nobody waits for ever. */
static void one_that_does_not_come_is_not_there(void **state)
{
	(void)state;
	count = 2;
	debugger_shows_shutdown(&guests[0]);
	assert_false(other_was_there);
	assert_int_equal(serves, 1);
}

static void a_death_is_reported_before_anybody_is_asked(void **state)
{
	(void)state;
	panicked = panic_goes_on = true;
	stop(&guests[0], (struct stop){.reason = STOP_HARDWARE}, false);
	assert_int_equal(serves, 0);
	panicked = true;
	panic_goes_on = false;
	stop(&guests[0], (struct stop){.reason = STOP_HARDWARE}, false);
	assert_int_equal(serves, 1);
	hangs = true;
	hang_reports = 0;
	debugger_attend(&guests[0]);
	assert_int_equal(hang_reports, 1);
	assert_int_equal(serves, 2);
	debugger_init(NULL); /* nobody to ask: the guest goes on */
	hangs = true;
	debugger_attend(&guests[0]);
	assert_int_equal(hang_reports, 2);
	assert_int_equal(serves, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, clean_up)
	const struct CMUnitTest tests[] = {
		TEST(the_first_one_stops_at_its_first_instruction),
		TEST(nobody_wants_anything),
		TEST(what_is_changed_goes_back),
		TEST(only_its_own_int3_is_taken_and_only_then_one_exits),
		TEST(in_real_mode_code_has_a_base),
		TEST(a_step_ends_without_its_flag),
		TEST(the_guests_own_trap_flag_stays),
		TEST(a_stepped_pushf_does_not_show_the_flag),
		TEST(a_step_that_was_broken_off_ends_quietly),
		TEST(watchpoints_are_told_by_their_address),
		TEST(a_shutdown_is_shown),
		TEST(debug_registers_move_to_and_from_general_ones),
		TEST(one_stops_the_other),
		TEST(one_steps_while_the_other_stays),
		TEST(one_that_does_not_come_is_not_there),
		TEST(a_death_is_reported_before_anybody_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
