/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library's memory and string functions that Vellum uses, same contracts. */
#ifndef VELLUM_LIB_STRING_H
#define VELLUM_LIB_STRING_H

#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t size);
void *memmove(void *dst, const void *src, size_t size);
void *memset(void *dst, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t limit);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t limit);
char *strchr(const char *s, int c);

/*
 * Copies src, cut to what fits, and always ends dst with a NUL. size is dst's
 * size in bytes, at least 1. Returns strlen(src): a value >= size means cut.
 */
size_t string_copy(char *dst, const char *src, size_t size);

#endif
