/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/gdb_packet.h"
#include "lib/printf.h"

#define INTERRUPT 0x03
#define ESCAPE	  '}'
#define ESCAPED	  0x20 /* what an escaped byte is XORed with */

static const char digits[] = "0123456789abcdef";

static void begin(struct gdb_receiver *receiver)
{
	receiver->state = GDB_DATA;
	receiver->sum = 0;
	receiver->length = 0;
}

static enum gdb_input receive_idle(struct gdb_receiver *receiver, uint8_t byte)
{
	switch (byte) {
	case '$':
		begin(receiver);
		return GDB_NOTHING;
	case INTERRUPT:
		return GDB_INTERRUPT;
	case '+':
		return GDB_ACK;
	case '-':
		return GDB_NAK;
	default:
		return GDB_NOTHING; /* noise */
	}
}

static void add_byte(struct gdb_receiver *receiver, uint8_t byte)
{
	if (receiver->length < GDB_PACKET_MAX)
		receiver->data[receiver->length] = (char)byte;
	if (receiver->length <= GDB_PACKET_MAX)
		receiver->length++;
}

/* A '$' within a packet is the start of the next one: the end of this one was lost. */
static void receive_data(struct gdb_receiver *receiver, uint8_t byte)
{
	if (byte == '$') {
		begin(receiver);
		return;
	}
	if (byte == '#') {
		receiver->state = GDB_SUM_HIGH;
		return;
	}
	receiver->sum = (uint8_t)(receiver->sum + byte);
	if (byte == ESCAPE)
		receiver->state = GDB_ESCAPED;
	else
		add_byte(receiver, byte);
}

static void receive_escaped(struct gdb_receiver *receiver, uint8_t byte)
{
	receiver->sum = (uint8_t)(receiver->sum + byte);
	receiver->state = GDB_DATA;
	add_byte(receiver, byte ^ ESCAPED);
}

static enum gdb_input finish(struct gdb_receiver *receiver, int digit)
{
	receiver->state = GDB_IDLE;
	if (digit < 0 || receiver->length > GDB_PACKET_MAX ||
	    (uint8_t)(receiver->wanted | digit) != receiver->sum)
		return GDB_DAMAGED;
	receiver->data[receiver->length] = '\0';
	return GDB_PACKET;
}

static enum gdb_input receive_sum(struct gdb_receiver *receiver, uint8_t byte)
{
	int digit = gdb_hex_digit((char)byte);

	if (receiver->state == GDB_SUM_LOW || digit < 0)
		return finish(receiver, digit);
	receiver->wanted = (uint8_t)(digit << 4);
	receiver->state = GDB_SUM_LOW;
	return GDB_NOTHING;
}

enum gdb_input gdb_receive(struct gdb_receiver *receiver, uint8_t byte)
{
	switch (receiver->state) {
	case GDB_DATA:
		receive_data(receiver, byte);
		return GDB_NOTHING;
	case GDB_ESCAPED:
		receive_escaped(receiver, byte);
		return GDB_NOTHING;
	case GDB_SUM_HIGH:
	case GDB_SUM_LOW:
		return receive_sum(receiver, byte);
	default:
		return receive_idle(receiver, byte);
	}
}

void gdb_reply_clear(struct gdb_reply *reply)
{
	reply->length = 0;
	reply->data[0] = '\0';
}

void gdb_reply_add(struct gdb_reply *reply, const char *format, ...)
{
	size_t room = sizeof(reply->data) - reply->length;
	va_list args;
	size_t length;

	va_start(args, format);
	length = (size_t)text_vformat(reply->data + reply->length, room, format, args);
	va_end(args);
	reply->length += length < room ? length : room - 1;
}

void gdb_reply_add_hex(struct gdb_reply *reply, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	for (size_t i = 0; i < size && reply->length + 2 < sizeof(reply->data); i++) {
		reply->data[reply->length++] = digits[from[i] >> 4];
		reply->data[reply->length++] = digits[from[i] & 15];
	}
	reply->data[reply->length] = '\0';
}

static bool needs_escape(char c)
{
	return c == '$' || c == '#' || c == '*' || c == ESCAPE;
}

void gdb_frame(const char *data, size_t length, void (*put)(char c))
{
	uint8_t sum = 0;

	put('$');
	for (size_t i = 0; i < length; i++) {
		char c = data[i];

		if (needs_escape(c)) {
			put(ESCAPE);
			sum = (uint8_t)(sum + ESCAPE);
			c ^= ESCAPED;
		}
		put(c);
		sum = (uint8_t)(sum + (uint8_t)c);
	}
	put('#');
	put(digits[sum >> 4]);
	put(digits[sum & 15]);
}

int gdb_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool gdb_parse_hex(const char **cursor, uint64_t *number)
{
	const char *start = *cursor;
	int digit;

	*number = 0;
	while ((digit = gdb_hex_digit(**cursor)) >= 0) {
		if (*number >> 60)
			return false;
		*number = *number << 4 | (uint64_t)digit;
		(*cursor)++;
	}
	return *cursor != start;
}

bool gdb_parse_char(const char **cursor, char c)
{
	if (**cursor != c)
		return false;
	(*cursor)++;
	return true;
}

bool gdb_parse_bytes(const char **cursor, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	for (size_t i = 0; i < size; i++) {
		int high = gdb_hex_digit((*cursor)[0]);
		int low = high < 0 ? -1 : gdb_hex_digit((*cursor)[1]);

		if (low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
		*cursor += 2;
	}
	return true;
}
