// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer on gdb's packets. An input's first byte says whether the rest is a line's bytes, as
 * a UART gives them, or the data of packets, each ended by a newline: few line bytes
 * make a packet whose checksum is right. What they do, they do to two processors
 * and a little memory with page tables in it; only what stops processors is a fake.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "core/processor.h"
#include "debug/breakpoints.h"
#include "debug/debugger.h"
#include "debug/gdb_command.h"
#include "debug/monitor.h"
#include "guest/e820.h"
#include "mm/guest_memory.h"
#include "mm/physmap.h"

#define RAM_SIZE  (16 * PAGE_SIZE)
#define DIRECTORY 0x2000
#define TABLE	  0x3000
#define LINES	  BIT(0)
#define PAGED	  BIT(1)
#define LONG	  BIT(2)
#define WIDE	  BIT(3)

uintptr_t physmap_base;
uint64_t physmap_limit = RAM_SIZE;

static uint8_t ram[RAM_SIZE] __attribute__((aligned(PAGE_SIZE)));
static struct stopped vcpus[2];
static struct gdb_session session;
static struct gdb_receiver receiver;

struct stopped *debugger_vcpu(unsigned int number)
{
	if (number >= ARRAY_SIZE(vcpus))
		abort();
	return &vcpus[number];
}

unsigned int processor_count(void)
{
	return ARRAY_SIZE(vcpus);
}

void monitor_run(const char *line, unsigned int vcpu, void (*print)(const char *text))
{
	if (strlen(line) > GDB_PACKET_MAX || vcpu >= ARRAY_SIZE(vcpus))
		abort();
	print(line);
}

static void take_text(const char *text)
{
	(void)text;
}

static void take_byte(char c)
{
	(void)c;
}

/* One table, of itself and of pages that are there and some that are not; large ones, too. */
static void make_tables(void)
{
	memset(ram, 0, sizeof(ram));
	memset(ram + DIRECTORY, DIRECTORY >> 8 | 1, PAGE_SIZE / 2);
	for (unsigned int i = 0; i < PAGE_SIZE; i += 8)
		ram[DIRECTORY + i] = i % 24 ? 0x27 : 0xa7;
	memcpy(ram + TABLE, ram + DIRECTORY, PAGE_SIZE);
}

static void start(uint8_t what)
{
	static struct e820_map map = {.count = 1, .entry = {{0, RAM_SIZE, E820_RAM}}};

	physmap_base = (uintptr_t)ram;
	guest_memory_init(&map);
	make_tables();
	memset(vcpus, 0, sizeof(vcpus));
	memset(&receiver, 0, sizeof(receiver));
	for (unsigned int i = 0; i < ARRAY_SIZE(vcpus); i++) {
		struct guest_state *state = &vcpus[i].state;

		vcpus[i].is_there = true;
		state->cr0 = CR0_PE | (what & PAGED ? CR0_PG : 0);
		state->cr3 = DIRECTORY;
		state->cr4 = what & LONG ? CR4_PAE : CR4_PSE;
		state->efer = what & LONG ? EFER_LME | EFER_LMA : 0;
	}
	session = (struct gdb_session){.wide_guest = what & WIDE, .print = take_text};
	session.wide = session.wide_guest;
}

static void obey(const char *packet, size_t length)
{
	gdb_command(&session, packet, length);
	if (session.reply.length >= GDB_PACKET_MAX)
		abort();
	gdb_frame(session.reply.data, session.reply.length, take_byte);
}

static void take_line(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (gdb_receive(&receiver, bytes[i]) == GDB_PACKET)
			obey(receiver.data, receiver.length);
}

static void take_packets(const uint8_t *bytes, size_t size)
{
	static char packet[GDB_PACKET_MAX + 1];
	size_t length = 0;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != '\n' && length < GDB_PACKET_MAX) {
			packet[length++] = (char)bytes[i];
			continue;
		}
		packet[length] = '\0';
		obey(packet, length);
		length = 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!size)
		return 0;
	start(bytes[0]);
	if (bytes[0] & LINES)
		take_line(bytes + 1, size - 1);
	else
		take_packets(bytes + 1, size - 1);
	breakpoints_clear();
	return 0;
}
