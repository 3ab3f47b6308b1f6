/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames of gdb's remote protocol (gdb manual, appendix E.1): $data#checksum, and the
 * numbers in them. Whatever comes in is taken byte by byte; nothing here touches the line.
 */
#ifndef VELLUM_DEBUG_GDB_PACKET_H
#define VELLUM_DEBUG_GDB_PACKET_H

#include "lib/types.h"

#define GDB_PACKET_MAX 4096 /* bytes of data, either way */

enum gdb_input {
	GDB_NOTHING,   /* more has to come */
	GDB_PACKET,    /* data holds a packet, with a NUL behind it */
	GDB_DAMAGED,   /* one came whose checksum is wrong, or that is too long */
	GDB_INTERRUPT, /* Ctrl-C, between packets */
	GDB_ACK,
	GDB_NAK,
};

/* Zero is a line on which nothing has come yet. */
struct gdb_receiver {
	enum { GDB_IDLE, GDB_DATA, GDB_ESCAPED, GDB_SUM_HIGH, GDB_SUM_LOW } state;
	uint8_t sum, wanted; /* of the bytes as they came; as the sender says */
	size_t length;	     /* may be more than fits: then the packet is damaged */
	char data[GDB_PACKET_MAX + 1];
};

/* One byte more has come. */
enum gdb_input gdb_receive(struct gdb_receiver *receiver, uint8_t byte);

/* An answer in the making. What no longer fits is cut off. */
struct gdb_reply {
	size_t length;
	char data[GDB_PACKET_MAX];
};

void gdb_reply_clear(struct gdb_reply *reply);
__attribute__((format(printf, 2, 3))) void gdb_reply_add(struct gdb_reply *reply,
							 const char *format, ...);

/* Two hexadecimal digits a byte. */
void gdb_reply_add_hex(struct gdb_reply *reply, const void *bytes, size_t size);

/* Calls put for each byte of the frame around data, escapes and checksum included. */
void gdb_frame(const char *data, size_t length, void (*put)(char c));

/* -1 if c is no hexadecimal digit. */
int gdb_hex_digit(char c);

/*
 * The hexadecimal number at *cursor, which moves behind it. False if there is none, or one of
 * more than 64 bits.
 */
bool gdb_parse_hex(const char **cursor, uint64_t *number);

/* True if *cursor is at c, and moves behind it. */
bool gdb_parse_char(const char **cursor, char c);

/* size bytes from their hexadecimal digits. False if these are not there. */
bool gdb_parse_bytes(const char **cursor, void *bytes, size_t size);

#endif
