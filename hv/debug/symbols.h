/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_DEBUG_SYMBOLS_H
#define VELLUM_DEBUG_SYMBOLS_H

#include "lib/types.h"

/*
 * Name of the function of Vellum's own text that holds address, and in *offset how far
 * into it; NULL if there is none. Works at any time, allocates nothing.
 */
const char *symbol_find(uint64_t address, uint64_t *offset);

#endif
