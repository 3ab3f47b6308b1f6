/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest kernel's own names, by the System.map that came as a module. Without one nothing
 * is found. Addresses are those of the map: a guest that moves itself (KASLR) needs nokaslr.
 */
#ifndef VELLUM_DEBUG_GUEST_SYMBOLS_H
#define VELLUM_DEBUG_GUEST_SYMBOLS_H

#include "core/boot_info.h"
#include "lib/types.h"
#include "lib/words.h"

/*
 * Takes the first module whose file's name begins with "System.map" out of boot's, and keeps
 * a copy of what is in it. One that can't be used is named on the console, and dropped.
 */
void guest_symbols_take(struct boot_info *boot);

/*
 * The function that holds address, and in *offset how far into it; length 0 if the map has
 * none there.
 */
struct word guest_symbol_at(uint64_t address, uint64_t *offset);

/* "  start_kernel+12", as text behind an address; "" if it has no name. */
#define GUEST_SYMBOL_TEXT_SIZE 96
const char *guest_symbol_text(uint64_t address, char text[GUEST_SYMBOL_TEXT_SIZE]);

/* The same for a return address: by the call before it. */
const char *guest_symbol_caller(uint64_t address, char text[GUEST_SYMBOL_TEXT_SIZE]);

/* False if the map has no symbol of this name, of code or data. */
bool guest_symbol_find(struct word name, uint64_t *address);

/* The number-th name (from 0) that begins with prefix; length 0 behind the last. */
struct word guest_symbol_match(struct word prefix, unsigned int number);

#endif
