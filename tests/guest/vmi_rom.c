/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: answers of the ROM that are not docs/vmi.md's, a vmi_init that does not reach
 * Vellum, a guest that brings Vellum down by writing over its ROM.
 * Manual: docs/vmi.md.
 * Vendors: the hypercall instruction in the ROM.
 * Cannot tell apart: a ROM whose routines are wrong (tests/system/test_option_rom_bios.py).
 */
#include "guest.h"
#include "rom.h"

const char guest_name[] = "vmi_rom";

typedef uint64_t (*get_reloc_t)(uint32_t call) __attribute__((regparm(1)));

static bool is_hypercall(unsigned int call)
{
	return call == VMI_CALL_Reboot || call == VMI_CALL_Shutdown ||
	       call == VMI_CALL_SetInitialAPState;
}

static bool is_routine(unsigned int call)
{
	return (call >= VMI_CALL_EnableInterrupts && call <= VMI_CALL_SYSEXIT) ||
	       (call >= VMI_CALL_GetCycleFrequency && call <= VMI_CALL_WallclockUpdated) ||
	       is_hypercall(call);
}

static uint32_t wanted_type(unsigned int call)
{
	uint32_t hint = told("hints") && !is_hypercall(call) ? VMI_HINT_NATIVE << 8 : 0;

	if (is_routine(call))
		return VMI_RELOCATION_CALL_REL | hint;
	return call == VMI_CALL_IODelay ? VMI_RELOCATION_NOP : VMI_RELOCATION_NONE;
}

static void check_answer(uint32_t rom, unsigned int call)
{
	get_reloc_t get_reloc = (get_reloc_t)(rom + offsetof(struct vmi_rom_header, get_reloc));
	uint64_t answer = get_reloc(call);
	uint32_t routine = (uint32_t)answer;
	bool inside = routine - rom < PAGE_SIZE;

	if (answer >> 32 != wanted_type(call) || (is_routine(call) ? !inside : routine))
		fail(__FILE__, __LINE__, "call %u: %llx", call, answer);
}

/* The guest may write all over its copy; it stays the guest's own. */
static void check_writing(uint32_t rom)
{
	memset((void *)(rom & ~0xfffu), 0xcc, PAGE_SIZE);
	EXPECT_EQ("written", *(volatile uint32_t *)rom, 0xcccccccc);
	EXPECT(under_vellum());
}

void guest_main(void)
{
	uint32_t rom = rom_find();
	int (*vmi_init)(void) = (void *)(rom + offsetof(struct vmi_rom_header, vmi_init));

	EXPECT(rom != 0);
	EXPECT_EQ("vmi_init", vmi_init(), 0);
	for (unsigned int call = 0; call < VMI_CALL_COUNT + 10; call++)
		check_answer(rom, call);
	for (unsigned int i = 1; i <= 4 * VMI_CALL_COUNT; i++)
		check_answer(rom, -i);
	check_writing(rom);
}
