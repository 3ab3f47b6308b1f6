// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory and strings without a C library. Bulk goes by REP MOVSQ/STOSQ and only
 * the tail by bytes: each iteration counts as an instruction where cost is
 * measured in instructions. Compile this file with -fno-builtin and
 * -fno-tree-loop-distribute-patterns, or a loop here may become a call of the very
 * function it implements.
 */
#include "lib/string.h"

#include <stdint.h>

#define QUAD_SIZE    8
#define BYTE_TO_QUAD 0x0101010101010101ull

static void copy_forward(void *dst, const void *src, size_t size)
{
	size_t quads = size / QUAD_SIZE;
	size_t bytes = size % QUAD_SIZE;

	__asm__ volatile("rep movsq" : "+D"(dst), "+S"(src), "+c"(quads) : : "memory");
	__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}

/* From the last byte down: the tail first, so that the quads below it stay whole. */
static void copy_backward(unsigned char *dst, const unsigned char *src, size_t size)
{
	unsigned char *to = dst + size - 1;
	const unsigned char *from = src + size - 1;
	size_t quads = size / QUAD_SIZE;
	size_t bytes = size % QUAD_SIZE;

	__asm__ volatile("std\n\t"
			 "rep movsb\n\t"
			 "sub %[step], %%rdi\n\t"
			 "sub %[step], %%rsi\n\t"
			 "mov %[quads], %%rcx\n\t"
			 "rep movsq\n\t"
			 "cld"
			 : "+D"(to), "+S"(from), "+c"(bytes)
			 : [step] "i"(QUAD_SIZE - 1), [quads] "r"(quads)
			 : "memory", "cc");
}

void *memcpy(void *restrict dst, const void *restrict src, size_t size)
{
	copy_forward(dst, src, size);
	return dst;
}

void *memmove(void *dst, const void *src, size_t size)
{
	/* Unsigned: also true for every dst below src. Forward is safe then. */
	if ((uintptr_t)dst - (uintptr_t)src >= size)
		copy_forward(dst, src, size);
	else
		copy_backward(dst, src, size);
	return dst;
}

void *memset(void *dst, int byte, size_t size)
{
	void *to = dst;
	uint64_t pattern = (unsigned char)byte * BYTE_TO_QUAD;
	size_t quads = size / QUAD_SIZE;
	size_t bytes = size % QUAD_SIZE;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(quads) : "a"(pattern) : "memory");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(pattern) : "memory");
	return dst;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *left = a;
	const unsigned char *right = b;

	for (size_t i = 0; i < size; i++) {
		if (left[i] != right[i])
			return left[i] - right[i];
	}
	return 0;
}

size_t strlen(const char *s)
{
	return strnlen(s, SIZE_MAX);
}

size_t strnlen(const char *s, size_t limit)
{
	size_t length = 0;

	while (length < limit && s[length] != '\0')
		length++;
	return length;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t limit)
{
	for (size_t i = 0; i < limit; i++) {
		unsigned char left = (unsigned char)a[i];
		unsigned char right = (unsigned char)b[i];

		if (left != right)
			return left - right;
		if (left == '\0')
			return 0;
	}
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (*s == '\0')
			return NULL;
	}
}
