/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an IN of a guarded port that loses parts of EAX, an access of the wrong size, a
 * wrong length of an instruction with prefixes, and last words on an access that ends
 * nothing: PCI configuration writes a dword to CF8h, over the reset port CF9h.
 * Manual: APM volume 2, 15.10.1 (each byte of a wide access is looked up), 15.10.2; volume
 * 1, 3.1.2 (a 32-bit result clears bits 63:32, smaller ones keep the rest).
 * Vendors: VT-x says the same in its exit qualification.
 * Cannot tell apart: a port whose device ignores the access.
 */
#include "guest.h"
#include "sled.h"

const char guest_name[] = "ports_harmless";

#define IN_AL	0xec
#define IN_EAX	0xed
#define OUT_AL	0xee
#define OUT_EAX 0xef
#define WIDE16	0x66

static void access(uint8_t prefix, uint8_t opcode, uint16_t port, uint64_t rax, struct state state,
		   void (*runs)(struct state *), unsigned int push_size)
{
	const uint8_t instruction[] = {prefix, opcode};
	struct sled sled = sled_make(instruction, sizeof(instruction));
	uint64_t rsp = state.rsp;

	state.rip = (uint32_t)sled.bytes;
	state.rax = rax;
	state.rdx = 0xffff0000 | port;
	runs(&state);
	EXPECT(sled_done(&sled, &state, (uint32_t)sled.bytes, rsp, push_size));
	say_same("%02x %02x port %x: rax %llx", prefix, opcode, port, state.rax);
}

/* exiting: 1 if Vellum guards one of the bytes, 0 if it need not see the access. */
static void access_all(uint8_t prefix, uint8_t opcode, uint16_t port, uint32_t eax,
		       unsigned int exiting)
{
	uint64_t before = exits(EXIT_PORT);

	access(prefix, opcode, port, eax, state_for(NULL), run, 4);
	access(prefix, opcode, port, 0xa5a5a5a500000000ull | eax, state_for64(NULL), run64, 8);
	if (under_vellum())
		EXPECT_EQ("exits", exits(EXIT_PORT), before + 2 * exiting);
}

static void read_all(uint16_t port, unsigned int exits8, unsigned int exits16)
{
	access_all(0x3e, IN_AL, port, 0xdeadbeef, exits8);
	access_all(WIDE16, IN_EAX, port, 0xdeadbeef, exits16);
	access_all(0x3e, IN_EAX, port, 0xdeadbeef, 1);
}

void guest_main(void)
{
	read_all(0x64, 1, 1);
	read_all(0x92, 1, 1);
	read_all(0x91, 0, 1);
	read_all(0x8f, 0, 0);
	read_all(0xcf9, 1, 1);
	read_all(0xcf8, 0, 1);
	access_all(0x3e, OUT_AL, 0x64, 0xae, 1);	 /* keyboard on */
	access_all(0x3e, OUT_AL, 0x92, 0x02, 1);	 /* A20 stays on */
	access_all(0x3e, OUT_AL, 0xcf9, 0x02, 1);	 /* a reset's kind, but no reset */
	access_all(0x3e, OUT_EAX, 0xcf8, 0x80000400, 1); /* PCI function 4: bit 2 of CF9h */
	access_all(0x3e, OUT_EAX, 0xcf8, 0x80000f00, 1); /* 0Fh: q35's reset value, by ACPI */
	access_all(0x3e, IN_EAX, 0xcf8, 0, 1);
}
