/* SPDX-License-Identifier: GPL-2.0-only */
/* What a bzImage's header says, checked, and put so that placing it needs no protocol. */
#ifndef VELLUM_GUEST_LINUX_IMAGE_H
#define VELLUM_GUEST_LINUX_IMAGE_H

#include "core/boot_info.h"
#include "guest/linux_boot.h"
#include "lib/types.h"
#include "lib/words.h"

/*
 * 2.04 is the oldest protocol with a 4-byte syssize, without which a truncated file
 * can't be told from a whole one. Linux has had it since 2.6.14.
 */
#define LINUX_OLDEST_PROTOCOL LINUX_PROTOCOL(2, 4)

struct linux_image {
	struct word name;	   /* the file's, for messages */
	hpa_t kernel;		   /* where the 32-bit part lies now */
	uint64_t kernel_size;	   /* bytes of it */
	bool relocatable;	   /* runs at any multiple of alignment from preferred on */
	uint64_t alignment;	   /* a power of two */
	uint64_t preferred;	   /* where it runs if nothing is in the way */
	uint64_t run_size;	   /* bytes it writes from there before it reads its memory map */
	bool run_size_known;	   /* the image said it (2.10), it is no estimate */
	uint64_t initrd_limit;	   /* first address above what the initrd may take */
	uint64_t command_line_max; /* characters without the NUL */
	struct linux_setup_header header; /* as in the file; fields behind its end are 0 */
};

/*
 * Checks the module and fills image. -ENOEXEC if it can't be entered by the 32-bit
 * boot protocol, or isn't whole; the console then says which file, what was found
 * and what was needed.
 */
int linux_image_read(const struct boot_module *module, struct word name, struct linux_image *image);

#endif
