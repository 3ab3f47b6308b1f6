/* SPDX-License-Identifier: GPL-2.0-only */
/* hv/lib/string.h for a 32-bit guest, as far as guests and printf need it. */
#include "lib/string.h"

#include "lib/types.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t size)
{
	void *to = dst;

	asm volatile("rep movsb" : "+D"(to), "+S"(src), "+c"(size)::"memory");
	return dst;
}

void *memset(void *dst, int value, size_t size)
{
	void *to = dst;

	asm volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
	return dst;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const uint8_t *left = a, *right = b;

	for (; size; size--, left++, right++)
		if (*left != *right)
			return *left < *right ? -1 : 1;
	return 0;
}

size_t strlen(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

size_t strnlen(const char *text, size_t limit)
{
	size_t length = 0;

	while (length < limit && text[length])
		length++;
	return length;
}

int strncmp(const char *a, const char *b, size_t limit)
{
	size_t length = strnlen(a, limit);

	return memcmp(a, b, length < limit ? length + 1 : limit);
}
