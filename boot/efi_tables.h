/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UEFI's structures, as far as Vellum reads them, after the UEFI specification 2.10. The
 * same whether boot services still run or not.
 */
#ifndef VELLUM_BOOT_EFI_TABLES_H
#define VELLUM_BOOT_EFI_TABLES_H

#include "core/boot_info.h"
#include "lib/types.h"

struct efi_guid {
	uint32_t a;
	uint16_t b, c;
	uint8_t d[8];
};

bool efi_guid_equals(const struct efi_guid *a, const struct efi_guid *b);

#define EFI_SYSTEM_TABLE_SIGNATURE 0x5453595320494249ull /* "IBI SYST" */

struct efi_table_header {
	uint64_t signature;
	uint32_t revision;
	uint32_t header_size;
	uint32_t crc32;
	uint32_t reserved;
};

/* 4.6 */
struct efi_configuration_table {
	struct efi_guid guid;
	uint64_t table; /* physical address */
};

struct efi_simple_text_output;
struct efi_runtime_services;
struct efi_boot_services;

/* 4.3 */
struct efi_system_table {
	struct efi_table_header header;
	const uint16_t *firmware_vendor;
	uint32_t firmware_revision;
	void *console_in_handle;
	void *console_in;
	void *console_out_handle;
	struct efi_simple_text_output *console_out;
	void *error_handle;
	void *error;
	struct efi_runtime_services *runtime;
	struct efi_boot_services *boot;
	uint64_t table_count;
	const struct efi_configuration_table *tables;
};

_Static_assert(offsetof(struct efi_system_table, boot) == 96, "UEFI 2.10, 4.3");

/* 7.2.1 and 7.2.3 */
enum efi_memory_type {
	EFI_RESERVED_MEMORY = 0,
	EFI_LOADER_CODE = 1,
	EFI_LOADER_DATA = 2,
	EFI_BOOT_SERVICES_CODE = 3,
	EFI_BOOT_SERVICES_DATA = 4,
	EFI_RUNTIME_CODE = 5,
	EFI_CONVENTIONAL_MEMORY = 7,
	EFI_UNUSABLE_MEMORY = 8,
	EFI_ACPI_RECLAIM_MEMORY = 9,
	EFI_ACPI_MEMORY_NVS = 10,
};

#define EFI_PAGE_SIZE 4096

struct efi_memory_descriptor {
	uint32_t type;
	uint32_t padding;
	uint64_t physical_start;
	uint64_t virtual_start;
	uint64_t pages;
	uint64_t attributes;
};

/* ACPI's root pointer, the newer revision's if there are two; hpa(0): there is none. */
hpa_t efi_rsdp_in(const struct efi_configuration_table *tables, uint64_t count);

/*
 * The same, from the physical address of a system table, after boot services have ended.
 * hpa(0) also for anything that is no system table, or lies out of physical memory.
 */
hpa_t efi_find_rsdp(uint64_t system_table);

/*
 * Copies the memory map of size bytes, descriptors of stride bytes each, into a place of
 * Vellum's own, which there is once. A map that is none, or too large for it, is left
 * out with a warning: the guest then starts as on a machine without UEFI.
 */
void efi_keep_map(struct boot_efi *efi, const void *map, uint64_t size, uint64_t stride,
		  uint32_t version);

#endif
