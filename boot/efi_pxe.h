/* SPDX-License-Identifier: GPL-2.0-only */
/* Files by TFTP, where the firmware's own PXE has loaded Vellum. */
#ifndef VELLUM_BOOT_EFI_PXE_H
#define VELLUM_BOOT_EFI_PXE_H

#include "boot/efi_files.h"

/*
 * If the device is a network card with PXE's answers: notes it, the server's address and
 * the folder of the boot file.
 */
void efi_pxe_open(struct efi_source *source, void *device);

/* As efi_source_read(), the path as the server knows it. */
int efi_pxe_read(const struct efi_source *source, const char *path, struct boot_module *module);

#endif
