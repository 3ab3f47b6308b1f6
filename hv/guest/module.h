/* SPDX-License-Identifier: GPL-2.0-only */
/* A boot loader's module as a file: its name and its bytes. */
#ifndef VELLUM_GUEST_MODULE_H
#define VELLUM_GUEST_MODULE_H

#include "core/boot_info.h"
#include "lib/types.h"
#include "lib/words.h"

/* Copies from the module. False, and dst untouched, if that is not all in it. */
bool module_read(const struct boot_module *module, uint64_t offset, void *dst, size_t size);

/* The first word of its string, for messages; "(unnamed)" if there is none. */
struct word module_file_name(const struct boot_module *module);

#endif
