/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/guest_death.h"
#include "core/cpu.h"
#include "core/options.h"
#include "core/power.h"
#include "core/processor.h"
#include "core/smp.h"
#include "core/vendor.h"
#include "debug/breakpoints.h"
#include "debug/console.h"
#include "debug/debugger.h"
#include "debug/guest_symbols.h"
#include "debug/record.h"
#include "debug/report.h"
#include "dev/clock.h"
#include "lib/string.h"

#define PANIC	     "panic"
#define MESSAGE_SIZE 96
#define LOOK_TICKS   (UINT64_C(1) << 23) /* between two looks at a processor */

static uint64_t panic_address; /* 0: not watched */
static uint64_t patience;      /* of the watchdog, in TSC ticks; 0: none */

/* When each processor was last seen to do something else than before. */
static struct {
	uint64_t looked, alive, cr3;
	bool reported;
} seen[PROCESSORS_MAX];

static void watch_panic(void)
{
	uint64_t address;

	if (!guest_symbol_find((struct word){PANIC, sizeof(PANIC) - 1}, &address) ||
	    watchpoint_add(address, BREAK_EXECUTE, 1))
		return;
	panic_address = address;
	pr_info("a panic of the guest's will be reported: breakpoint at %lx", address);
}

bool guest_death_init(bool panics, unsigned int seconds)
{
	if (panics)
		watch_panic();
	patience = seconds * clock_tsc_hz();
	if (seconds && !patience)
		pr_warn("no watchdog: the TSC's rate is not known");
	return panic_address || patience;
}

/* ---- panic ---- */

bool guest_has_panicked(const struct stopped *stopped)
{
	return panic_address && stopped->why.reason == STOP_HARDWARE &&
	       stopped->why.address == panic_address;
}

/* The format's text, the first argument: on i386's stack, as the function takes more. */
static void read_message(const struct guest_state *s, char *text)
{
	struct guest_paging paging = {s->cr0, s->cr3, s->cr4, s->efer};
	uint64_t address = s->regs.rdi;
	uint32_t narrow = 0;

	if (!(s->efer & EFER_LMA)) {
		breakpoints_read(&paging, (uint32_t)(s->ss.base + s->regs.rsp + 4), &narrow, 4);
		address = narrow;
	}
	memset(text, 0, MESSAGE_SIZE);
	breakpoints_read(&paging, address, text, MESSAGE_SIZE - 1);
	for (; *text; text++)
		if (*text < ' ' || *text >= 0x7f)
			*text = *text == '\n' ? ' ' : '?';
}

static bool stops_for_good(void)
{
	return options.onfault == ONFAULT_PARK || options.onfault == ONFAULT_HALT;
}

_Noreturn static void park(const char *why)
{
	record_end(why);
	pr_info("stopped here, as onfault= asks");
	smp_stop_others();
	cpu_stop();
}

bool guest_panic_report(struct vcpu *vcpu)
{
	char message[MESSAGE_SIZE];

	watchpoint_remove(panic_address, BREAK_EXECUTE, 1); /* once is enough */
	panic_address = 0;
	read_message(&debugger_vcpu(vcpu->id)->state, message);
	pr_error("guest panic on processor %u: \"%s\"", vcpu->id, message);
	report_guest(vcpu, "the guest says more on its own console; with monitor= and "
			   "onfault=monitor it stops here, to be looked at");
	if (stops_for_good())
		park("panic");
	return options.onfault != ONFAULT_MONITOR;
}

/* ---- hang ---- */

/* User code, an idle processor, or another address space: the kernel gets on with things. */
static bool is_alive(const struct guest_state *s, uint64_t cr3)
{
	bool idle = s->halted && (s->rflags & RFLAGS_IF);

	return idle || (s->cs.selector & 3) == 3 || s->cr3 != cr3;
}

bool guest_hangs(struct vcpu *vcpu)
{
	static struct guest_state states[PROCESSORS_MAX];
	struct guest_state *state = &states[vcpu->id];
	uint64_t now = rdtsc();

	if (!patience || seen[vcpu->id].reported || now - seen[vcpu->id].looked < LOOK_TICKS)
		return false;
	seen[vcpu->id].looked = now;
	vendor->read_state(vcpu, state);
	if (is_alive(state, seen[vcpu->id].cr3) || !seen[vcpu->id].alive)
		seen[vcpu->id].alive = now;
	seen[vcpu->id].cr3 = state->cr3;
	seen[vcpu->id].reported = now - seen[vcpu->id].alive >= patience;
	return seen[vcpu->id].reported;
}

void guest_hang_report(struct vcpu *vcpu)
{
	pr_error("guest hangs: its processor %u has been in the kernel for more than %u seconds, "
		 "without a user program, a wait or a switch of address spaces",
		 vcpu->id, options.watchdog);
	report_guest(vcpu,
		     "look at the code that it is in, and at what it waits for; with monitor= "
		     "and onfault=monitor it stops here");
	if (stops_for_good())
		park("hang");
	if (options.onfault != ONFAULT_RESET)
		return;
	record_end("hang");
	power_reset();
}
