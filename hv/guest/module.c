// SPDX-License-Identifier: GPL-2.0-only
#include "guest/module.h"

#include "lib/string.h"
#include "mm/physmap.h"

static const struct word unnamed = {"(unnamed)", sizeof("(unnamed)") - 1};

bool module_read(const struct boot_module *module, uint64_t offset, void *dst, size_t size)
{
	if (offset > module->size || size > module->size - offset)
		return false;
	memcpy(dst, phys_to_virt(hpa(module->start.raw + offset)), size);
	return true;
}

struct word module_file_name(const struct boot_module *module)
{
	const char *string = module->string;
	struct word name = word_file_name(&string);

	return name.length > 0 ? name : unnamed;
}
