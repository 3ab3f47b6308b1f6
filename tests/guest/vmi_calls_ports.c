/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a port call (49 to 60, 65) of the wrong size or port, a string call that leaves its
 * pointer or count elsewhere than the instruction does, an output that changes a register.
 * Manual: docs/vmi.md, the calls; SDM volume 2, IN, OUT, INS, OUTS, REP.
 * Vendors: no difference.
 * Cannot tell apart: an IODelay that waits from one that does not.
 *
 * The port is PCI's window to configuration space; it shows the timing of the PIIX's IDE
 * channels, which has all of its 32 bits, and is no matter of an emulator's.
 */
#include "guest.h"
#include "pv.h"

const char guest_name[] = "vmi_calls_ports";

#define PCI_ADDRESS 0xcf8
#define PCI_DATA    0xcfc
#define IDE_TIMING  0x80000940u /* bus 0, device 1, function 1, register 40h */
#define VALUE	    0x87a5c3e1u
#define COUNT	    3u
#define CANARY	    0x5a
#define FLAG_DF	    0x400u

static const uint32_t masks[] = {0xff, 0xffff, 0, 0xffffffff}; /* by size, less 1 */

static uint32_t timing(void)
{
	return inl(PCI_DATA);
}

/* As the instructions: these change no flag. */
static void run_call(enum vmi_call number, struct call *call, unsigned int may)
{
	uint32_t eflags = call->eflags;

	pv_run(vmi_call_name(number), call, may);
	EXPECT_EQ("EFLAGS", call->eflags, eflags);
}

/* The upper part of EAX is 0. */
static void check_in(enum vmi_call number, unsigned int size)
{
	struct call call = pv_canaries();

	pv_aim(number, &call);
	call.edx = PCI_DATA;
	run_call(number, &call, PV_EAX);
	EXPECT_EQ(vmi_call_name(number), call.eax, VALUE & masks[size - 1]);
}

static void check_out(enum vmi_call number, unsigned int size)
{
	struct call call = pv_canaries();
	uint32_t mask = masks[size - 1];

	outl(PCI_DATA, VALUE);
	pv_aim(number, &call);
	call.eax = 0x12345678;
	call.edx = PCI_DATA;
	run_call(number, &call, 0);
	EXPECT_EQ(vmi_call_name(number), timing(), (VALUE & ~mask) | (0x12345678 & mask));
	outl(PCI_DATA, VALUE);
}

/* DF is the caller's: with it the string is filled from its end. */
static void check_in_string(enum vmi_call number, unsigned int size, uint32_t df)
{
	static uint8_t buffer[4 * COUNT + 2];
	static const uint32_t value = VALUE;
	struct call call = pv_canaries();

	memset(buffer, CANARY, sizeof(buffer));
	pv_aim(number, &call);
	call.edx = PCI_DATA;
	call.ecx = COUNT;
	call.edi = (uint32_t)buffer + 1 + (df ? (COUNT - 1) * size : 0);
	call.eflags |= df;
	run_call(number, &call, PV_ECX | PV_EDI);
	EXPECT_EQ("ECX", call.ecx, 0);
	EXPECT_EQ("EDI", call.edi, (uint32_t)buffer + 1 + (df ? 0 - size : COUNT * size));
	EXPECT_EQ("the byte below", buffer[0], CANARY);
	for (unsigned int i = 0; i < COUNT; i++)
		EXPECT(!memcmp(buffer + 1 + i * size, &value, size));
	EXPECT_EQ("the byte above", buffer[1 + COUNT * size], CANARY);
}

static void check_out_string(enum vmi_call number, unsigned int size, uint32_t df)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct call call = pv_canaries();
	uint32_t mask = masks[size - 1], last = 0;

	memcpy(&last, df ? bytes : bytes + (COUNT - 1) * size, size);
	outl(PCI_DATA, VALUE);
	pv_aim(number, &call);
	call.edx = PCI_DATA;
	call.ecx = COUNT;
	call.esi = (uint32_t)bytes + (df ? (COUNT - 1) * size : 0);
	call.eflags |= df;
	run_call(number, &call, PV_ECX | PV_ESI);
	EXPECT_EQ("ECX", call.ecx, 0);
	EXPECT_EQ("ESI", call.esi, (uint32_t)bytes + (df ? 0 - size : COUNT * size));
	EXPECT_EQ(vmi_call_name(number), timing(), (VALUE & ~mask) | last);
	outl(PCI_DATA, VALUE);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	outl(PCI_ADDRESS, IDE_TIMING);
	outl(PCI_DATA, VALUE);
	EXPECT_EQ("the register itself", timing(), VALUE);
	for (unsigned int i = 0; i < 8; i++) {
		uint32_t df = i & 1 ? FLAG_DF : 0;

		check_in(VMI_CALL_INB, 1);
		check_in(VMI_CALL_INW, 2);
		check_in(VMI_CALL_INL, 4);
		check_out(VMI_CALL_OUTB, 1);
		check_out(VMI_CALL_OUTW, 2);
		check_out(VMI_CALL_OUTL, 4);
		check_in_string(VMI_CALL_INSB, 1, df);
		check_in_string(VMI_CALL_INSW, 2, df);
		check_in_string(VMI_CALL_INSL, 4, df);
		check_out_string(VMI_CALL_OUTSB, 1, df);
		check_out_string(VMI_CALL_OUTSW, 2, df);
		check_out_string(VMI_CALL_OUTSL, 4, df);
		VMI(IODelay);
	}
}
