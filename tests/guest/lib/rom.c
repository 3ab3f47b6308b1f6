/* SPDX-License-Identifier: GPL-2.0-only */
#include "rom.h"
#include "guest.h"

bool rom_is_at(uint32_t address)
{
	const struct vmi_rom_header *rom = (const void *)address;
	const uint8_t *bytes = (const void *)address;
	uint8_t sum = 0;

	if (rom->rom_signature != OPTION_ROM_SIGNATURE || rom->vmi_signature != VMI_ROM_SIGNATURE)
		return false;
	for (unsigned int i = 0; i < rom->rom_length * OPTION_ROM_LENGTH_UNIT; i++)
		sum += bytes[i];
	EXPECT_EQ("checksum", sum, 0);
	EXPECT_EQ("API", rom->api_major, VMI_API_MAJOR);
	return true;
}

uint32_t rom_find(void)
{
	uint32_t found = 0;

	for (uint32_t at = VMI_ROM_SCAN_START; at < VMI_ROM_SCAN_END; at += VMI_ROM_ALIGN) {
		if (!rom_is_at(at))
			continue;
		EXPECT(!found);
		found = at;
	}
	return found;
}
