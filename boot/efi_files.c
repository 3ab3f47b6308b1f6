// SPDX-License-Identifier: GPL-2.0-only
#include "boot/efi_files.h"

#include "boot/efi_memory.h"
#include "boot/efi_pxe.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"

#define PATH_SIZE      512 /* characters */
#define INFO_SIZE      1024
#define READ_AT_ONCE   (64 * MIB) /* some firmware fails above some size */
#define LAST_CHARACTER 0x7e

static const struct efi_guid file_system_guid = {
	0x964e5b22, 0x6459, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
static const struct efi_guid file_info_guid = {
	0x09576e92, 0x6d3f, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
static const struct efi_guid load_file2_guid = {
	0x4006c0c1, 0xfcb3, 0x403e, {0x99, 0x6d, 0x4a, 0x6c, 0x87, 0x24, 0xe0, 0x6d}};

/* LINUX_EFI_INITRD_MEDIA_GUID: Linux's include/linux/efi.h */
static const struct {
	struct efi_device_path vendor;
	struct efi_guid guid;
	struct efi_device_path end;
} __attribute__((packed)) initrd_path = {
	{EFI_PATH_MEDIA,
	 EFI_PATH_MEDIA_VENDOR,
	 {sizeof(struct efi_device_path) + sizeof(struct efi_guid), 0}},
	{0x5568e427, 0x68fc, 0x4f3d, {0xac, 0x74, 0xca, 0x55, 0x52, 0x31, 0xcc, 0x68}},
	{EFI_PATH_END, EFI_PATH_END_ENTIRE, {sizeof(struct efi_device_path), 0}},
};

static uint16_t path_length(const struct efi_device_path *path)
{
	return (uint16_t)(path->length[0] | path->length[1] << 8);
}

/* Appends a path's characters; what is no ASCII ends it. */
static size_t append_path(char *text, size_t used, size_t size, const struct efi_device_path *node)
{
	const uint8_t *characters = (const uint8_t *)(node + 1);
	size_t count = (path_length(node) - sizeof(*node)) / sizeof(uint16_t);

	for (size_t i = 0; i < count && used + 1 < size; i++) {
		uint16_t c = (uint16_t)(characters[2 * i] | characters[2 * i + 1] << 8);

		if (c == 0 || c > LAST_CHARACTER)
			break;
		text[used++] = (char)c;
	}
	return used;
}

/* The folder of a path in text: all up to its last separator. */
static void keep_folder(char *text)
{
	size_t end = strlen(text);

	while (end > 0 && text[end - 1] != '\\' && text[end - 1] != '/')
		end--;
	text[end] = '\0';
}

static void read_image_folder(const struct efi_device_path *path, char *folder, size_t size)
{
	size_t used = 0;

	while (path != NULL && path->type != EFI_PATH_END && path_length(path) >= sizeof(*path)) {
		if (path->type == EFI_PATH_MEDIA && path->sub_type == EFI_PATH_MEDIA_FILE)
			used = append_path(folder, used, size, path);
		path = (const struct efi_device_path *)((const uint8_t *)path + path_length(path));
	}
	folder[used] = '\0';
}

static struct efi_file *open_file_system(const struct efi_boot_services *services, void *device)
{
	struct efi_simple_file_system *system = NULL;
	struct efi_file *root = NULL;

	if (device == NULL ||
	    services->handle_protocol(device, &file_system_guid, &system) != EFI_SUCCESS ||
	    system->open_volume(system, &root) != EFI_SUCCESS)
		return NULL;
	return root;
}

void efi_source_open(struct efi_source *source, const struct efi_boot_services *services,
		     const struct efi_loaded_image *image)
{
	memset(source, 0, sizeof(*source));
	source->services = services;
	source->root = open_file_system(services, image->device);
	if (source->root != NULL)
		read_image_folder(image->file_path, source->folder, sizeof(source->folder));
	else if (image->device != NULL)
		efi_pxe_open(source, image->device);
	keep_folder(source->folder);
}

void efi_source_describe(const struct efi_source *source, char *text, size_t size)
{
	const uint8_t *ip = source->server.v4;

	if (source->root != NULL)
		text_format(text, size, "the file system that Vellum came from, in %s",
			    source->folder[0] != '\0' ? source->folder : "its root");
	else if (source->pxe != NULL)
		text_format(text, size, "the TFTP server %u.%u.%u.%u, in %s", ip[0], ip[1], ip[2],
			    ip[3], source->folder[0] != '\0' ? source->folder : "its root");
	else
		text_format(text, size,
			    "nowhere: Vellum came from no file system and no TFTP server");
}

static int failed(const char *name, const char *what, efi_status_t status)
{
	pr_error("uefi: file \"%s\": %s (status %#llx)", name, what, (unsigned long long)status);
	return -EINVAL;
}

static int file_size(struct efi_file *file, const char *name, uint64_t *size)
{
	static uint8_t buffer[INFO_SIZE] __attribute__((aligned(8)));
	uint64_t room = sizeof(buffer);
	efi_status_t status = file->get_info(file, &file_info_guid, &room, buffer);

	if (status != EFI_SUCCESS)
		return failed(name, "the firmware does not tell its size", status);
	*size = ((const struct efi_file_info *)buffer)->file_size;
	return 0;
}

static int read_contents(struct efi_file *file, const char *name, const struct boot_module *module)
{
	uint64_t at = 0;

	while (at < module->size) {
		uint64_t size = min_u64(module->size - at, READ_AT_ONCE);
		efi_status_t status =
			file->read(file, &size, (void *)(uintptr_t)(module->start.raw + at));

		if (status != EFI_SUCCESS)
			return failed(name, "it can't be read", status);
		if (size == 0) {
			pr_error(
				"uefi: file \"%s\" ends after %llu of %llu bytes: is it cut short?",
				name, (unsigned long long)at, (unsigned long long)module->size);
			return -EINVAL;
		}
		at += size;
	}
	return 0;
}

static int load_file(const struct efi_source *source, struct efi_file *file, const char *name,
		     struct boot_module *module)
{
	int error = file_size(file, name, &module->size);

	if (!error)
		error = efi_allocate(source->services, module->size, name, &module->start.raw);
	return error ? error : read_contents(file, name, module);
}

static int read_path(const struct efi_source *source, const char *path, const char *name,
		     struct boot_module *module)
{
	uint16_t wide[PATH_SIZE];
	struct efi_file *file;
	size_t i = 0;
	int error;

	for (; path[i] != '\0' && i < PATH_SIZE - 1; i++)
		wide[i] = path[i] == '/' ? '\\' : (uint8_t)path[i];
	wide[i] = 0;
	if (source->root->open(source->root, &file, wide, EFI_FILE_MODE_READ, 0) != EFI_SUCCESS)
		return -ENOENT;
	error = load_file(source, file, name, module);
	file->close(file);
	return error;
}

static int read_one(const struct efi_source *source, const char *path, const char *name,
		    struct boot_module *module)
{
	if (source->root != NULL)
		return read_path(source, path, name, module);
	if (source->pxe != NULL)
		return efi_pxe_read(source, path, module);
	return -ENOENT;
}

/* A URL's last part; anything else as it is. */
static const char *without_url(const char *name)
{
	const char *last = name;
	bool is_url = false;

	for (const char *c = name; *c != '\0'; c++) {
		if (c[0] == ':' && c[1] == '/' && c[2] == '/')
			is_url = true;
		if (*c == '/')
			last = c + 1;
	}
	return is_url ? last : name;
}

int efi_source_read(const struct efi_source *source, const char *name, struct boot_module *module)
{
	char path[PATH_SIZE];
	const char *file = without_url(name);
	int error = -ENOENT;

	if (file[0] != '/' && file[0] != '\\' && source->folder[0] != '\0') {
		text_format(path, sizeof(path), "%s%s", source->folder, file);
		error = read_one(source, path, name, module);
	}
	return error == -ENOENT ? read_one(source, file, name, module) : error;
}

int efi_read_offered_initrd(const struct efi_boot_services *services, struct boot_module *module)
{
	const void *path = &initrd_path;
	struct efi_load_file2 *loader;
	efi_status_t status;
	void *handle;
	int error;

	module->size = 0;
	if (services->locate_device_path(&load_file2_guid, &path, &handle) != EFI_SUCCESS ||
	    services->handle_protocol(handle, &load_file2_guid, &loader) != EFI_SUCCESS)
		return -ENOENT;
	status = loader->load_file(loader, &initrd_path.end, false, &module->size, NULL);
	if (status != EFI_BUFFER_TOO_SMALL || module->size == 0)
		return -ENOENT;
	error = efi_allocate(services, module->size, "the initrd", &module->start.raw);
	if (error)
		return error;
	status = loader->load_file(loader, &initrd_path.end, false, &module->size,
				   (void *)(uintptr_t)module->start.raw);
	return status == EFI_SUCCESS ? 0
				     : failed("initrd", "the boot loader does not give it", status);
}
