/* SPDX-License-Identifier: GPL-2.0-only */
/* Files from where UEFI has loaded Vellum: a file system, or a TFTP server. */
#ifndef VELLUM_BOOT_EFI_FILES_H
#define VELLUM_BOOT_EFI_FILES_H

#include "boot/efi_protocols.h"
#include "core/boot_info.h"

#define EFI_FOLDER_SIZE 256

struct efi_source {
	const struct efi_boot_services *services;
	struct efi_file *root;	       /* of the file system; NULL: there is none */
	struct efi_pxe_base_code *pxe; /* NULL: not started by the firmware's PXE */
	struct efi_ip_address server;  /* of pxe */
	char folder[EFI_FOLDER_SIZE];  /* the image's, with a separator at its end, or "" */
};

/* Finds out what image was loaded from. Without either source, reading finds nothing. */
void efi_source_open(struct efi_source *source, const struct efi_boot_services *services,
		     const struct efi_loaded_image *image);

/* "10.0.2.2 by TFTP", for messages */
void efi_source_describe(const struct efi_source *source, char *text, size_t size);

/*
 * Reads a whole file into pages of its own below 4 GiB. A name without path, and one with a
 * URL's, is looked for beside the image, then at the root.
 *
 * -ENOENT, without a message, if it is not there; -EINVAL if it can't be read whole, -ENOMEM,
 * both with one.
 */
int efi_source_read(const struct efi_source *source, const char *name, struct boot_module *module);

/* The initrd that a boot loader offers by LoadFile2, as Linux takes it. Errors as above. */
int efi_read_offered_initrd(const struct efi_boot_services *services, struct boot_module *module);

#endif
