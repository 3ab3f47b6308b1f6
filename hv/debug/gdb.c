/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/gdb.h"
#include "core/cpu.h"
#include "core/lock.h"
#include "core/policy.h"
#include "core/power.h"
#include "debug/console.h"
#include "debug/console_port.h"
#include "debug/debugger.h"
#include "debug/gdb_command.h"
#include "debug/record.h"
#include "dev/uart.h"
#include "lib/string.h"

/*
 * Looks at the line, of some microseconds each, in which the next byte has to come; and the
 * bytes that are taken at once while the guest waits: a greeting, and once more.
 */
#define PATIENCE    100000
#define PERSISTENCE 2048
#define REST	    50 /* PAUSEs between two looks; a byte takes 87 us */

static uint16_t port;
static bool attached;	     /* a gdb has talked to the stub, and not left */
static bool is_waiting;	     /* it has let the guest go, and waits for a stop */
static bool has_packet;	     /* one came while the guest ran, and is still to be obeyed */
static bool got_byte;	     /* the last look at the line found one */
static unsigned int unacked; /* packets whose '+' is still to come */
static struct gdb_receiver receiver;
static struct gdb_session session;

/* ---- to the line ---- */

static void put(char c)
{
	uart_put(port, c);
}

static void send(const char *data, size_t length)
{
	lock_take();
	unacked += !session.no_ack;
	gdb_frame(data, length, put);
	lock_release();
}

static void send_reply(void)
{
	send(session.reply.data, session.reply.length);
}

/* Text for gdb's user: only while gdb waits, for a stop or for the end of a command. */
static void send_text(const char *text)
{
	static struct gdb_reply output;

	lock_take();
	gdb_reply_clear(&output);
	gdb_reply_add(&output, "O");
	gdb_reply_add_hex(&output, text, strlen(text));
	send(output.data, output.length);
	lock_release();
}

/* Vellum's messages, where they share the line. In between packets they would be noise. */
static void print_message(const char *text)
{
	if (is_waiting)
		send_text(text);
}

static void attach(void)
{
	attached = true;
	if (console_is_on(port))
		console_divert(print_message);
}

static void leave(void)
{
	attached = is_waiting = false;
	session.no_ack = false;
	unacked = 0;
	console_divert(NULL);
}

/* ---- from the line ---- */

/* One that nobody waits for is of a new gdb, which expects its packets acknowledged. */
static void take_ack(void)
{
	if (unacked)
		unacked--;
	else
		session.no_ack = false;
}

static void acknowledge(bool good)
{
	if (!session.no_ack)
		put(good ? '+' : '-');
}

/* An emulator that is busy with reads of a port has no time to bring the byte. */
static void rest(void)
{
	for (int i = 0; i < REST; i++)
		cpu_relax();
}

/* What came, GDB_NOTHING included; acknowledged already. */
static enum gdb_input receive(void)
{
	int byte = uart_get(port);
	enum gdb_input input = byte < 0 ? GDB_NOTHING : gdb_receive(&receiver, (uint8_t)byte);

	got_byte = byte >= 0;
	if (!got_byte)
		rest();
	if (input == GDB_ACK)
		take_ack();
	else if (input == GDB_PACKET || input == GDB_DAMAGED)
		acknowledge(input == GDB_PACKET);
	return input;
}

_Noreturn static void kill_guest(void)
{
	leave();
	pr_info("gdb has killed the guest: resetting the machine");
	record_end("reset");
	power_reset();
}

/* False if the guest goes on. */
static bool obey(void)
{
	switch (gdb_command(&session, receiver.data, receiver.length)) {
	case GDB_ANSWER:
		send_reply();
		return true;
	case GDB_GO_ON:
		is_waiting = true;
		return false;
	case GDB_DETACH:
		send_reply();
		leave();
		return false;
	case GDB_KILL:
		kill_guest();
	}
	return true;
}

static bool goes_on(enum gdb_input input)
{
	if (input == GDB_NAK)
		send_reply();
	if (input != GDB_PACKET)
		return false;
	if (!attached)
		attach();
	return !obey();
}

/* ---- for the debugger ---- */

/* No more has come of a packet that has begun: gdb is asked for it again. */
static enum gdb_input give_up_packet(void)
{
	receiver.state = GDB_IDLE;
	acknowledge(false);
	return GDB_DAMAGED;
}

/*
 * What has come, up to the end of a packet. The line is looked at so rarely that the UART has
 * lost most of a packet that came in between: gdb is told, and sends it again, once. What never
 * comes to an end is noise, and the guest does not wait for it.
 */
static enum gdb_input receive_packet(void)
{
	bool asked = false;

	for (int bytes = 0, idle = 0; bytes < PERSISTENCE; idle++) {
		enum gdb_input input = receive();

		if (input == GDB_PACKET || input == GDB_INTERRUPT)
			return input;
		if (got_byte) {
			bytes++;
			idle = 0;
		}
		if (receiver.state != GDB_IDLE && idle >= PATIENCE)
			input = give_up_packet();
		if (input == GDB_DAMAGED) {
			if (asked)
				break;
			asked = true;
			idle = 0;
		}
		if (receiver.state == GDB_IDLE && !got_byte && (!asked || idle >= PATIENCE))
			break;
	}
	receiver.state = GDB_IDLE;
	return GDB_NOTHING;
}

/* A gdb that is new to the stub, whether or not the one before it has said good-bye. */
static bool is_new_gdb(enum gdb_input input)
{
	return input == GDB_PACKET && gdb_is_greeting(receiver.data);
}

/* Ctrl-C, or a new gdb, which has not seen the guest go. All else is noise. */
static bool wants_attention(void)
{
	enum gdb_input input;
	bool wants;

	lock_take();
	input = receive_packet();
	wants = is_new_gdb(input) || (input == GDB_INTERRUPT && is_waiting);
	if (is_new_gdb(input)) {
		has_packet = true;
		is_waiting = false;
	}
	lock_release();
	return wants;
}

/* Nobody is there to see it, and the guest can't go on. */
static bool is_unseen_end(unsigned int by)
{
	return !attached && debugger_vcpu(by)->why.reason == STOP_SHUTDOWN;
}

static void serve(unsigned int by)
{
	if (is_unseen_end(by)) {
		gdb_resume_all();
		return;
	}
	session.server = session.general = by;
	if (is_waiting) {
		is_waiting = false;
		gdb_reply_clear(&session.reply);
		gdb_tell_stop(&session);
		send_reply();
	}
	if (has_packet) {
		has_packet = false;
		if (goes_on(GDB_PACKET))
			return;
	}
	while (!goes_on(receive()))
		;
}

void gdb_init(enum option_gdb where, bool wide)
{
	static const struct debugger_line line = {
		.wants_attention = wants_attention,
		.waits_at_start = true,
		.serve = serve,
	};

	port = where == GDB_COM1 ? UART_COM1 : UART_COM2;
	if (!console_is_on(port))
		uart_open(port);
	session.wide_guest = wide;
	session.print = send_text;
	policy_hide_ports(port, UART_PORTS);
	pr_info("gdb may connect to %s: target remote; the guest waits, and does not see that port",
		where == GDB_COM1 ? "COM1" : "COM2");
	debugger_init(&line);
}

void gdb_end(void)
{
	static const char exited[] = "W00";

	if (attached && is_waiting)
		send(exited, sizeof(exited) - 1);
}
