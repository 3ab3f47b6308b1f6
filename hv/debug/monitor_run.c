/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * break, watch, delete, c, s. Breakpoints are the processor's own, DR0 to DR3: they need no
 * page to be mapped, and cost no exit until they are met.
 */
#include "debug/monitor_run.h"
#include "core/cpu.h"
#include "core/processor.h"
#include "debug/breakpoints.h"
#include "debug/monitor_command.h"
#include "lib/errno.h"

#define STEPS_MAX   1000000
#define STEPS_SHOWN 16 /* more are not printed one by one */

static uint64_t steps_left; /* of s, the present one included */
static bool steps_are_shown;

/* The guest stands on this breakpoint: it is out while one instruction is executed. */
static struct hardware_breakpoint stepped_over;

static const char *const access_names[] = {
	[BREAK_EXECUTE] = "break", [BREAK_WRITE] = "watch", [BREAK_ACCESS] = "access"};

/* ---- the list ---- */

static void print_breakpoint(unsigned int number)
{
	const struct hardware_breakpoint *one = watchpoint_at(number);
	char name[GUEST_SYMBOL_TEXT_SIZE];

	monitor_print("%u  %-6s %08lx", number + 1, access_names[one->access], one->address);
	if (one->access != BREAK_EXECUTE)
		monitor_print(", %u bytes", one->size);
	monitor_print("%s\n", guest_symbol_text(one->address, name));
}

static void list_breakpoints(void)
{
	if (!watchpoints_in_use())
		monitor_print("no breakpoints\n");
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		if (watchpoint_at(i)->used)
			print_breakpoint(i);
}

static void add(uint64_t address, enum breakpoint_access access, uint64_t size)
{
	int error = watchpoint_add(address, access, size);

	if (error == -EINVAL)
		monitor_print("watch takes 1, 2, 4 or 8 bytes, at a multiple of that\n");
	else if (error)
		monitor_print("the processor has %u breakpoints, and all are in use\n",
			      HARDWARE_BREAKPOINTS_MAX);
	else
		list_breakpoints();
}

static bool is_linear(const struct monitor_address *address)
{
	if (address->physical)
		monitor_print("breakpoints have linear addresses, not p:\n");
	return !address->physical;
}

void monitor_break(struct monitor_request *request)
{
	struct monitor_address address;
	const uint64_t none = 0;
	const char *rest = request->rest;

	if (!word_next(&rest).length) {
		list_breakpoints();
		return;
	}
	if (monitor_take_address(request, &address, &none) && is_linear(&address) &&
	    monitor_is_at_end(request))
		add(address.value, BREAK_EXECUTE, 1);
}

void monitor_watch(struct monitor_request *request)
{
	struct monitor_address address;
	uint64_t size;

	if (monitor_take_address(request, &address, NULL) && is_linear(&address) &&
	    monitor_take_number(request, &size, 4, 8) && monitor_is_at_end(request))
		add(address.value, BREAK_WRITE, size);
}

static void remove(unsigned int number)
{
	const struct hardware_breakpoint *one = watchpoint_at(number);

	if (one->used)
		watchpoint_remove(one->address, one->access, one->size);
}

void monitor_delete(struct monitor_request *request)
{
	uint64_t number;

	if (!monitor_take_number(request, &number, 0, HARDWARE_BREAKPOINTS_MAX) ||
	    !monitor_is_at_end(request))
		return;
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		if (!number || i + 1 == number)
			remove(i);
	list_breakpoints();
}

/* ---- running ---- */

static void resume_all(enum resume how)
{
	for (unsigned int i = 0; i < processor_count(); i++)
		debugger_vcpu(i)->resume = how;
}

/* One instruction on this vcpu, the others standing still. */
static void step(struct stopped *stopped)
{
	resume_all(RESUME_HOLD);
	stopped->resume = RESUME_STEP;
}

/* Takes the breakpoint out that would only stop the guest again where it stands. */
static bool step_off_breakpoint(uint64_t next)
{
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++) {
		const struct hardware_breakpoint *one = watchpoint_at(i);

		if (!one->used || one->access != BREAK_EXECUTE || one->address != next)
			continue;
		stepped_over = *one;
		remove(i);
		return true;
	}
	return false;
}

void monitor_continue(struct monitor_request *request)
{
	if (!monitor_is_at_end(request))
		return;
	request->goes_on = true;
	steps_left = 0;
	if (step_off_breakpoint(monitor_next_instruction(request)))
		step(request->stopped);
	else
		resume_all(RESUME_RUN);
}

void monitor_step(struct monitor_request *request)
{
	uint64_t count;

	if (!monitor_take_number(request, &count, 1, STEPS_MAX) || !monitor_is_at_end(request))
		return;
	request->goes_on = true;
	steps_left = count;
	steps_are_shown = count <= STEPS_SHOWN;
	step_off_breakpoint(monitor_next_instruction(request));
	step(request->stopped);
}

static void put_breakpoint_back(void)
{
	if (stepped_over.used)
		watchpoint_add(stepped_over.address, stepped_over.access, stepped_over.size);
	stepped_over.used = false;
}

enum monitor_stop monitor_run_stopped(unsigned int vcpu, uint64_t next)
{
	struct stopped *stopped = debugger_vcpu(vcpu);
	bool over = stepped_over.used, step_done = stopped->why.reason == STOP_STEP;

	put_breakpoint_back();
	if (!step_done) {
		steps_left = 0;
		return MONITOR_STOPS;
	}
	if (!steps_left && over) {
		resume_all(RESUME_RUN);
		return MONITOR_RUNS_ON;
	}
	if (steps_left <= 1) {
		steps_left = 0;
		return MONITOR_STOPS;
	}
	steps_left--;
	step_off_breakpoint(next);
	step(stopped);
	return steps_are_shown ? MONITOR_SHOWS : MONITOR_RUNS_ON;
}
