// SPDX-License-Identifier: GPL-2.0-only
/* gdb's frames: what a good line brings, and what a bad one does. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "debug/gdb_packet.h"

static struct gdb_receiver receiver;
static char sent[3 * GDB_PACKET_MAX];
static size_t sent_length;

static int reset(void **state)
{
	(void)state;
	memset(&receiver, 0, sizeof(receiver));
	sent_length = 0;
	return 0;
}

/* What the last byte of text led to; those before it have to lead to nothing. */
static enum gdb_input receive(const char *text, size_t length)
{
	for (size_t i = 0; i + 1 < length; i++)
		assert_int_equal(gdb_receive(&receiver, (uint8_t)text[i]), GDB_NOTHING);
	return gdb_receive(&receiver, (uint8_t)text[length - 1]);
}

#define RECEIVE(text) receive(text, sizeof(text) - 1)

static void put(char c)
{
	assert_true(sent_length < sizeof(sent));
	sent[sent_length++] = c;
}

static void a_packet_is_what_stands_between_dollar_and_hash(void **state)
{
	(void)state;
	assert_int_equal(RECEIVE("$g#67"), GDB_PACKET);
	assert_string_equal(receiver.data, "g");
	assert_int_equal(RECEIVE("$qSupported#37"), GDB_PACKET);
	assert_string_equal(receiver.data, "qSupported");
	assert_int_equal(receiver.length, strlen("qSupported"));
	assert_int_equal(RECEIVE("$#00"), GDB_PACKET);
	assert_int_equal(receiver.length, 0);
}

static void between_packets_single_bytes_have_a_meaning(void **state)
{
	(void)state;
	assert_int_equal(RECEIVE("+"), GDB_ACK);
	assert_int_equal(RECEIVE("-"), GDB_NAK);
	assert_int_equal(RECEIVE("\x03"), GDB_INTERRUPT);
	assert_int_equal(RECEIVE("noise\xff$g#67"), GDB_PACKET);
}

/* Ctrl-C is data within a packet. */
static void within_a_packet_they_have_none(void **state)
{
	(void)state;
	assert_int_equal(RECEIVE("$+-\x03#5b"), GDB_PACKET);
	assert_string_equal(receiver.data, "+-\x03");
}

static void a_wrong_checksum_is_damage(void **state)
{
	(void)state;
	assert_int_equal(RECEIVE("$g#68"), GDB_DAMAGED);
	assert_int_equal(RECEIVE("$g#77"), GDB_DAMAGED);
	assert_int_equal(RECEIVE("$g#6x"), GDB_DAMAGED);
	assert_int_equal(RECEIVE("$g#x"), GDB_DAMAGED);
	assert_int_equal(RECEIVE("$g#67"), GDB_PACKET);
}

static void escaped_bytes_are_what_they_stand_for(void **state)
{
	(void)state;
	assert_int_equal(RECEIVE("$}\x03}\x04}]}\x0a#62"), GDB_PACKET);
	assert_memory_equal(receiver.data, "#$}*", 4);
	assert_int_equal(receiver.length, 4);
}

static void a_dollar_begins_anew(void **state)
{
	(void)state;
	assert_int_equal(RECEIVE("$lost$g#67"), GDB_PACKET);
	assert_string_equal(receiver.data, "g");
}

static enum gdb_input receive_of_length(size_t length)
{
	uint8_t sum = (uint8_t)('a' * length);
	char end[4];

	gdb_receive(&receiver, '$');
	for (size_t i = 0; i < length; i++)
		assert_int_equal(gdb_receive(&receiver, 'a'), GDB_NOTHING);
	snprintf(end, sizeof(end), "#%02x", sum);
	return receive(end, 3);
}

static void one_that_is_too_long_is_damage(void **state)
{
	(void)state;
	assert_int_equal(receive_of_length(GDB_PACKET_MAX), GDB_PACKET);
	assert_int_equal(receiver.length, GDB_PACKET_MAX);
	assert_int_equal(receive_of_length(GDB_PACKET_MAX + 1), GDB_DAMAGED);
	assert_int_equal(receive_of_length(10 * GDB_PACKET_MAX), GDB_DAMAGED);
	assert_int_equal(receive_of_length(3), GDB_PACKET);
}

static void what_is_framed_comes_back(void **state)
{
	char data[256];
	enum gdb_input last = GDB_NOTHING;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)i;
	gdb_frame(data, sizeof(data), put);
	for (size_t i = 0; i < sent_length; i++)
		last = gdb_receive(&receiver, (uint8_t)sent[i]);
	assert_int_equal(last, GDB_PACKET);
	assert_int_equal(receiver.length, sizeof(data));
	assert_memory_equal(receiver.data, data, sizeof(data));
}

static void a_reply_is_cut_where_it_is_full(void **state)
{
	static struct gdb_reply reply;
	static const uint8_t bytes[GDB_PACKET_MAX] = {0xa5};

	(void)state;
	gdb_reply_clear(&reply);
	gdb_reply_add(&reply, "%s", "x");
	gdb_reply_add_hex(&reply, bytes, sizeof(bytes));
	assert_true(reply.length < sizeof(reply.data));
	assert_memory_equal(reply.data, "xa5", 3);
	gdb_reply_add(&reply, "%s", "much too much");
	gdb_reply_add_hex(&reply, bytes, sizeof(bytes));
	assert_true(reply.length < sizeof(reply.data));
	assert_int_equal(strlen(reply.data), reply.length);
}

static void numbers_are_hexadecimal_and_have_64_bits(void **state)
{
	const char *cursor = "fFffFFFFffffffff,";
	uint64_t number;

	(void)state;
	assert_true(gdb_parse_hex(&cursor, &number));
	assert_true(number == UINT64_MAX);
	assert_true(gdb_parse_char(&cursor, ','));
	assert_false(gdb_parse_char(&cursor, ','));
	assert_false(gdb_parse_hex(&cursor, &number));
	cursor = "10000000000000000";
	assert_false(gdb_parse_hex(&cursor, &number));
	cursor = "g";
	assert_false(gdb_parse_hex(&cursor, &number));
}

static void bytes_need_both_digits(void **state)
{
	const char *cursor = "00a5fg";
	uint8_t bytes[3];

	(void)state;
	assert_true(gdb_parse_bytes(&cursor, bytes, 2));
	assert_int_equal(bytes[1], 0xa5);
	assert_false(gdb_parse_bytes(&cursor, bytes, 1));
	cursor = "0";
	assert_false(gdb_parse_bytes(&cursor, bytes, 1));
}

/* A line that brings anything must not bring the receiver out of its buffer. */
static void noise_does_no_harm(void **state)
{
	static const char likely[] = "$#}+-\x03"
				     "0123456789abcdef";
	uint64_t random = 42;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint8_t byte = random_below(&random, 4)
				       ? (uint8_t)random_next(&random)
				       : (uint8_t)likely[random_below(&random, 22)];

		if (gdb_receive(&receiver, byte) == GDB_PACKET) {
			assert_true(receiver.length <= GDB_PACKET_MAX);
			assert_int_equal(receiver.data[receiver.length], '\0');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_packet_is_what_stands_between_dollar_and_hash, reset),
		cmocka_unit_test_setup(between_packets_single_bytes_have_a_meaning, reset),
		cmocka_unit_test_setup(within_a_packet_they_have_none, reset),
		cmocka_unit_test_setup(a_wrong_checksum_is_damage, reset),
		cmocka_unit_test_setup(escaped_bytes_are_what_they_stand_for, reset),
		cmocka_unit_test_setup(a_dollar_begins_anew, reset),
		cmocka_unit_test_setup(one_that_is_too_long_is_damage, reset),
		cmocka_unit_test_setup(what_is_framed_comes_back, reset),
		cmocka_unit_test_setup(a_reply_is_cut_where_it_is_full, reset),
		cmocka_unit_test_setup(numbers_are_hexadecimal_and_have_64_bits, reset),
		cmocka_unit_test_setup(bytes_need_both_digits, reset),
		cmocka_unit_test_setup(noise_does_no_harm, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
