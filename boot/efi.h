/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_BOOT_EFI_H
#define VELLUM_BOOT_EFI_H

#include "boot/efi_protocols.h"
#include "core/boot_info.h"

#define BOOT_MAGIC_EFI 0x49464556u /* "VEFI": what efi_entry.asm leaves for boot_read() */

/*
 * The UEFI application, called by efi_entry.asm: finds out all that boot_info wants, loads
 * the guest's files, and ends boot services. EFI_SUCCESS: that is done, and efi_found
 * has it. Else boot services still run, and the console and the firmware's screen
 * say what is wrong.
 */
efi_status_t efi_main(void *image, struct efi_system_table *system);

/* What efi_main() has found out, for boot_read(). */
extern struct boot_info efi_found;

#endif
