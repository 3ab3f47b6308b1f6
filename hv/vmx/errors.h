/* SPDX-License-Identifier: GPL-2.0-only */
/* Why VT-x refused, in words. */
#ifndef VELLUM_VMX_ERRORS_H
#define VELLUM_VMX_ERRORS_H

#include "lib/types.h"

#define VMX_ERROR_RESUME_NOT_LAUNCHED 5 /* SDM volume 3C, table 31-1 */

/* What a VM-instruction error number means: SDM volume 3C, table 31-1. Never NULL. */
const char *vmx_instruction_error_text(uint64_t number);

/*
 * Why an entry failed after the host's state was checked, by the exit's basic reason and
 * qualification: SDM volume 3C, 27.8. Never NULL.
 */
const char *vmx_failed_entry_text(uint32_t reason, uint64_t qualification);

#endif
