/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/symbols.h"

/*
 * The table that hv/debug/symbols.awk makes of the first link's nm: sorted by offset
 * from image_start, ended by the text's end.
 */
struct symbol {
	uint32_t offset; /* from image_start */
	uint32_t name;	 /* from symbol_names */
};

extern const struct symbol symbol_table[], symbol_table_end[];
extern const char symbol_names[];
extern const char image_start[], image_text_end[];

const char *symbol_find(uint64_t address, uint64_t *offset)
{
	const struct symbol *found = NULL;

	if (address < (uintptr_t)image_start || address >= (uintptr_t)image_text_end)
		return NULL;
	for (const struct symbol *s = symbol_table; s < symbol_table_end; s++) {
		if (s->offset > address - (uintptr_t)image_start)
			break;
		found = s;
	}
	if (!found)
		return NULL;
	*offset = address - (uintptr_t)image_start - found->offset;
	return symbol_names + found->name;
}
