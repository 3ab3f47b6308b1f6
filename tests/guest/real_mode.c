/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a guest that can't go back to real mode or call the BIOS there, and a CPUID whose
 * length is looked for at CS times 16 wrongly.
 * Manual: APM volume 2, 14.8 (leaving protected mode), 15.25 (nested paging allows a guest
 * without paging; the VMCB has the segment bases).
 * Vendors: VT-x needs unrestricted guest.
 * Cannot tell apart: the BIOS' own map from one that Vellum changed; it names Vellum's
 * memory as RAM (the boot loader's map, which Linux uses, does not).
 */
#include "guest.h"

const char guest_name[] = "real_mode";

#define MAP ((struct e820_entry *)0x9000)

void real_mode_run(uint32_t map); /* real_mode.asm */
extern uint32_t real_mode_entries, real_mode_signature[3];

/* The BIOS' entries are 24 bytes apart. */
static const struct e820_entry *entry(unsigned int i)
{
	return (const void *)((uint8_t *)MAP + 24 * i);
}

void guest_main(void)
{
	for (unsigned int round = 0; round < 3; round++) {
		real_mode_run((uint32_t)MAP);
		EXPECT(real_mode_entries >= 3 && real_mode_entries < 32);
		for (unsigned int i = 0; i < real_mode_entries; i++)
			say_same("e820 %llx %llx %u", entry(i)->base, entry(i)->size,
				 entry(i)->type);
		if (under_vellum())
			EXPECT_EQ("signature", real_mode_signature[0], VELLUM_SIGNATURE_EBX);
	}
}
