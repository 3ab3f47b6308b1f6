// SPDX-License-Identifier: GPL-2.0-only
#include "boot/efi_tables.h"

#include "boot/loader_data.h"
#include "debug/console.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* Firmware has some 100 descriptors of 48 bytes, and servers some hundreds. */
#define MAP_SIZE_MAX (32 * KIB)

/* UEFI 2.10, 4.6.1 */
static const struct efi_guid acpi_20_guid = {
	0x8868e871, 0xe4f1, 0x11d3, {0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81}};
static const struct efi_guid acpi_10_guid = {
	0xeb9d2d30, 0x2d88, 0x11d3, {0x9a, 0x16, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d}};

bool efi_guid_equals(const struct efi_guid *a, const struct efi_guid *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

hpa_t efi_rsdp_in(const struct efi_configuration_table *tables, uint64_t count)
{
	hpa_t rsdp = hpa(0);

	for (uint64_t i = 0; i < count; i++) {
		if (efi_guid_equals(&tables[i].guid, &acpi_20_guid))
			return hpa(tables[i].table);
		if (efi_guid_equals(&tables[i].guid, &acpi_10_guid))
			rsdp = hpa(tables[i].table);
	}
	return rsdp;
}

hpa_t efi_find_rsdp(uint64_t system_table)
{
	struct efi_system_table system;
	uint64_t tables;

	if (loader_read(&system, system_table, sizeof(system)) ||
	    system.header.signature != EFI_SYSTEM_TABLE_SIGNATURE)
		return hpa(0);
	tables = (uintptr_t)system.tables;
	if (tables > physmap_limit ||
	    system.table_count > (physmap_limit - tables) / sizeof(*system.tables))
		return hpa(0);
	return efi_rsdp_in(phys_to_virt(hpa(tables)), system.table_count);
}

void efi_keep_map(struct boot_efi *efi, const void *map, uint64_t size, uint64_t stride,
		  uint32_t version)
{
	static uint8_t kept[MAP_SIZE_MAX] __attribute__((aligned(8)));

	if (size == 0 || size > sizeof(kept) || stride < sizeof(struct efi_memory_descriptor)) {
		pr_warn("uefi: the memory map of %llu bytes, %llu a descriptor, can't be kept (at "
			"most %zu): the guest is told nothing of UEFI",
			(unsigned long long)size, (unsigned long long)stride, sizeof(kept));
		return;
	}
	memcpy(kept, map, size);
	efi->map = kept;
	efi->map_size = (uint32_t)size;
	efi->map_stride = (uint32_t)stride;
	efi->map_version = version;
}
