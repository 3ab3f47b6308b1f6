/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_OPTIONS_H
#define VELLUM_CORE_OPTIONS_H

#include "core/cmdline.h"

/* What the user asked for; set once by main.c. */
extern struct options options;

#endif
