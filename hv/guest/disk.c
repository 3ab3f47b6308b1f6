// SPDX-License-Identifier: GPL-2.0-only
#include "guest/disk.h"

#include "debug/console.h"
#include "guest/disk_page.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* BIOS data area and real-mode vectors */
#define VECTOR_AT(number) ((number)*4u)
#define INT_DISK	  0x13
#define INT_SYSTEM	  0x15
#define BASE_MEMORY_AT	  0x413 /* KiB of conventional memory, as INT 12h tells it */

#define LOW_FLOOR 0x8000 /* boot sector, stack and what they load next lie below */
#define LOW_LIMIT (640 * KIB)

/* Present, ring 0, byte granular, 16 bits, accessed; the base comes in between */
#define GDT_REAL_CODE  0x00009b000000ffffull
#define GDT_REAL_DATA  0x000093000000ffffull
#define GDT_BASE(base) ((uint64_t)(base) << 16)

#define EXTENDED_MAX_KIB 0xfc00 /* 63 MiB, so that 16 bits with the first MiB do */
#define BELOW_16M_MAX	 (15 * MIB)
#define UNIT_64K	 (64 * KIB)

static uint32_t read_vector(unsigned int number)
{
	uint32_t vector;

	memcpy(&vector, phys_to_virt(hpa(VECTOR_AT(number))), sizeof(vector));
	return vector;
}

static int check_bios(void)
{
	if (read_vector(INT_DISK) && read_vector(INT_SYSTEM))
		return 0;
	pr_error("guest=disk needs a BIOS to read the disk (INT %xh), and this machine has none: "
		 "give a kernel as module, or start the disk by its own boot loader",
		 INT_DISK);
	return -ENODEV;
}

/* Above all else in conventional memory, so that INT 12h, which counts KiB, can hide it. */
static int find_page(const struct e820_map *map, uint64_t size, uint64_t *page)
{
	*page = e820_find_top(map, size, KIB, LOW_FLOOR, LOW_LIMIT);
	if (*page)
		return 0;
	pr_error("guest=disk: no %llu bytes of RAM free between %#x and %#lx",
		 (unsigned long long)size, LOW_FLOOR, LOW_LIMIT);
	return -E2BIG;
}

static void fill_memory(struct disk_data *data, const struct e820_map *map)
{
	uint64_t extended = e820_ram_from(map, MIB);
	uint64_t above = e820_ram_from(map, MIB + BELOW_16M_MAX);

	data->extended_kib = (uint16_t)min_u64(extended / KIB, EXTENDED_MAX_KIB);
	data->below_16m_kib = (uint16_t)(min_u64(extended, BELOW_16M_MAX) / KIB);
	data->above_16m_64k = (uint16_t)min_u64(above / UNIT_64K, UINT16_MAX);
	data->range_count = (uint16_t)map->count;
	memcpy(data->range, map->entry, map->count * sizeof(map->entry[0]));
}

static void fill_gdt(struct disk_data *data, uint64_t page)
{
	data->gdt[DISK_CODE32 / sizeof(uint64_t)] = GDT_FLAT_CODE;
	data->gdt[DISK_DATA32 / sizeof(uint64_t)] = GDT_FLAT_DATA;
	data->gdt[DISK_CODE16 / sizeof(uint64_t)] = GDT_REAL_CODE | GDT_BASE(page);
	data->gdt[DISK_DATA16 / sizeof(uint64_t)] = GDT_REAL_DATA;
}

/* The guest's BIOS calls go through the page from here on. */
static void hook(uint64_t page)
{
	uint32_t vector = (uint32_t)(page >> 4) << 16 | disk_int15_offset;
	uint16_t base_memory = (uint16_t)(page / KIB);

	memcpy(phys_to_virt(hpa(VECTOR_AT(INT_SYSTEM))), &vector, sizeof(vector));
	memcpy(phys_to_virt(hpa(BASE_MEMORY_AT)), &base_memory, sizeof(base_memory));
}

static void fill_page(uint64_t page, const struct e820_map *map, unsigned int drive)
{
	uint64_t code_size = (uint64_t)(disk_entry_end - disk_entry);
	struct disk_data *data = phys_to_virt(hpa(page + code_size));

	memcpy(phys_to_virt(hpa(page)), disk_entry, code_size);
	memset(data, 0, sizeof(*data));
	fill_gdt(data, page);
	fill_memory(data, map);
	data->bios_int15 = read_vector(INT_SYSTEM);
	data->drive = (uint8_t)drive;
}

int disk_load(const struct e820_map *guest_map, unsigned int drive, struct guest_entry *entry)
{
	static struct e820_map map;
	uint64_t code_size = (uint64_t)(disk_entry_end - disk_entry);
	uint64_t size = align_up(code_size + sizeof(struct disk_data), KIB);
	uint64_t page;
	int error = check_bios();

	map = *guest_map;
	if (!error)
		error = find_page(&map, size, &page);
	if (error)
		return error;
	if (e820_set_type(&map, page, size, E820_RESERVED)) {
		pr_error("guest=disk: memory is in too many pieces: more than %d",
			 E820_MAX_ENTRIES);
		return -E2BIG;
	}
	fill_page(page, &map, drive);
	hook(page);
	*entry = (struct guest_entry){
		.eip = (uint32_t)page,
		.esi = (uint32_t)page,
		.gdt_base = (uint32_t)(page + code_size + offsetof(struct disk_data, gdt)),
		.gdt_limit = sizeof(((struct disk_data *)0)->gdt) - 1,
		.code_selector = DISK_CODE32,
		.data_selector = DISK_DATA32,
	};
	pr_info("disk %xh, by the BIOS; its calls for the memory map answered at %llx", drive,
		(unsigned long long)page);
	return 0;
}
