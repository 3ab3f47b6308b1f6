/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernels by the two Multiboot specifications: "Multiboot 0.6.96" and "Multiboot2 2.0",
 * as headers in the files, checked and put so that placing needs neither of them.
 */
#ifndef VELLUM_GUEST_MULTIBOOT_KERNEL_H
#define VELLUM_GUEST_MULTIBOOT_KERNEL_H

#include "core/boot_info.h"
#include "guest/elf_image.h"
#include "lib/types.h"
#include "lib/words.h"

/* Where a kernel that can't run at its linked address may go instead. */
struct multiboot_relocation {
	bool allowed;
	bool highest;		/* the highest place that is free, else the lowest */
	uint64_t lowest, limit; /* first address, first byte that is not allowed */
	uint64_t align;		/* a power of two */
};

struct multiboot_kernel {
	struct word name;	/* the file's, for messages */
	unsigned int version;	/* of the specification: 1 or 2 */
	struct elf_image image; /* of an a.out kludge too: one segment, no sections */
	struct multiboot_relocation relocation;
};

/* True if the module has a header of this version with a right checksum. */
bool multiboot_kernel_found(const struct boot_module *module, unsigned int version);

/*
 * Checks the module, which has a header of this version, and fills kernel. -ENOEXEC if
 * it asks for what Vellum can't do, or isn't whole; the console then says which file,
 * what was found and what was needed.
 */
int multiboot_kernel_read(const struct boot_module *module, struct word name, unsigned int version,
			  struct multiboot_kernel *kernel);

#endif
