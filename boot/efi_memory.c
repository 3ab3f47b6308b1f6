// SPDX-License-Identifier: GPL-2.0-only
#include "boot/efi_memory.h"

#include "boot/loader_data.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"

#define WHO	     "uefi"
#define EXIT_TRIES   4
#define MORE_ENTRIES 16 /* that allocating the map, and events while it is read, may add */
#define LAST_ADDRESS (4 * GIB - 1)

#define MAX_ALLOCATIONS (BOOT_MAX_MODULES + 1) /* and vellum.cfg */

/* UEFI 2.10, table 7.10: what is the system's after ExitBootServices(). */
static enum e820_type type_after_boot(uint32_t type)
{
	switch (type) {
	case EFI_LOADER_CODE:
	case EFI_LOADER_DATA:
	case EFI_BOOT_SERVICES_CODE:
	case EFI_BOOT_SERVICES_DATA:
	case EFI_CONVENTIONAL_MEMORY:
		return E820_RAM;
	case EFI_UNUSABLE_MEMORY:
		return E820_UNUSABLE;
	case EFI_ACPI_RECLAIM_MEMORY:
		return E820_ACPI;
	case EFI_ACPI_MEMORY_NVS:
		return E820_NVS;
	}
	return E820_RESERVED;
}

int efi_memory_to_e820(const void *descriptors, uint64_t size, uint64_t stride,
		       struct e820_map *map)
{
	struct efi_memory_descriptor descriptor;
	int error = 0;

	memset(map, 0, sizeof(*map));
	if (stride < sizeof(descriptor)) {
		pr_error("uefi: the memory map's descriptors have %llu bytes, at least %zu needed",
			 (unsigned long long)stride, sizeof(descriptor));
		return -EINVAL;
	}
	for (uint64_t at = 0; !error && size - at >= stride; at += stride) {
		memcpy(&descriptor, (const uint8_t *)descriptors + at, sizeof(descriptor));
		if (descriptor.pages > UINT64_MAX / EFI_PAGE_SIZE)
			descriptor.pages = UINT64_MAX / EFI_PAGE_SIZE;
		error = loader_add_range(map, descriptor.physical_start,
					 descriptor.pages * EFI_PAGE_SIZE,
					 type_after_boot(descriptor.type), WHO);
	}
	return error ? error : loader_finish_map(map, WHO);
}

static struct {
	uint64_t address, pages;
} allocations[MAX_ALLOCATIONS];
static unsigned int allocation_count;

int efi_allocate(const struct efi_boot_services *services, uint64_t size, const char *what,
		 uint64_t *address)
{
	uint64_t pages = max_u64((size + EFI_PAGE_SIZE - 1) / EFI_PAGE_SIZE, 1);

	*address = LAST_ADDRESS;
	if (allocation_count < MAX_ALLOCATIONS &&
	    services->allocate_pages(EFI_ALLOCATE_MAX_ADDRESS, EFI_LOADER_DATA, pages, address) ==
		    EFI_SUCCESS) {
		allocations[allocation_count].address = *address;
		allocations[allocation_count++].pages = pages;
		return 0;
	}
	pr_error("uefi: no %llu KiB of memory free in one piece below 4 GiB for %s",
		 (unsigned long long)(pages * EFI_PAGE_SIZE / KIB), what);
	return -ENOMEM;
}

void efi_free_all(const struct efi_boot_services *services)
{
	while (allocation_count > 0) {
		allocation_count--;
		services->free_pages(allocations[allocation_count].address,
				     allocations[allocation_count].pages);
	}
}

/* A buffer that has room for the map and what its own allocation adds. -ENOMEM. */
static int allocate_map(const struct efi_boot_services *services, void **buffer, uint64_t *size)
{
	uint64_t key, stride = sizeof(struct efi_memory_descriptor);
	uint32_t version;

	*size = 0;
	services->get_memory_map(size, NULL, &key, &stride, &version);
	*size += MORE_ENTRIES * stride;
	if (services->allocate_pool(EFI_LOADER_DATA, *size, buffer) == EFI_SUCCESS)
		return 0;
	pr_error("uefi: no %llu bytes of memory free for the memory map",
		 (unsigned long long)*size);
	return -ENOMEM;
}

/*
 * An event between the two calls makes the map's key old; then both are called again
 * (UEFI 2.10, 7.4.6), and nothing else may be.
 */
int efi_exit_boot_services(const struct efi_boot_services *services, void *image,
			   struct boot_info *boot)
{
	efi_status_t status = EFI_INVALID_PARAMETER;
	uint64_t room, size, key, stride;
	uint32_t version;
	void *buffer;

	if (allocate_map(services, &buffer, &room))
		return -ENOMEM;
	for (int i = 0; i < EXIT_TRIES && status == EFI_INVALID_PARAMETER; i++) {
		size = room;
		status = services->get_memory_map(&size, buffer, &key, &stride, &version);
		if (status == EFI_SUCCESS)
			status = services->exit_boot_services(image, key);
	}
	if (status == EFI_SUCCESS) {
		efi_keep_map(&boot->efi, buffer, size, stride, version);
		return efi_memory_to_e820(buffer, size, stride, &boot->memory);
	}
	services->free_pool(buffer);
	pr_error("uefi: the firmware does not end its boot services (status %#llx); reset the "
		 "machine, and try another boot loader, such as GRUB",
		 (unsigned long long)status);
	return -EINVAL;
}
