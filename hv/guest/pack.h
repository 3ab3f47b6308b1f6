/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole guest in one file: a cpio archive (format "newc") with kernel, initrd and
 * vellum.cfg. make pack writes one; GRUB's newc: and iPXE's named initrds are others.
 */
#ifndef VELLUM_GUEST_PACK_H
#define VELLUM_GUEST_PACK_H

#include "core/boot_info.h"
#include "guest/config.h"
#include "lib/types.h"

/* A regular file in an archive, where data lies. */
struct pack_file {
	char name[CONFIG_NAME_SIZE]; /* cut to what fits */
	const uint8_t *data;
	uint64_t size;
};

/* An archive that is being read; at counts from data. */
struct pack_reader {
	const uint8_t *data;
	uint64_t size;
	uint64_t at;
};

/* True if the bytes start as an archive does. */
bool pack_is_archive(const void *data, uint64_t size);

/*
 * The next regular file. 1 if there is one, 0 at the end; -EINVAL, with a message that says
 * where, if the archive is cut short or its numbers are wrong. Archives may follow one
 * another, with zeros between.
 */
int pack_next(struct pack_reader *reader, struct pack_file *file);

/*
 * If module 0 is an archive, its kernel and initrd become modules 0 and 1, where they
 * lie, with a string of name and append=; Vellum's command line, if it is empty, becomes
 * words=. Without vellum.cfg the files are those named "kernel" and "initrd". Any other
 * module is left alone, and so is what is no archive.
 *
 * -EINVAL as pack_next(); -ENOENT without the kernel, or an initrd that vellum.cfg wants.
 */
int pack_open(struct boot_info *boot);

/* Gives module its string: name, a blank, and the words. */
void pack_set_string(struct boot_module *module, const char *name, const char *words);

#endif
