/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_LAUNCH_H
#define VELLUM_CORE_LAUNCH_H

#include "guest/guest_image.h"
#include "lib/types.h"

/* Starts the guest under Vellum. Returns a negative errno value if it can't be set up. */
int launch_guest(const struct guest_entry *entry);

/*
 * Leaves long mode and jumps to entry: the machine is the guest's, as if a boot loader
 * had started it. Returns a negative errno value if it can't.
 */
int launch_native(const struct guest_entry *entry);

#endif
