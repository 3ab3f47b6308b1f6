// SPDX-License-Identifier: GPL-2.0-only
#include "guest/bios_page.h"

#include "debug/console.h"
#include "guest/guest_image.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* BIOS data area and real-mode vectors */
#define VECTOR_AT(number) ((number)*4u)
#define INT_DISK	  0x13
#define INT_SYSTEM	  0x15
#define BASE_MEMORY_AT	  0x413 /* KiB of conventional memory, as INT 12h tells it */
#define BASE_MEMORY_MIN	  64	/* with less no PC has run */

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

bool bios_is_there(const struct boot_info *boot)
{
	uint16_t base_memory;

	memcpy(&base_memory, phys_to_virt(hpa(BASE_MEMORY_AT)), sizeof(base_memory));
	return !boot->efi.is_there && read_vector(INT_DISK) && read_vector(INT_SYSTEM) &&
	       base_memory >= BASE_MEMORY_MIN && base_memory <= LOW_LIMIT / KIB;
}

static uint64_t code_size(void)
{
	return (uint64_t)(bios_page_end - bios_page);
}

/* INT 12h, which hides the page and all above it, counts KiB. */
static uint64_t page_size(void)
{
	return align_up(code_size() + sizeof(struct bios_page_data), KIB);
}

struct bios_page_data *bios_page_data(uint64_t page)
{
	return phys_to_virt(hpa(page + code_size()));
}

/* The highest place that the modules leave. */
static int find_page(const struct boot_info *boot, const struct e820_map *map, uint64_t *page)
{
	static struct e820_map free;
	int error = 0;

	free = *map;
	for (unsigned int i = 0; i < boot->module_count && !error; i++)
		error = e820_set_type(&free, boot->module[i].start.raw, boot->module[i].size,
				      E820_RESERVED);
	*page = error ? 0 : e820_find_top(&free, page_size(), KIB, LOW_FLOOR, LOW_LIMIT);
	return *page ? 0 : -E2BIG;
}

static void fill_memory(struct bios_page_data *data, const struct e820_map *map)
{
	uint64_t extended = e820_ram_from(map, MIB);
	uint64_t above = e820_ram_from(map, MIB + BELOW_16M_MAX);

	data->extended_kib = (uint16_t)min_u64(extended / KIB, EXTENDED_MAX_KIB);
	data->below_16m_kib = (uint16_t)(min_u64(extended, BELOW_16M_MAX) / KIB);
	data->above_16m_64k = (uint16_t)min_u64(above / UNIT_64K, UINT16_MAX);
	data->range_count = (uint16_t)map->count;
	memcpy(data->range, map->entry, map->count * sizeof(map->entry[0]));
}

static void fill_gdt(struct bios_page_data *data, uint64_t page)
{
	data->gdt[BIOS_PAGE_CODE32 / sizeof(uint64_t)] = GDT_FLAT_CODE;
	data->gdt[BIOS_PAGE_DATA32 / sizeof(uint64_t)] = GDT_FLAT_DATA;
	data->gdt[BIOS_PAGE_CODE16 / sizeof(uint64_t)] = GDT_REAL_CODE | GDT_BASE(page);
	data->gdt[BIOS_PAGE_DATA16 / sizeof(uint64_t)] = GDT_REAL_DATA;
}

/* The guest's BIOS calls go through the page from here on. */
static void hook(uint64_t page)
{
	uint32_t vector = (uint32_t)(page >> 4) << 16 | bios_int15_offset;
	uint16_t base_memory = (uint16_t)(page / KIB);

	memcpy(phys_to_virt(hpa(VECTOR_AT(INT_SYSTEM))), &vector, sizeof(vector));
	memcpy(phys_to_virt(hpa(BASE_MEMORY_AT)), &base_memory, sizeof(base_memory));
}

static void fill_page(uint64_t page, const struct e820_map *map)
{
	struct bios_page_data *data = bios_page_data(page);

	memcpy(phys_to_virt(hpa(page)), bios_page, code_size());
	memset(data, 0, sizeof(*data));
	fill_gdt(data, page);
	fill_memory(data, map);
	data->bios_int15 = read_vector(INT_SYSTEM);
}

int bios_page_install(const struct boot_info *boot, struct e820_map *map, uint64_t *page)
{
	int error = find_page(boot, map, page);

	if (!error)
		error = e820_set_type(map, *page, page_size(), E820_RESERVED);
	if (error) {
		pr_error("guest: no room for %llu bytes between %#x and %#llx, which answer the "
			 "guest's BIOS calls for the memory map",
			 (unsigned long long)page_size(), LOW_FLOOR, (unsigned long long)LOW_LIMIT);
		return -E2BIG;
	}
	fill_page(*page, map);
	hook(*page);
	return 0;
}
