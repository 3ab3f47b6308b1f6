/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/gdb_command.h"
#include "core/cpu.h"
#include "core/processor.h"
#include "debug/breakpoints.h"
#include "debug/debugger.h"
#include "debug/gdb_registers.h"
#include "debug/monitor.h"
#include "lib/errno.h"
#include "lib/string.h"

#define MEMORY_MAX  (GDB_PACKET_MAX / 2 - 1) /* bytes that an answer has room for */
#define MONITOR_MAX 256

/* Signals by gdb's own numbers */
enum { SIGINT = 2, SIGTRAP = 5, SIGSEGV = 11 };

/* Threads are vcpus; their numbers start at 1, as 0 means "any". */
#define THREAD(vcpu) ((vcpu) + 1)

static enum gdb_outcome say(struct gdb_session *session, const char *text)
{
	gdb_reply_add(&session->reply, "%s", text);
	return GDB_ANSWER;
}

static enum gdb_outcome say_ok(struct gdb_session *session)
{
	return say(session, "OK");
}

/* gdb shows the number; these are errno's. */
static enum gdb_outcome say_error(struct gdb_session *session, int error)
{
	gdb_reply_add(&session->reply, "E%02x", (unsigned int)-error);
	return GDB_ANSWER;
}

/* An empty answer: the stub does not know that packet. */
static enum gdb_outcome say_unknown(struct gdb_session *session)
{
	(void)session;
	return GDB_ANSWER;
}

static bool is_there(uint64_t number)
{
	return number < processor_count() && debugger_vcpu((unsigned int)number)->is_there;
}

static struct stopped *general(struct gdb_session *session)
{
	return debugger_vcpu(session->general);
}

/* ---- why it has stopped ---- */

static void tell_watch(struct gdb_session *session, const struct stop *why)
{
	gdb_reply_add(&session->reply, "%s:%lx;", why->access == BREAK_ACCESS ? "awatch" : "watch",
		      why->address);
}

static unsigned int signal_of(enum stop_reason reason)
{
	switch (reason) {
	case STOP_ATTENTION:
		return SIGINT;
	case STOP_SHUTDOWN:
		return SIGSEGV;
	default:
		return SIGTRAP;
	}
}

void gdb_tell_stop(struct gdb_session *session)
{
	const struct stop *why = &debugger_vcpu(session->server)->why;

	gdb_reply_add(&session->reply, "T%02xthread:%x;", signal_of(why->reason),
		      THREAD(session->server));
	if (why->reason == STOP_BREAKPOINT)
		gdb_reply_add(&session->reply, "swbreak:;");
	else if (why->reason == STOP_HARDWARE)
		gdb_reply_add(&session->reply, "hwbreak:;");
	else if (why->reason == STOP_WATCH)
		tell_watch(session, why);
}

/* ---- threads ---- */

/* The number of a vcpu, or -1 for "any" and "all", or -ENOENT. */
static int parse_thread(const char **cursor)
{
	uint64_t thread;

	if (gdb_parse_char(cursor, '-'))
		return gdb_parse_hex(cursor, &thread) ? -1 : -ENOENT;
	if (!gdb_parse_hex(cursor, &thread))
		return -ENOENT;
	if (!thread)
		return -1;
	return is_there(thread - 1) ? (int)(thread - 1) : -ENOENT;
}

static enum gdb_outcome choose_thread(struct gdb_session *session, const char *cursor)
{
	char what = *cursor;
	int number;

	if (what != 'g' && what != 'c')
		return say_unknown(session);
	cursor++;
	number = parse_thread(&cursor);
	if (number == -ENOENT)
		return say_error(session, -ENOENT);
	if (what == 'g')
		session->general = number < 0 ? session->server : (unsigned int)number;
	return say_ok(session);
}

static enum gdb_outcome is_alive(struct gdb_session *session, const char *cursor)
{
	return parse_thread(&cursor) >= 0 ? say_ok(session) : say_error(session, -ENOENT);
}

static enum gdb_outcome list_threads(struct gdb_session *session)
{
	char separator = 'm';

	for (unsigned int i = 0; i < processor_count(); i++) {
		if (!is_there(i))
			continue;
		gdb_reply_add(&session->reply, "%c%x", separator, THREAD(i));
		separator = ',';
	}
	return GDB_ANSWER;
}

static enum gdb_outcome describe_thread(struct gdb_session *session, const char *cursor)
{
	int number = parse_thread(&cursor);
	struct gdb_reply text;

	if (number < 0)
		return say_error(session, -ENOENT);
	gdb_reply_clear(&text);
	gdb_reply_add(&text, "processor %d, CPL %u", number,
		      debugger_vcpu((unsigned int)number)->state.cs.selector & 3);
	gdb_reply_add_hex(&session->reply, text.data, text.length);
	return GDB_ANSWER;
}

/* ---- registers and memory ---- */

static enum gdb_outcome read_registers(struct gdb_session *session)
{
	gdb_registers_add_all(&session->reply, session->wide, &general(session)->state);
	return GDB_ANSWER;
}

static enum gdb_outcome write_registers(struct gdb_session *session, const char *cursor)
{
	bool done = gdb_registers_set_all(&general(session)->state, session->wide, cursor);

	return done ? say_ok(session) : say_error(session, -EINVAL);
}

static enum gdb_outcome read_register(struct gdb_session *session, const char *cursor)
{
	uint64_t number;

	if (!gdb_parse_hex(&cursor, &number) ||
	    !gdb_registers_add(&session->reply, session->wide, number, &general(session)->state))
		return say_error(session, -EINVAL);
	return GDB_ANSWER;
}

static enum gdb_outcome write_register(struct gdb_session *session, const char *cursor)
{
	uint64_t number;

	if (!gdb_parse_hex(&cursor, &number) || !gdb_parse_char(&cursor, '=') ||
	    !gdb_registers_set(&general(session)->state, session->wide, number, &cursor))
		return say_error(session, -EINVAL);
	return say_ok(session);
}

static bool parse_range(const char **cursor, uint64_t *address, uint64_t *size)
{
	return gdb_parse_hex(cursor, address) && gdb_parse_char(cursor, ',') &&
	       gdb_parse_hex(cursor, size);
}

static enum gdb_outcome read_memory(struct gdb_session *session, const char *cursor)
{
	static uint8_t bytes[MEMORY_MAX];
	struct guest_paging paging = debugger_paging(general(session));
	uint64_t address, size;

	if (!parse_range(&cursor, &address, &size))
		return say_error(session, -EINVAL);
	size = min_u64(size, MEMORY_MAX);
	if (size && !(size = breakpoints_read(&paging, address, bytes, size)))
		return say_error(session, -EFAULT);
	gdb_reply_add_hex(&session->reply, bytes, size);
	return GDB_ANSWER;
}

static enum gdb_outcome write(struct gdb_session *session, uint64_t address, const void *bytes,
			      uint64_t size)
{
	struct guest_paging paging = debugger_paging(general(session));
	int error = breakpoints_write(&paging, address, bytes, size);

	return error ? say_error(session, error) : say_ok(session);
}

static enum gdb_outcome write_memory(struct gdb_session *session, const char *cursor)
{
	static uint8_t bytes[MEMORY_MAX];
	uint64_t address, size;

	if (!parse_range(&cursor, &address, &size) || !gdb_parse_char(&cursor, ':') ||
	    size > MEMORY_MAX || !gdb_parse_bytes(&cursor, bytes, size))
		return say_error(session, -EINVAL);
	return write(session, address, bytes, size);
}

/* The bytes as they are; end is where the packet ends. */
static enum gdb_outcome write_binary(struct gdb_session *session, const char *cursor,
				     const char *end)
{
	uint64_t address, size;

	if (!parse_range(&cursor, &address, &size) || !gdb_parse_char(&cursor, ':') ||
	    size != (uint64_t)(end - cursor))
		return say_error(session, -EINVAL);
	return write(session, address, cursor, size);
}

/* ---- breakpoints ---- */

static int change_software(struct gdb_session *session, bool add, uint64_t address)
{
	struct guest_paging paging = debugger_paging(general(session));

	return add ? breakpoint_add(&paging, address) : breakpoint_remove(address);
}

static int change_hardware(bool add, uint64_t address, enum breakpoint_access access, uint64_t size)
{
	return add ? watchpoint_add(address, access, size)
		   : watchpoint_remove(address, access, size);
}

/* x86 has no watchpoints for reads alone: Z3 stays unknown. */
static enum gdb_outcome change_breakpoint(struct gdb_session *session, bool add, const char *cursor)
{
	static const enum breakpoint_access accesses[] = {
		['1' - '0'] = BREAK_EXECUTE, ['2' - '0'] = BREAK_WRITE, ['4' - '0'] = BREAK_ACCESS};
	char type = *cursor;
	uint64_t address, size;
	int error;

	if (type != '0' && type != '1' && type != '2' && type != '4')
		return say_unknown(session);
	cursor++;
	if (!gdb_parse_char(&cursor, ',') || !parse_range(&cursor, &address, &size))
		return say_error(session, -EINVAL);
	error = type == '0' ? change_software(session, add, address)
			    : change_hardware(add, address, accesses[type - '0'], size);
	return error ? say_error(session, error) : say_ok(session);
}

/* ---- going on ---- */

static void resume_all(enum resume resume)
{
	for (unsigned int i = 0; i < processor_count(); i++)
		debugger_vcpu(i)->resume = resume;
}

void gdb_resume_all(void)
{
	resume_all(RESUME_RUN);
}

/* 'c' and 's', with an address to go on at, or none. */
static enum gdb_outcome resume_at(struct gdb_session *session, enum resume resume,
				  const char *cursor)
{
	uint64_t address;

	if (gdb_parse_hex(&cursor, &address))
		debugger_vcpu(session->server)->state.rip = address;
	else if (*cursor)
		return say_error(session, -EINVAL);
	resume_all(RESUME_RUN);
	debugger_vcpu(session->server)->resume = resume;
	return GDB_GO_ON;
}

/* 'C' and 'S': a signal, which no guest can be given, comes first. */
static enum gdb_outcome resume_with_signal(struct gdb_session *session, enum resume resume,
					   const char *cursor)
{
	uint64_t ignored;

	if (!gdb_parse_hex(&cursor, &ignored))
		return say_error(session, -EINVAL);
	gdb_parse_char(&cursor, ';');
	return resume_at(session, resume, cursor);
}

/* One action of vCont, such as ";s:1". False if it is none. */
static bool parse_action(const char **cursor, enum resume *resume, int *thread)
{
	char action;
	uint64_t ignored;

	if (!gdb_parse_char(cursor, ';'))
		return false;
	action = *(*cursor);
	if (action != 'c' && action != 'C' && action != 's' && action != 'S')
		return false;
	(*cursor)++;
	if ((action == 'C' || action == 'S') && !gdb_parse_hex(cursor, &ignored))
		return false;
	*resume = action == 'c' || action == 'C' ? RESUME_RUN : RESUME_STEP;
	*thread = gdb_parse_char(cursor, ':') ? parse_thread(cursor) : -1;
	return *thread != -ENOENT;
}

/* The leftmost action that names a thread is the one that counts; without any it holds. */
static bool apply_actions(const char *cursor)
{
	bool decided[PROCESSORS_MAX] = {false};

	while (*cursor) {
		enum resume resume;
		int thread;

		if (!parse_action(&cursor, &resume, &thread))
			return false;
		for (unsigned int i = 0; i < processor_count(); i++) {
			if (decided[i] || (thread >= 0 && (unsigned int)thread != i))
				continue;
			decided[i] = true;
			debugger_vcpu(i)->resume = resume;
		}
	}
	return true;
}

static bool anyone_goes_on(void)
{
	for (unsigned int i = 0; i < processor_count(); i++)
		if (is_there(i) && debugger_vcpu(i)->resume != RESUME_HOLD)
			return true;
	return false;
}

static enum gdb_outcome resume_some(struct gdb_session *session, const char *cursor)
{
	resume_all(RESUME_HOLD);
	if (!apply_actions(cursor) || !anyone_goes_on())
		return say_error(session, -EINVAL);
	return GDB_GO_ON;
}

static enum gdb_outcome detach(struct gdb_session *session)
{
	breakpoints_clear();
	resume_all(RESUME_RUN);
	say_ok(session);
	return GDB_DETACH;
}

/* ---- questions ---- */

static bool begins_with(const char **cursor, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*cursor, text, length))
		return false;
	*cursor += length;
	return true;
}

/* gdb asks for the registers' description once, and believes in it until it connects again. */
static enum gdb_outcome tell_features(struct gdb_session *session)
{
	session->wide = session->wide_guest || (general(session)->state.efer & EFER_LMA);
	gdb_reply_add(&session->reply,
		      "PacketSize=%x;qXfer:features:read+;swbreak+;hwbreak+;QStartNoAckMode+;"
		      "vContSupported+",
		      GDB_PACKET_MAX);
	return GDB_ANSWER;
}

static enum gdb_outcome read_description(struct gdb_session *session, const char *cursor)
{
	uint64_t offset, size;

	if (!parse_range(&cursor, &offset, &size))
		return say_error(session, -EINVAL);
	gdb_registers_describe(&session->reply, session->wide, offset, size);
	return GDB_ANSWER;
}

static enum gdb_outcome run_monitor(struct gdb_session *session, const char *cursor)
{
	char command[MONITOR_MAX];
	size_t length = strlen(cursor) / 2;

	if (length >= sizeof(command) || !gdb_parse_bytes(&cursor, command, length))
		return say_error(session, -EINVAL);
	command[length] = '\0';
	monitor_run(command, session->general, session->print);
	return say_ok(session);
}

/* Some debuggers start with the second. A question of one character is too likely in noise. */
bool gdb_is_greeting(const char *packet)
{
	return begins_with(&packet, "qSupported") || !strcmp(packet, "QStartNoAckMode");
}

static enum gdb_outcome answer(struct gdb_session *session, const char *cursor)
{
	if (begins_with(&cursor, "Supported"))
		return tell_features(session);
	if (begins_with(&cursor, "Xfer:features:read:target.xml:"))
		return read_description(session, cursor);
	if (begins_with(&cursor, "fThreadInfo"))
		return list_threads(session);
	if (begins_with(&cursor, "sThreadInfo"))
		return say(session, "l");
	if (begins_with(&cursor, "ThreadExtraInfo,"))
		return describe_thread(session, cursor);
	if (begins_with(&cursor, "Rcmd,"))
		return run_monitor(session, cursor);
	if (begins_with(&cursor, "Attached"))
		return say(session, "1");
	if (!strcmp(cursor, "C")) {
		gdb_reply_add(&session->reply, "QC%x", THREAD(session->general));
		return GDB_ANSWER;
	}
	return say_unknown(session);
}

static enum gdb_outcome obey_v(struct gdb_session *session, const char *cursor)
{
	if (begins_with(&cursor, "Cont?"))
		return say(session, "vCont;c;C;s;S");
	if (begins_with(&cursor, "Cont"))
		return resume_some(session, cursor);
	return begins_with(&cursor, "Kill") ? GDB_KILL : say_unknown(session);
}

static enum gdb_outcome set(struct gdb_session *session, const char *cursor)
{
	if (strcmp(cursor, "StartNoAckMode"))
		return say_unknown(session);
	session->no_ack = true;
	return say_ok(session);
}

static enum gdb_outcome tell_why(struct gdb_session *session)
{
	gdb_tell_stop(session);
	return GDB_ANSWER;
}

enum gdb_outcome gdb_command(struct gdb_session *session, const char *packet, size_t length)
{
	const char *rest = packet + 1;

	gdb_reply_clear(&session->reply);
	if (!length)
		return GDB_ANSWER;
	switch (*packet) {
	case '?':
		return tell_why(session);
	case 'q':
		return answer(session, rest);
	case 'Q':
		return set(session, rest);
	case 'v':
		return obey_v(session, rest);
	case 'H':
		return choose_thread(session, rest);
	case 'T':
		return is_alive(session, rest);
	case 'g':
		return read_registers(session);
	case 'G':
		return write_registers(session, rest);
	case 'p':
		return read_register(session, rest);
	case 'P':
		return write_register(session, rest);
	case 'm':
		return read_memory(session, rest);
	case 'M':
		return write_memory(session, rest);
	case 'X':
		return write_binary(session, rest, packet + length);
	case 'Z':
		return change_breakpoint(session, true, rest);
	case 'z':
		return change_breakpoint(session, false, rest);
	case 'c':
		return resume_at(session, RESUME_RUN, rest);
	case 's':
		return resume_at(session, RESUME_STEP, rest);
	case 'C':
		return resume_with_signal(session, RESUME_RUN, rest);
	case 'S':
		return resume_with_signal(session, RESUME_STEP, rest);
	case 'D':
		return detach(session);
	case 'k':
		return GDB_KILL;
	default:
		return say_unknown(session);
	}
}
