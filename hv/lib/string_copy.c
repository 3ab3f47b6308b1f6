// SPDX-License-Identifier: GPL-2.0-only
/* Apart from string.c, because the unit tests take that one's functions from libc. */
#include "lib/string.h"

size_t string_copy(char *dst, const char *src, size_t size)
{
	size_t length = strlen(src);
	size_t kept = length < size ? length : size - 1;

	memcpy(dst, src, kept);
	dst[kept] = '\0';
	return length;
}
