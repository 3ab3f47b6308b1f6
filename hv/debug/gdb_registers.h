/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's registers as gdb numbers them (gdb manual, appendix G.5.14): two descriptions,
 * i386 and x86-64, each with the control and table registers behind gdb's own.
 */
#ifndef VELLUM_DEBUG_GDB_REGISTERS_H
#define VELLUM_DEBUG_GDB_REGISTERS_H

#include "core/guest_state.h"
#include "debug/gdb_packet.h"

/* The description as XML, from offset on, size bytes at most; 'm' or 'l' (the last) first. */
void gdb_registers_describe(struct gdb_reply *reply, bool wide, uint64_t offset, uint64_t size);

/* All of them, in order: the answer to 'g'. */
void gdb_registers_add_all(struct gdb_reply *reply, bool wide, const struct guest_state *state);

/* One of them. False if there is none of that number. */
bool gdb_registers_add(struct gdb_reply *reply, bool wide, uint64_t number,
		       const struct guest_state *state);

/*
 * Sets one from its hexadecimal bytes. False if these are not there, or it is none of those
 * that can be written: general registers, instruction pointer, flags, x87 and SSE.
 */
bool gdb_registers_set(struct guest_state *state, bool wide, uint64_t number, const char **cursor);

/* As many as are given, in order; what can't be written stays. */
bool gdb_registers_set_all(struct guest_state *state, bool wide, const char *cursor);

#endif
