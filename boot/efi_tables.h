/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UEFI's structures, as far as Vellum reads them, after the UEFI specification 2.10. The
 * same whether boot services still run or not.
 */
#ifndef VELLUM_BOOT_EFI_TABLES_H
#define VELLUM_BOOT_EFI_TABLES_H

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

/* ACPI's root pointer, the newer revision's if there are two; hpa(0): there is none. */
hpa_t efi_rsdp_in(const struct efi_configuration_table *tables, uint64_t count);

/*
 * The same, from the physical address of a system table, after boot services have ended.
 * hpa(0) also for anything that is no system table, or lies out of physical memory.
 */
hpa_t efi_find_rsdp(uint64_t system_table);

#endif
