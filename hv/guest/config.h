/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vellum.cfg: what to start, for loaders that can't say it. Lines of name=value; empty
 * ones and those that start with '#' are skipped.
 */
#ifndef VELLUM_GUEST_CONFIG_H
#define VELLUM_GUEST_CONFIG_H

#include "core/boot_info.h"
#include "lib/types.h"

#define CONFIG_FILE	 "vellum.cfg"
#define CONFIG_NAME_SIZE 256

struct guest_config {
	char kernel[CONFIG_NAME_SIZE]; /* a file's name, without blanks */
	char initrd[CONFIG_NAME_SIZE]; /* the same; "": there is none */
	char append[BOOT_STRING_SIZE]; /* the kernel's command line */
	char words[BOOT_STRING_SIZE];  /* Vellum's */
};

/*
 * Fills config from size bytes of text, any bytes at all; what is not named is as with no
 * text: files "kernel" and "initrd", no words. The last of two equal names wins. An
 * unknown name, a line without '=' and a value that is too long are named on the
 * console by their line, and ignored.
 */
void config_parse(struct guest_config *config, const char *text, uint64_t size);

/* True if the initrd was named: then it has to be there. */
bool config_wants_initrd(const struct guest_config *config);

/*
 * True if two names mean the same file: equal behind their last '/', so that a URL's or
 * an archive's path does not count.
 */
bool config_same_file(const char *a, const char *b);

#endif
