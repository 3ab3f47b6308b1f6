/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a ROM that Linux' probe would not take, answers that are not docs/vmi.md's, a ROM
 * where there should be none, and a slot that hides what the firmware left beside it.
 * Manual: docs/vmi.md; the scan is that of Linux 2.6.21, arch/i386/kernel/vmi.c.
 * Vendors: the hypercall in the ROM; no difference here.
 * Cannot tell apart: a ROM whose routines are wrong (tests/system/test_option_rom_bios.py).
 */
#include "guest.h"

const char guest_name[] = "vmi_rom";

#define FREE_BYTE(b) ((b) == 0x00 || (b) == 0xff)

typedef uint64_t (*get_reloc_t)(uint32_t call) __attribute__((regparm(1)));

static bool is_rom(uint32_t at)
{
	const struct vmi_rom_header *rom = (const void *)at;
	const uint8_t *bytes = (const void *)at;
	uint8_t sum = 0;

	if (rom->rom_signature != OPTION_ROM_SIGNATURE || rom->vmi_signature != VMI_ROM_SIGNATURE)
		return false;
	for (unsigned int i = 0; i < rom->rom_length * OPTION_ROM_LENGTH_UNIT; i++)
		sum += bytes[i];
	EXPECT_EQ("checksum", sum, 0);
	EXPECT_EQ("API", rom->api_major, VMI_API_MAJOR);
	return true;
}

static bool is_free(const uint8_t *block)
{
	for (unsigned int i = 0; i < VMI_ROM_ALIGN; i++)
		if (!FREE_BYTE(block[i]) || block[i] != block[0])
			return false;
	return true;
}

/* The ROM lies where natively nothing is; all else shows the same bytes. */
static void say_block(uint32_t at, bool rom)
{
	const uint8_t *block = (const void *)at;
	uint32_t hash = 2166136261; /* FNV-1a */

	for (unsigned int i = 0; i < VMI_ROM_ALIGN; i++)
		hash = (hash ^ block[i]) * 16777619;
	if (rom || is_free(block))
		say_same("%x free", at);
	else
		say_same("%x %08x", at, hash);
}

static uint32_t find_rom(void)
{
	uint32_t found = 0;

	for (uint32_t at = VMI_ROM_SCAN_START; at < VMI_ROM_SCAN_END; at += VMI_ROM_ALIGN) {
		bool rom = is_rom(at);

		say_block(at, rom);
		EXPECT(!rom || !found);
		found = rom ? at : found;
	}
	return found;
}

static void check_answer(uint32_t rom, unsigned int call, uint8_t hint)
{
	get_reloc_t get_reloc = (get_reloc_t)(rom + offsetof(struct vmi_rom_header, get_reloc));
	bool routine = call >= VMI_CALL_EnableInterrupts && call <= VMI_CALL_SYSEXIT;
	uint64_t answer = get_reloc(call);
	uint32_t wanted = routine		     ? VMI_RELOCATION_CALL_REL | hint << 8
			  : call == VMI_CALL_IODelay ? VMI_RELOCATION_NOP
						     : VMI_RELOCATION_NONE;

	if (answer >> 32 != wanted || (routine ? (uint32_t)answer - rom >= 2048 : (uint32_t)answer))
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
	uint32_t rom = find_rom();
	int (*vmi_init)(void) = (void *)(rom + offsetof(struct vmi_rom_header, vmi_init));

	if (told("none")) {
		EXPECT_EQ("ROM", rom, 0);
		return;
	}
	EXPECT(rom != 0);
	EXPECT_EQ("vmi_init", vmi_init(), 0);
	for (unsigned int call = 0; call < VMI_CALL_COUNT + 10; call++)
		check_answer(rom, call, told("hints") ? VMI_HINT_NATIVE : 0);
	check_writing(rom);
}
