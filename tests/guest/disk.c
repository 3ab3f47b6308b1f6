/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a boot sector entered in another way than a BIOS does, a disk that can't be read by
 * INT 13h, and BIOS calls (INT 12h; INT 15h E820h, E801h, 88h) that name Vellum's memory.
 * Manual: BIOS Boot Specification 1.01, 6.5.1 (DL and the rest at 7C00h); ACPI 6.4, 15.1.
 * Vendors: VT-x needs unrestricted guest.
 * Cannot tell apart: a BIOS's answer from Vellum's where both are the same.
 */
#include "guest.h"

#include "mm/image.h"

const char guest_name[] = "disk";

#define BOOT_SECTOR   0x7c00
#define CARRY_SET     0xff
#define EFLAGS_IF     BIT(9)
#define EXTENDED_MAX  0xfc00
#define BELOW_16M_MAX (15 * MIB)

/* As disk_image.asm leaves them. */
struct boot_facts {
	uint16_t dx, sp, ds, es, ss, cs, flags;
	uint16_t int12;
	uint16_t e801_ax, e801_bx, e801_cx, e801_dx;
	uint16_t int15_88;
	uint8_t e881_carry, e881_ah;
};

#define FACTS ((const struct boot_facts *)0x8000)

static void check_entry(void)
{
	EXPECT_EQ("drive", FACTS->dx & 0xff, 0x80);
	EXPECT_EQ("SS:SP", (uint32_t)(FACTS->ss << 4) + FACTS->sp, BOOT_SECTOR);
	EXPECT_EQ("CS", FACTS->cs, 0);
	EXPECT(FACTS->flags & EFLAGS_IF);
	say_same("dx %x ds %x es %x flags %x", FACTS->dx, FACTS->ds, FACTS->es, FACTS->flags);
}

/* Bytes of RAM from base to the first hole, by E820h. */
static uint64_t ram_from(uint64_t base)
{
	for (unsigned int i = 0; i < boot_params()->e820_entries; i++) {
		struct e820_entry entry = boot_params()->e820_table[i];

		if (entry.type == E820_RAM && entry.base <= base && base < entry.base + entry.size)
			return entry.base + entry.size - base;
	}
	return 0;
}

static void check_map(void)
{
	struct e820_entry kept = kept_memory();

	EXPECT(kept.size >= IMAGE_KEEP_SIZE);
	for (unsigned int i = 0; i < boot_params()->e820_entries; i++) {
		struct e820_entry entry = boot_params()->e820_table[i];

		say_same("e820 %llx %llx %u", entry.base, entry.size, entry.type);
		EXPECT(entry.type != E820_RAM || entry.base >= kept.base + kept.size ||
		       entry.base + entry.size <= kept.base);
	}
}

static void check_sizes(void)
{
	uint64_t extended = ram_from(MIB);

	EXPECT_EQ("88h", FACTS->int15_88, min_u64(extended / KIB, EXTENDED_MAX));
	EXPECT_EQ("E801h AX", FACTS->e801_ax, min_u64(extended, BELOW_16M_MAX) / KIB);
	EXPECT_EQ("E801h BX", FACTS->e801_bx, ram_from(MIB + BELOW_16M_MAX) / (64 * KIB));
	EXPECT_EQ("E801h CX", FACTS->e801_cx, FACTS->e801_ax);
	EXPECT_EQ("E801h DX", FACTS->e801_dx, FACTS->e801_bx);
	EXPECT_EQ("E881h carry", FACTS->e881_carry, CARRY_SET);
	EXPECT_EQ("E881h AH", FACTS->e881_ah, 0x86);
	EXPECT(FACTS->int12 * KIB == ram_from(0));
	say_same("int12 %x", FACTS->int12);
}

void guest_main(void)
{
	check_entry();
	check_map();
	check_sizes();
}
