// SPDX-License-Identifier: GPL-2.0-only
#include "bzimage.h"

#include "support.h"

#include <string.h>

uint8_t bzimage_byte(uint64_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

static void fill_header(struct linux_setup_header *header, uint64_t kernel_size)
{
	uint8_t *end = (uint8_t *)header + offsetof(struct linux_setup_header, later);

	*header = (struct linux_setup_header){
		.setup_sects = BZIMAGE_SETUP_SECTS,
		.syssize =
			(uint32_t)((kernel_size + LINUX_PARAGRAPH_SIZE - 1) / LINUX_PARAGRAPH_SIZE),
		.boot_flag = LINUX_BOOT_FLAG,
		.jump = {0xeb, LINUX_HEADER_AT(later) - LINUX_HEADER_JUMP_END},
		.header = LINUX_HEADER_MAGIC,
		.version = LINUX_PROTOCOL(2, 15),
		.loadflags = LINUX_LOADED_HIGH,
		.code32_start = LINUX_HIGH_ADDRESS,
		.initrd_addr_max = LINUX_OLD_INITRD_MAX,
		.kernel_alignment = 2 * MIB,
		.relocatable_kernel = 1,
		.cmdline_size = 2047,
		.pref_address = 16 * MIB,
		.init_size = 8 * MIB,
	};
	/* Code follows the header in real images: what a loader must not take for fields */
	memset(end, 0xcc, sizeof(header->later));
}

struct linux_setup_header *bzimage_create(uint64_t address, uint64_t kernel_size,
					  struct boot_module *module)
{
	uint8_t *file = arena_at(address);
	struct linux_setup_header *header = arena_at(address + LINUX_HEADER_OFFSET);

	memset(file, 0xcc, BZIMAGE_SETUP_SIZE);
	fill_header(header, kernel_size);
	for (uint64_t i = 0; i < kernel_size; i++)
		file[BZIMAGE_SETUP_SIZE + i] = bzimage_byte(i);
	module->start = hpa(address);
	module->size = BZIMAGE_SETUP_SIZE + kernel_size;
	return header;
}
