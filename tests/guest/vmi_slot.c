/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a ROM where there should be none, or none where there should be one; a slot that
 * hides what the firmware left in the option ROM area.
 * Manual: docs/vmi.md.
 * Vendors: no difference.
 * Cannot tell apart: an empty block of zeros from one of FFh; the ROM may take either.
 */
#include "guest.h"
#include "rom.h"

const char guest_name[] = "vmi_slot";

static bool is_empty(const uint8_t *block)
{
	for (unsigned int i = 0; i < VMI_ROM_ALIGN; i++)
		if ((block[i] != 0x00 && block[i] != 0xff) || block[i] != block[0])
			return false;
	return true;
}

static uint32_t hash(const uint8_t *block)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	for (unsigned int i = 0; i < VMI_ROM_ALIGN; i++)
		hash = (hash ^ block[i]) * 16777619;
	return hash;
}

/* The ROM and the pages behind it, of which the last is the local APIC's: not to be looked at. */
static bool is_of_rom(uint32_t rom, uint32_t at)
{
	return rom && at - rom < VMI_ROM_PAGES * PAGE_SIZE;
}

/* The ROM lies where natively nothing is; all else shows the same bytes. */
void guest_main(void)
{
	uint32_t rom = rom_find();

	for (uint32_t at = VMI_ROM_SCAN_START; at < VMI_ROM_SCAN_END; at += VMI_ROM_ALIGN) {
		const uint8_t *block = (const void *)at;

		if (is_of_rom(rom, at) || is_empty(block))
			say_same("%x empty", at);
		else
			say_same("%x %08x", at, hash(block));
	}
	EXPECT_EQ("a ROM", rom != 0, !told("none"));
}
