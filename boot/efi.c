// SPDX-License-Identifier: GPL-2.0-only
#include "boot/efi.h"

#include "boot/efi_files.h"
#include "boot/efi_memory.h"
#include "debug/console.h"
#include "debug/console_port.h"
#include "guest/config.h"
#include "guest/pack.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/words.h"

#define LAST_CHARACTER 0x7e
#define SCREEN_LINE    128 /* characters given to the firmware at once */

static const struct efi_guid loaded_image_guid = {
	0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
static const struct efi_guid graphics_guid = {
	0x9042a9de, 0x23dc, 0x4a38, {0x96, 0xfb, 0x7a, 0xde, 0xd0, 0x80, 0x51, 0x6a}};
static const struct efi_guid global_variable_guid = {
	0x8be4df61, 0x93ca, 0x11d2, {0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03, 0x2b, 0x8c}};

static struct efi_system_table *firmware;

/* The console's mirror while the firmware has the screen. */
static void put_screen(const char *text)
{
	uint16_t line[SCREEN_LINE];
	size_t used = 0;

	for (; *text != '\0'; text++) {
		if (*text == '\n')
			line[used++] = '\r';
		line[used++] = (uint8_t)*text;
		if (used < SCREEN_LINE - 2 && text[1] != '\0')
			continue;
		line[used] = 0;
		firmware->console_out->output_string(firmware->console_out, line);
		used = 0;
	}
}

/*
 * Vellum starts guests whose signatures nobody has checked: that would be the way around
 * Secure Boot for whoever can write the guest's file.
 */
static int check_secure_boot(const struct efi_runtime_services *services)
{
	static const uint16_t name[] = u"SecureBoot";
	uint8_t is_on = 0;
	uint64_t size = sizeof(is_on);

	if (services->get_variable(name, &global_variable_guid, NULL, &size, &is_on) !=
		    EFI_SUCCESS ||
	    is_on == 0)
		return 0;
	pr_error("uefi: Secure Boot is on, and Vellum does not check its guest's signature; switch "
		 "Secure Boot off in the firmware's setup");
	return -EPERM;
}

/* Of ASCII only; false if there is something else, or no end. */
static bool copy_wide(char *to, size_t room, const uint8_t *text, size_t count)
{
	for (size_t i = 0; i < count && i < room; i++) {
		uint16_t c = (uint16_t)(text[2 * i] | text[2 * i + 1] << 8);

		if (c > LAST_CHARACTER || (c != 0 && c < ' '))
			return false;
		to[i] = (char)c;
		if (c == 0)
			return true;
	}
	if (count >= room)
		return false;
	to[count] = '\0';
	return true;
}

/* Firmware puts bytes of its own into the options of entries that it has made itself. */
static void read_command_line(const struct efi_loaded_image *image, char *line, size_t size)
{
	size_t count = image->load_options_size / sizeof(uint16_t);

	if (image->load_options == NULL || copy_wide(line, size, image->load_options, count))
		return;
	line[0] = '\0';
	pr_warn("uefi: the load options of %u bytes are no text of less than %zu characters; "
		"ignored",
		image->load_options_size, size);
}

static void read_vendor(const uint16_t *vendor, char *name, size_t size)
{
	char text[BOOT_LOADER_NAME_SIZE / 2];

	if (!copy_wide(text, sizeof(text), (const uint8_t *)vendor, sizeof(text) - 1))
		text[0] = '\0';
	text_format(name, size, "UEFI firmware%s%s", text[0] != '\0' ? ", " : "", text);
}

static void read_mask(uint32_t mask, uint8_t *position, uint8_t *size)
{
	*position = mask != 0 ? (uint8_t)__builtin_ctz(mask) : 0;
	*size = 0;
	for (; mask != 0; mask &= mask - 1)
		(*size)++;
}

static void read_pixels(const struct efi_graphics_info *info, struct boot_framebuffer *fb)
{
	bool is_rgb = info->pixel_format == EFI_PIXEL_RGB;
	uint32_t red = is_rgb ? 0xff : 0xff0000, blue = is_rgb ? 0xff0000 : 0xff;
	uint32_t green = 0xff00, reserved = 0xff000000;

	if (info->pixel_format == EFI_PIXEL_BIT_MASK) {
		red = info->red_mask;
		green = info->green_mask;
		blue = info->blue_mask;
		reserved = info->reserved_mask;
	}
	read_mask(red, &fb->red_position, &fb->red_size);
	read_mask(green, &fb->green_position, &fb->green_size);
	read_mask(blue, &fb->blue_position, &fb->blue_size);
	fb->bits_per_pixel = (uint8_t)(32 - __builtin_clz(red | green | blue | reserved | 1));
	fb->pitch = info->pixels_per_line * (uint32_t)align_up(fb->bits_per_pixel, 8) / 8;
}

static void read_framebuffer(const struct efi_boot_services *services, struct boot_framebuffer *fb)
{
	struct efi_graphics_output *graphics = NULL;
	const struct efi_graphics_mode *mode;

	if (services->locate_protocol(&graphics_guid, NULL, &graphics) != EFI_SUCCESS)
		return;
	mode = graphics->mode;
	if (mode == NULL || mode->info == NULL || mode->info->pixel_format >= EFI_PIXEL_BLT_ONLY)
		return;
	fb->address = mode->framebuffer_base;
	fb->width = mode->info->width;
	fb->height = mode->info->height;
	read_pixels(mode->info, fb);
}

/* The module of this name becomes the next one. -ENOENT without a message. */
static int add_file(const struct efi_source *source, const char *name, const char *words)
{
	struct boot_module *module = &efi_found.module[efi_found.module_count];
	int error = efi_source_read(source, name, module);

	if (error)
		return error;
	pack_set_string(module, name, words);
	efi_found.module_count++;
	return 0;
}

static int not_there(const struct efi_source *source, const char *what, const char *name)
{
	char where[128];

	efi_source_describe(source, where, sizeof(where));
	pr_error("uefi: no %s \"%s\" from %s; give the boot loader an initrd, or name the guest's "
		 "files in " CONFIG_FILE " there",
		 what, name, where);
	return -ENOENT;
}

/* initrd=NAME, once for an archive, or first the kernel and then its initrd. */
static int add_named_files(const struct efi_source *source)
{
	const char *cursor = efi_found.command_line;
	char name_text[CONFIG_NAME_SIZE];
	struct word word, name, value;
	int error = 0;

	for (word = word_next(&cursor); !error && word.length > 0; word = word_next(&cursor)) {
		if (word_equals(word, "--"))
			break;
		if (!word_split(word, &name, &value) || !word_equals(name, "initrd") ||
		    efi_found.module_count == BOOT_MAX_MODULES)
			continue;
		text_format(name_text, sizeof(name_text), "%.*s", WORD_ARGS(value));
		error = add_file(source, name_text, "");
		if (error == -ENOENT)
			not_there(source, "file", name_text);
	}
	return error;
}

static int read_config(const struct efi_source *source, struct guest_config *config)
{
	struct boot_module file = {.size = 0};
	int error = efi_source_read(source, CONFIG_FILE, &file);

	if (error && error != -ENOENT)
		return error;
	config_parse(config, (const char *)(uintptr_t)file.start.raw, error ? 0 : file.size);
	return 0;
}

static bool has_own_words(void)
{
	const char *cursor = efi_found.command_line;

	word_file_name(&cursor);
	return word_next(&cursor).length > 0;
}

static int add_configured_files(const struct efi_source *source)
{
	static struct guest_config config;
	int error = read_config(source, &config);

	if (error)
		return error;
	error = add_file(source, config.kernel, config.append);
	if (error == -ENOENT)
		return not_there(source, "kernel", config.kernel);
	if (!error && config.initrd[0] != '\0')
		error = add_file(source, config.initrd, "");
	if (error == -ENOENT)
		error = config_wants_initrd(&config) ? not_there(source, "initrd", config.initrd)
						     : 0;
	if (!error && !has_own_words())
		string_copy(efi_found.command_line, config.words, sizeof(efi_found.command_line));
	return error;
}

static int add_guest(const struct efi_boot_services *services, const struct efi_loaded_image *image)
{
	static struct efi_source source;
	int error = efi_read_offered_initrd(services, &efi_found.module[0]);

	if (error != -ENOENT) {
		efi_found.module_count = error ? 0 : 1;
		return error;
	}
	efi_source_open(&source, services, image);
	error = add_named_files(&source);
	if (!error && efi_found.module_count == 0)
		error = add_configured_files(&source);
	return error;
}

static int prepare(void *image, const struct efi_system_table *system)
{
	struct efi_loaded_image *loaded = NULL;

	if (system->boot->handle_protocol(image, &loaded_image_guid, &loaded) != EFI_SUCCESS) {
		pr_error("uefi: the firmware does not tell how it loaded Vellum");
		return -EINVAL;
	}
	read_vendor(system->firmware_vendor, efi_found.loader, sizeof(efi_found.loader));
	read_command_line(loaded, efi_found.command_line, sizeof(efi_found.command_line));
	read_framebuffer(system->boot, &efi_found.framebuffer);
	efi_found.efi.is_there = true;
	efi_found.efi.system_table = (uintptr_t)system;
	efi_found.rsdp = efi_rsdp_in(system->tables, system->table_count);
	return add_guest(system->boot, loaded);
}

static efi_status_t status_of(int error)
{
	switch (error) {
	case 0:
		return EFI_SUCCESS;
	case -ENOENT:
		return EFI_NOT_FOUND;
	case -ENOMEM:
		return EFI_OUT_OF_RESOURCES;
	case -EPERM:
		return EFI_SECURITY_VIOLATION;
	}
	return EFI_LOAD_ERROR;
}

efi_status_t efi_main(void *image, struct efi_system_table *system)
{
	int error;

	firmware = system;
	console_open(CONSOLE_AUTO);
	console_set_mirror(system->console_out != NULL ? put_screen : NULL);
	error = check_secure_boot(system->runtime);
	if (!error)
		error = prepare(image, system);
	if (!error) {
		console_set_mirror(NULL); /* it is the firmware's, which is about to go */
		error = efi_exit_boot_services(system->boot, image, &efi_found);
	}
	console_set_mirror(NULL);
	if (error)
		efi_free_all(system->boot);
	return status_of(error);
}
