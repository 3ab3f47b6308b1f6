/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * printf for a machine without a C library: %d %i %u %x %X %p %s %c %%, the
 * flags '-' and '0' and '#', width and precision (also '*'), lengths hh h l ll z.
 */
#ifndef VELLUM_LIB_PRINTF_H
#define VELLUM_LIB_PRINTF_H

#include <stdarg.h>
#include <stddef.h>

/*
 * As C's vsnprintf: writes at most size bytes including the NUL, returns the
 * length that the whole text has.
 */
int text_vformat(char *text, size_t size, const char *format, va_list args);

__attribute__((format(printf, 3, 4))) int text_format(char *text, size_t size, const char *format,
						      ...);

#endif
