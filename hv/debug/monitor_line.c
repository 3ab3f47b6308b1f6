/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/monitor_line.h"
#include "core/cpu.h"
#include "core/lock.h"
#include "core/policy.h"
#include "core/processor.h"
#include "debug/breakpoints.h"
#include "debug/console.h"
#include "debug/console_port.h"
#include "debug/debugger.h"
#include "debug/line_editor.h"
#include "debug/monitor.h"
#include "debug/monitor_command.h"
#include "debug/monitor_run.h"
#include "dev/uart.h"
#include "lib/printf.h"

#define PROMPT "vellum> "
#define CTRL_C 0x03
#define AT_ONCE                                                                           \
	256 /* bytes that one look takes at most: a line of noise must not hold the guest \
	     */
#define TEXT_MAX 512

static uint16_t port;
static unsigned int current; /* the vcpu that commands are about */

static void put(const char *text)
{
	lock_take();
	for (; *text; text++) {
		if (*text == '\n')
			uart_put(port, '\r');
		uart_put(port, *text);
	}
	lock_release();
}

static struct line_editor line = {.put = put, .prompt = PROMPT, .candidate = monitor_candidate};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	text_vformat(text, sizeof(text), format, args);
	va_end(args);
	put(text);
}

/* ---- why it has stopped ---- */

static uint64_t next_instruction(const struct guest_state *s)
{
	return s->efer & EFER_LMA ? s->rip : (uint32_t)(s->cs.base + s->rip);
}

static void say_reason(const struct stop *why)
{
	switch (why->reason) {
	case STOP_START:
		say("the guest's first instruction\n");
		break;
	case STOP_HARDWARE:
		say("breakpoint\n");
		break;
	case STOP_WATCH:
		say("%08lx was written\n", why->address);
		break;
	case STOP_HANG:
		say("the guest hangs\n");
		break;
	case STOP_SHUTDOWN:
		say("triple fault: the guest is lost; c does what onfault= says\n");
		break;
	default:
		break;
	}
}

static void say_where(unsigned int vcpu)
{
	const struct guest_state *s = &debugger_vcpu(vcpu)->state;
	char name[GUEST_SYMBOL_TEXT_SIZE];

	say("processor %u at %08lx%s%s\n", vcpu, next_instruction(s),
	    guest_symbol_text(next_instruction(s), name),
	    s->rflags & RFLAGS_IF ? "" : "  (interrupts off)");
}

/* ---- for the debugger ---- */

/* Enter or Ctrl-C; all else is noise while the guest runs. */
static bool wants_attention(void)
{
	bool wanted = false;
	int byte;

	lock_take();
	for (int i = 0; i < AT_ONCE && !wanted && (byte = uart_get(port)) >= 0; i++)
		wanted = byte == '\r' || byte == '\n' || byte == CTRL_C;
	lock_release();
	return wanted;
}

/* False if the guest goes on. */
static bool obey(enum line_event event)
{
	bool goes_on = false;

	if (event == LINE_MORE)
		return true;
	if (event == LINE_DONE)
		goes_on = monitor_run_own(line.text, &current, put);
	else if (event == LINE_TOO_LONG)
		say("a line has %u characters at most; nothing was done\n", LINE_LENGTH_MAX);
	if (!goes_on)
		line_begin(&line);
	return !goes_on;
}

static void talk(void)
{
	int byte;

	line_begin(&line);
	do {
		while ((byte = uart_get(port)) < 0)
			cpu_relax();
	} while (obey(line_input(&line, (uint8_t)byte)));
}

static void serve(unsigned int by)
{
	const struct stopped *stopped = debugger_vcpu(by);
	enum monitor_stop stop = monitor_run_stopped(by, next_instruction(&stopped->state));

	if (stop == MONITOR_RUNS_ON)
		return;
	if (stop == MONITOR_STOPS) {
		current = by;
		say_reason(&stopped->why);
	}
	say_where(by);
	if (stop == MONITOR_STOPS)
		talk();
}

void monitor_init(enum option_monitor where, bool wait)
{
	static struct debugger_line own = {.wants_attention = wants_attention, .serve = serve};

	own.waits_at_start = wait;
	port = where == MONITOR_COM1 ? UART_COM1 : UART_COM2;
	if (!console_is_on(port))
		uart_open(port);
	policy_hide_ports(port, UART_PORTS);
	pr_info("monitor on %s: Enter stops the guest, \"help\" lists the commands",
		where == MONITOR_COM1 ? "COM1" : "COM2");
	debugger_init(&own);
}
