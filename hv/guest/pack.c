// SPDX-License-Identifier: GPL-2.0-only
#include "guest/pack.h"

#include "debug/console.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* cpio's newc format: Linux's Documentation/driver-api/early-userspace/buffer-format.rst */
#define MAGIC	    "070701"
#define MAGIC_CRC   "070702"
#define MAGIC_SIZE  6
#define HEADER_SIZE 110
#define FIELD_SIZE  8 /* hexadecimal digits */
#define ALIGN	    4
#define TRAILER	    "TRAILER!!!"
#define MODE_TYPE   0170000
#define MODE_FILE   0100000

enum field { FIELD_MODE = 1, FIELD_FILE_SIZE = 6, FIELD_NAME_SIZE = 11 };

bool pack_is_archive(const void *data, uint64_t size)
{
	return size >= HEADER_SIZE &&
	       (memcmp(data, MAGIC, MAGIC_SIZE) == 0 || memcmp(data, MAGIC_CRC, MAGIC_SIZE) == 0);
}

/* -1 if it is none. */
static int digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False if it is no number. */
static bool read_field(const uint8_t *header, enum field field, uint32_t *value)
{
	const uint8_t *text = header + MAGIC_SIZE + field * FIELD_SIZE;

	*value = 0;
	for (int i = 0; i < FIELD_SIZE; i++) {
		if (digit(text[i]) < 0)
			return false;
		*value = *value << 4 | (uint32_t)digit(text[i]);
	}
	return true;
}

static int wrong_header(uint64_t at)
{
	pr_error("archive: the header at byte %llu has something else than numbers",
		 (unsigned long long)at);
	return -EINVAL;
}

static int cut_short(const char *what, uint64_t end, uint64_t size)
{
	pr_error("archive: %s ends at byte %llu, but the archive has only %llu: was the file cut "
		 "short?",
		 what, (unsigned long long)end, (unsigned long long)size);
	return -EINVAL;
}

/* GRUB 2.06 writes names without a NUL, which the format asks for. */
static void copy_name(char *to, const uint8_t *name, uint32_t size)
{
	size_t length = strnlen((const char *)name, min_u64(size, CONFIG_NAME_SIZE - 1));

	memcpy(to, name, length);
	to[length] = '\0';
}

/* The entry of any kind whose header is at reader->at and in the archive; moves behind it. */
static int read_entry(struct pack_reader *reader, struct pack_file *entry, uint32_t *mode)
{
	const uint8_t *header = reader->data + reader->at;
	uint64_t name_at = reader->at + HEADER_SIZE;
	uint32_t name_size, size;
	uint64_t data_at;

	if (!read_field(header, FIELD_MODE, mode) || !read_field(header, FIELD_FILE_SIZE, &size) ||
	    !read_field(header, FIELD_NAME_SIZE, &name_size))
		return wrong_header(reader->at);
	if (name_at + name_size > reader->size)
		return cut_short("a file's name", name_at + name_size, reader->size);
	copy_name(entry->name, reader->data + name_at, name_size);
	data_at = align_up(name_at + name_size, ALIGN);
	if (data_at + size > reader->size && size > 0)
		return cut_short(entry->name, data_at + size, reader->size);
	entry->data = reader->data + data_at;
	entry->size = size;
	reader->at = align_up(data_at + size, ALIGN);
	return 0;
}

static void skip_zeros(struct pack_reader *reader)
{
	while (reader->at < reader->size && reader->data[reader->at] == 0)
		reader->at++;
}

/* 1 if a header is next, 0 at the end. */
static int find_header(struct pack_reader *reader)
{
	uint64_t left;

	skip_zeros(reader);
	if (reader->at >= reader->size)
		return 0;
	left = reader->size - reader->at;
	if (pack_is_archive(reader->data + reader->at, left))
		return 1;
	if (left < HEADER_SIZE)
		return cut_short("a header", reader->at + HEADER_SIZE, reader->size);
	pr_error("archive: at byte %llu there is neither a header nor the end",
		 (unsigned long long)reader->at);
	return -EINVAL;
}

int pack_next(struct pack_reader *reader, struct pack_file *file)
{
	uint32_t mode;
	int found;

	while ((found = find_header(reader)) == 1) {
		int error = read_entry(reader, file, &mode);

		if (error)
			return error;
		if ((mode & MODE_TYPE) == MODE_FILE && strcmp(file->name, TRAILER) != 0)
			return 1;
	}
	return found;
}

/* The last one of this name, as with Linux's initramfs; -ENOENT without a message. */
static int find_file(const struct pack_reader *archive, const char *name, struct pack_file *file)
{
	struct pack_reader reader = *archive;
	struct pack_file next;
	bool is_there = false;
	int found;

	while ((found = pack_next(&reader, &next)) == 1) {
		if (!config_same_file(next.name, name))
			continue;
		*file = next;
		is_there = true;
	}
	if (found < 0)
		return found;
	return is_there ? 0 : -ENOENT;
}

static int missing(const struct pack_reader *archive, const char *what, const char *name)
{
	struct pack_reader reader = *archive;
	struct pack_file file, first = {.name = "nothing"};
	unsigned int count = 0;

	while (pack_next(&reader, &file) == 1) {
		if (count++ == 0)
			first = file;
	}
	pr_error("archive: the %s \"%s\" is not in it; it has %u files, the first is \"%s\". "
		 "kernel= and initrd= in " CONFIG_FILE " name others",
		 what, name, count, first.name);
	return -ENOENT;
}

void pack_set_string(struct boot_module *module, const char *name, const char *words)
{
	int length = text_format(module->string, sizeof(module->string), "%s %s", name, words);

	if (length >= (int)sizeof(module->string))
		pr_warn("the command line for \"%s\" is longer than %zu bytes and was cut", name,
			sizeof(module->string) - 1);
}

static void fill_module(struct boot_module *module, const struct pack_file *file, const char *name,
			const char *words)
{
	module->start = virt_to_phys(file->data);
	module->size = file->size;
	pack_set_string(module, name, words);
}

static int read_config(const struct pack_reader *archive, struct guest_config *config)
{
	struct pack_file file = {.size = 0};
	int error = find_file(archive, CONFIG_FILE, &file);

	config_parse(config, (const char *)file.data, file.size);
	return error == -ENOENT ? 0 : error;
}

static int add_kernel(const struct pack_reader *archive, const struct guest_config *config,
		      struct boot_info *boot)
{
	struct pack_file file;
	int error = find_file(archive, config->kernel, &file);

	if (error)
		return error == -ENOENT ? missing(archive, "kernel", config->kernel) : error;
	fill_module(&boot->module[0], &file, config->kernel, config->append);
	boot->module_count = 1;
	return 0;
}

static int add_initrd(const struct pack_reader *archive, const struct guest_config *config,
		      struct boot_info *boot)
{
	struct pack_file file;
	int error = find_file(archive, config->initrd, &file);

	if (error == -ENOENT)
		return config_wants_initrd(config) ? missing(archive, "initrd", config->initrd) : 0;
	if (error)
		return error;
	fill_module(&boot->module[1], &file, config->initrd, "");
	boot->module_count = 2;
	return 0;
}

static int open_archive(const struct pack_reader *archive, struct boot_info *boot)
{
	static struct guest_config config;
	int error = read_config(archive, &config);

	if (!error)
		error = add_kernel(archive, &config, boot);
	if (!error)
		error = add_initrd(archive, &config, boot);
	if (!error && boot->command_line[0] == '\0')
		string_copy(boot->command_line, config.words, sizeof(boot->command_line));
	return error;
}

int pack_open(struct boot_info *boot)
{
	const struct boot_module *module = &boot->module[0];
	struct pack_reader archive = {phys_to_virt(module->start), module->size, 0};

	if (boot->module_count != 1 || !pack_is_archive(archive.data, archive.size))
		return 0;
	return open_archive(&archive, boot);
}
