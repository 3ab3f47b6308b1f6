// SPDX-License-Identifier: GPL-2.0-only
#include "boot/boot.h"

#include "boot/boot_params.h"
#include "boot/efi.h"
#include "boot/multiboot.h"
#include "boot/multiboot2.h"
#include "boot/multiboot2_format.h"
#include "boot/multiboot_format.h"
#include "debug/console.h"
#include "dev/acpi.h"
#include "guest/config.h"
#include "guest/linux_boot.h"
#include "guest/pack.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "lib/words.h"

/* What Linux's loaders add to a command line by themselves */
static const char *const loader_words[] = {"BOOT_IMAGE", "initrd"};

#define GUEST_WORDS_FOLLOW "--"

struct boot_info efi_found;

static int read_format(uint32_t magic, hpa_t info, struct boot_info *boot)
{
	switch (magic) {
	case MULTIBOOT_BOOTLOADER_MAGIC:
		return multiboot_read(info, boot);
	case MULTIBOOT2_BOOTLOADER_MAGIC:
		return multiboot2_read(info, boot);
	case LINUX_HEADER_MAGIC:
		return boot_params_read(info, boot);
	case BOOT_MAGIC_EFI:
		*boot = efi_found;
		return 0;
	}
	pr_error("boot: the boot loader's magic is %#x: neither Multiboot's %#x nor Multiboot 2's "
		 "%#x",
		 magic, MULTIBOOT_BOOTLOADER_MAGIC, MULTIBOOT2_BOOTLOADER_MAGIC);
	return -EINVAL;
}

static bool is_loaders_own(struct word word)
{
	struct word name, value;

	if (!word_split(word, &name, &value))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(loader_words); i++) {
		if (word_equals(name, loader_words[i]))
			return true;
	}
	return false;
}

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

/*
 * Leaves only Vellum's own words in the line, with one blank between; returns those
 * behind "--", which are the guest's, or NULL. They stay where they are, as words only
 * move down.
 */
static const char *take_guest_words(char *line)
{
	const char *cursor = line;
	size_t used = 0;
	struct word word;

	word_file_name(&cursor);
	for (word = word_next(&cursor); word.length > 0; word = word_next(&cursor)) {
		if (word_equals(word, GUEST_WORDS_FOLLOW))
			break;
		if (is_loaders_own(word))
			continue;
		if (used > 0)
			line[used++] = ' ';
		memmove(line + used, word.text, (size_t)word.length);
		used += (size_t)word.length;
	}
	line[used] = '\0';
	return word.length > 0 ? skip_blanks(cursor) : NULL;
}

static void set_guest_words(struct boot_module *kernel, const char *words)
{
	char name[CONFIG_NAME_SIZE] = "kernel";
	const char *string = kernel->string;
	struct word first = word_file_name(&string);

	if (first.length > 0 && (size_t)first.length < sizeof(name)) {
		memcpy(name, first.text, (size_t)first.length);
		name[first.length] = '\0';
	}
	pack_set_string(kernel, name, words);
}

int boot_read(uint32_t magic, hpa_t info, struct boot_info *boot)
{
	static char line[BOOT_STRING_SIZE];
	const char *guest_words;
	int error = read_format(magic, info, boot);

	if (error)
		return error;
	acpi_set_rsdp(boot->rsdp);
	string_copy(line, boot->command_line, sizeof(line));
	guest_words = take_guest_words(line);
	string_copy(boot->command_line, line, sizeof(boot->command_line));
	error = pack_open(boot);
	if (!error && guest_words != NULL)
		set_guest_words(&boot->module[0], guest_words);
	return error;
}
