/* SPDX-License-Identifier: GPL-2.0-only */
/* What gdb's packets mean. Nothing here touches the line, or trusts what came from it. */
#ifndef VELLUM_DEBUG_GDB_COMMAND_H
#define VELLUM_DEBUG_GDB_COMMAND_H

#include "debug/gdb_packet.h"

struct gdb_session {
	bool wide_guest;		 /* it is going to be 64-bit code, whatever it is now */
	bool wide;			 /* x86-64's registers, not i386's, since gdb's greeting */
	bool no_ack;			 /* packets are no longer acknowledged */
	unsigned int server;		 /* the vcpu that has stopped */
	unsigned int general;		 /* the one that gdb's 'g', 'm' and the like are about */
	void (*print)(const char *text); /* for "monitor" commands */
	struct gdb_reply reply;
};

enum gdb_outcome {
	GDB_ANSWER, /* the reply is to be sent */
	GDB_GO_ON,  /* no reply yet: the guest goes on, as the vcpus' resume says */
	GDB_DETACH, /* the reply is to be sent, and the guest goes on without gdb */
	GDB_KILL,
};

/* A packet, with a NUL behind its length bytes. */
enum gdb_outcome gdb_command(struct gdb_session *session, const char *packet, size_t length);

/* True for what a gdb that connects says first. */
bool gdb_is_greeting(const char *packet);

/* All processors shall go on. */
void gdb_resume_all(void);

/* Makes the reply that tells why the guest has stopped. */
void gdb_tell_stop(struct gdb_session *session);

#endif
