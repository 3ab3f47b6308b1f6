/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/debugger.h"

#include <stdatomic.h>

#include "core/cpu.h"
#include "core/options.h"
#include "core/processor.h"
#include "core/vendor.h"
#include "debug/breakpoints.h"
#include "debug/console.h"
#include "debug/debug_registers.h"
#include "debug/guest_death.h"
#include "lib/string.h"

#define INT3_SIZE  1
#define PUSHF	   0x9c
#define TF_BYTE	   1 /* of the flags in memory, its bit 0 */
#define TF_IN_BYTE BIT(0)
#define CODE_PEEK  4 /* prefixes that a PUSHF may have, and itself */

/* The longest time between two looks at the line, in TSC ticks: some milliseconds. */
#define ATTENTION_TICKS (UINT64_C(1) << 23)

/* How long the others may take to their next exit: about a microsecond each. */
#define PORT_DELAY	0x80
#define OTHERS_PATIENCE 200000

#define NOBODY PROCESSORS_MAX

bool debugger_is_on;

static const struct debugger_line *line;
static struct stopped vcpus[PROCESSORS_MAX];

static struct {
	_Atomic bool waits;   /* stopped, its state is in vcpus[] */
	_Atomic bool may_run; /* set by the one that serves */
	bool exists;	      /* has run */
	bool steps;
	bool had_tf;	   /* the guest's own flag, while it steps */
	bool pushes_flags; /* it steps over PUSHF */
	bool stray_step;   /* one was broken off, and its #DB is still to come */
	bool guards;	   /* INT3 exits */
} own[PROCESSORS_MAX];

static _Atomic unsigned int server = NOBODY;
static _Atomic bool stopping;

static void resume_all(unsigned int by)
{
	(void)by;
	for (unsigned int i = 0; i < processor_count(); i++)
		vcpus[i].resume = RESUME_RUN;
}

void debugger_init(const struct debugger_line *chosen)
{
	static const struct debugger_line nobody = {.serve = resume_all};

	line = chosen ? chosen : &nobody;
	debugger_is_on = true;
}

struct stopped *debugger_vcpu(unsigned int number)
{
	return &vcpus[number];
}

/* ---- one processor ---- */

static void save(struct vcpu *vcpu)
{
	struct stopped *self = &vcpus[vcpu->id];

	vendor->read_state(vcpu, &self->state);
	fxsave(self->state.fpu);
	debug_registers_show(vcpu, &self->state);
	self->is_there = true;
}

/* The page that holds the stack is there: PUSHF has just written to it. */
static void clear_pushed_tf(const struct stopped *self)
{
	struct guest_paging paging = debugger_paging(self);
	uint64_t address = self->state.ss.base + self->state.regs.rsp + TF_BYTE;
	uint8_t byte;

	if (breakpoints_read(&paging, address, &byte, 1) != 1)
		return;
	byte &= (uint8_t)~TF_IN_BYTE;
	breakpoints_write(&paging, address, &byte, 1);
}

/* The flag that makes it step is not the guest's to see. */
static void end_step(struct vcpu *vcpu, bool done)
{
	struct stopped *self = &vcpus[vcpu->id];

	if (!own[vcpu->id].steps)
		return;
	own[vcpu->id].steps = false;
	own[vcpu->id].stray_step = !done;
	if (!own[vcpu->id].had_tf)
		self->state.rflags &= ~RFLAGS_TF;
	if (done && own[vcpu->id].pushes_flags && !own[vcpu->id].had_tf)
		clear_pushed_tf(self);
}

static bool is_at_pushf(const struct stopped *self)
{
	struct guest_paging paging = debugger_paging(self);
	uint64_t base = self->state.efer & EFER_LMA ? 0 : self->state.cs.base;
	uint8_t code[CODE_PEEK];
	uint64_t size = breakpoints_read(&paging, base + self->state.rip, code, sizeof(code));

	for (uint64_t i = 0; i < size; i++) {
		if (code[i] == PUSHF)
			return true;
		if (code[i] != 0x66 && (code[i] & 0xf0) != 0x40)
			return false; /* neither a size prefix nor REX */
	}
	return false;
}

static void begin_step(struct vcpu *vcpu)
{
	struct stopped *self = &vcpus[vcpu->id];

	own[vcpu->id].steps = true;
	own[vcpu->id].had_tf = self->state.rflags & RFLAGS_TF;
	own[vcpu->id].pushes_flags = is_at_pushf(self);
	self->state.rflags |= RFLAGS_TF;
}

/* Only while there are breakpoints: where the guest's INT n exits as well, that is a lot. */
static void guard_breakpoints(struct vcpu *vcpu)
{
	bool wanted = breakpoints_in_use();

	if (own[vcpu->id].guards == wanted)
		return;
	own[vcpu->id].guards = wanted;
	vendor->guard_breakpoints(vcpu, wanted);
}

/* A MXCSR with a reserved bit would be a fault in Vellum. */
static void load_fpu(struct guest_state *state)
{
	uint32_t mxcsr, mask;

	memcpy(&mxcsr, state->fpu + FXSAVE_MXCSR, sizeof(mxcsr));
	memcpy(&mask, state->fpu + FXSAVE_MXCSR_MASK, sizeof(mask));
	mxcsr &= mask ? mask : MXCSR_DEFAULT_MASK;
	memcpy(state->fpu + FXSAVE_MXCSR, &mxcsr, sizeof(mxcsr));
	fxrstor(state->fpu);
}

static void load(struct vcpu *vcpu)
{
	struct stopped *self = &vcpus[vcpu->id];

	if (self->resume == RESUME_STEP)
		begin_step(vcpu);
	vendor->write_state(vcpu, &self->state);
	load_fpu(&self->state);
	guard_breakpoints(vcpu);
	debug_registers_load(vcpu);
	self->is_there = false;
	self->why.reason = STOP_NONE;
}

static void wait_to_run(unsigned int number)
{
	while (!atomic_load(&own[number].may_run))
		cpu_relax();
	atomic_store(&own[number].may_run, false);
	atomic_store(&own[number].waits, false);
}

/* ---- all of them ---- */

static void wait_a_microsecond(void)
{
	inb(PORT_DELAY);
	cpu_relax();
}

static bool others_wait(unsigned int self)
{
	for (unsigned int i = 0; i < processor_count(); i++)
		if (i != self && own[i].exists && !atomic_load(&own[i].waits))
			return false;
	return true;
}

/* Those that wait for INIT or STARTUP, or loop without an exit, don't come. */
static void wait_for_others(unsigned int self)
{
	for (int i = 0; i < OTHERS_PATIENCE && !others_wait(self); i++)
		wait_a_microsecond();
}

static void let_go(void)
{
	atomic_store(&stopping, false);
	atomic_store(&server, NOBODY);
	for (unsigned int i = 0; i < processor_count(); i++)
		if (atomic_load(&own[i].waits) && vcpus[i].resume != RESUME_HOLD)
			atomic_store(&own[i].may_run, true);
}

/* True: it has been reported, and the guest goes on. */
static bool death_is_dealt_with(unsigned int number)
{
	struct vcpu *vcpu = &processor_at(number)->vcpu;

	if (guest_has_panicked(&vcpus[number]))
		return guest_panic_report(vcpu);
	if (vcpus[number].why.reason == STOP_HANG)
		guest_hang_report(vcpu);
	return false;
}

static void serve(unsigned int number)
{
	atomic_store(&stopping, true);
	wait_for_others(number);
	if (death_is_dealt_with(number))
		resume_all(number);
	else
		line->serve(number);
	let_go();
}

static bool becomes_server(unsigned int number)
{
	unsigned int nobody = NOBODY;

	return atomic_compare_exchange_strong(&server, &nobody, number);
}

/*
 * The vcpu's state is saved; returns with it loaded again. If it has something to say while
 * another one serves, it says it as soon as that one is done.
 */
static void stand_still(struct vcpu *vcpu)
{
	unsigned int number = vcpu->id;
	bool has_to_say = vcpus[number].why.reason != STOP_NONE;
	uint64_t start = rdtsc();

	do {
		atomic_store(&own[number].waits, true);
		if (has_to_say && becomes_server(number)) {
			has_to_say = false;
			serve(number);
		}
		wait_to_run(number);
	} while (has_to_say);
	vcpu->exit_start += rdtsc() - start; /* it is no part of what the exit costs */
	load(vcpu);
}

static void stop(struct vcpu *vcpu, struct stop why, bool step_done)
{
	vcpus[vcpu->id].why = why;
	save(vcpu);
	end_step(vcpu, step_done);
	stand_still(vcpu);
}

/* ---- the vendors' exits ---- */

static void due(struct vcpu *vcpu)
{
	vendor->set_timer(vcpu, rdtsc() + ATTENTION_TICKS, due);
	debugger_attend(vcpu);
}

static void look_often(struct vcpu *vcpu)
{
	if (vendor->attend)
		vendor->attend(vcpu);
	if (vendor->set_timer && !vendor->set_timer(vcpu, rdtsc() + ATTENTION_TICKS, due))
		pr_warn("this processor has no preemption timer: a guest that makes no exit can't "
			"be interrupted, only stopped at breakpoints");
}

void debugger_vcpu_starts(struct vcpu *vcpu)
{
	static bool started;

	own[vcpu->id].exists = true;
	own[vcpu->id].guards = false;
	if (line->wants_attention || options.watchdog)
		look_often(vcpu);
	guard_breakpoints(vcpu);
	debug_registers_forget(vcpu);
	debug_registers_load(vcpu);
	if (!started && line->waits_at_start) {
		started = true;
		stop(vcpu, (struct stop){.reason = STOP_START}, false);
	}
}

void debugger_attend(struct vcpu *vcpu)
{
	if (atomic_load(&stopping))
		stop(vcpu, (struct stop){.reason = STOP_NONE}, false);
	else if (line->wants_attention && line->wants_attention())
		stop(vcpu, (struct stop){.reason = STOP_ATTENTION}, false);
	else if (guest_hangs(vcpu))
		stop(vcpu, (struct stop){.reason = STOP_HANG}, false);
}

bool debugger_takes_breakpoint(struct vcpu *vcpu)
{
	struct stopped *self = &vcpus[vcpu->id];
	struct guest_paging paging;
	uint64_t address;

	vendor->read_state(vcpu, &self->state);
	paging = debugger_paging(self);
	address = self->state.rip + (self->state.efer & EFER_LMA ? 0 : self->state.cs.base);
	if (!breakpoint_is_at(&paging, address))
		return false;
	stop(vcpu, (struct stop){.reason = STOP_BREAKPOINT}, false);
	return true;
}

/* Which of the debugger's own watchpoints this is; all may be set, first ones first. */
static const struct hardware_breakpoint *triggered(struct vcpu *vcpu, uint64_t causes)
{
	if (!debug_registers_are_taken(vcpu))
		return NULL;
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		if ((causes & BIT(i)) && watchpoint_at(i)->used)
			return watchpoint_at(i);
	return NULL;
}

/* A step that was broken off comes to its end now: in a handler's IRET, for instance. */
static bool takes_stray_step(struct vcpu *vcpu, uint64_t causes)
{
	if (!(causes & DR6_BS) || !own[vcpu->id].stray_step)
		return false;
	own[vcpu->id].stray_step = false;
	save(vcpu);
	vcpus[vcpu->id].state.rflags &= ~RFLAGS_TF;
	vcpus[vcpu->id].resume = RESUME_RUN;
	load(vcpu);
	return true;
}

bool debugger_takes_debug_exception(struct vcpu *vcpu, uint64_t causes)
{
	const struct hardware_breakpoint *hit = triggered(vcpu, causes);
	bool step_done = own[vcpu->id].steps && (causes & DR6_BS);

	if (hit)
		stop(vcpu,
		     (struct stop){hit->access == BREAK_EXECUTE ? STOP_HARDWARE : STOP_WATCH,
				   hit->address, hit->access},
		     step_done);
	else if (step_done)
		stop(vcpu, (struct stop){.reason = STOP_STEP}, true);
	else
		return takes_stray_step(vcpu, causes);
	return true;
}

void debugger_shows_shutdown(struct vcpu *vcpu)
{
	stop(vcpu, (struct stop){.reason = STOP_SHUTDOWN}, false);
}

void debugger_moves_register(struct vcpu *vcpu, unsigned int number, unsigned int general,
			     bool to_debug_register)
{
	struct guest_state *state = &vcpus[vcpu->id].state;
	uint64_t *value = (uint64_t *)&state->regs + general;

	vendor->read_state(vcpu, state);
	if (to_debug_register)
		debug_registers_write(vcpu, number, *value);
	else
		*value = debug_registers_read(vcpu, number, state);
	vendor->write_state(vcpu, state);
	vendor->skip_instruction(vcpu);
}
