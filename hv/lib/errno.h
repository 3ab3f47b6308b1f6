/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors are negative errno values, with Linux's numbers. The place that finds
 * an error prints what is wrong (console.h); its callers only pass it on.
 */
#ifndef VELLUM_LIB_ERRNO_H
#define VELLUM_LIB_ERRNO_H

#define ENOENT	2  /* what was asked for is not there */
#define E2BIG	7  /* does not fit where it has to go */
#define ENOEXEC 8  /* not in the format that was expected */
#define ENOMEM	12 /* no frame, or no place, left */
#define EFAULT	14 /* a guest address that leads nowhere */
#define ENODEV	19 /* the machine lacks it */
#define EINVAL	22 /* a value that the manual or the ABI forbids */
#define ENOSYS	38 /* nothing here answers that call */
#define EPERM	1  /* the caller may not do that */
#define ENOTSUP 95 /* well formed, but not something Vellum does */

#endif
