// SPDX-License-Identifier: GPL-2.0-only
/* The UEFI application on a firmware that this file plays. */
#include "support.h"

#include "boot/boot.h"
#include "boot/efi.h"
#include "boot/efi_memory.h"
#include "debug/console_port.h"
#include "lib/errno.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ALLOCATIONS 16
#define MAP_ENTRIES	4
#define STRIDE		48 /* more than the structure has, as EDK II */

/* A file of the medium that the image came from. shown: the size that its directory tells. */
struct fake_file {
	const char *name;
	const char *data;
	uint64_t shown;
};

static struct {
	bool has_file_system, has_pxe, has_load_file2;
	const struct fake_file *files;
	efi_status_t pxe_status; /* of a read */
	uint64_t pxe_cut;	 /* bytes that a read leaves out */
	const char *offered;	 /* by LoadFile2 */
	uint8_t secure_boot;
	unsigned int old_keys; /* how often the map's key is old */
	unsigned int exits, map_calls;
	const struct fake_file *opened;
	uint64_t at;
	void *allocated[MAX_ALLOCATIONS];
	unsigned int allocations;
	bool has_memory;
	char screen[4096];
} fake;

static struct efi_boot_services services;
static struct efi_runtime_services runtime;
static struct efi_simple_text_output screen;
static struct efi_system_table firmware;
static struct efi_loaded_image image;
static struct efi_file root, file;
static struct efi_simple_file_system file_system;
static struct efi_pxe_base_code pxe;
static struct efi_pxe_mode pxe_mode;
static struct efi_load_file2 load_file2;
static struct efi_graphics_output graphics;
static struct efi_graphics_mode graphics_mode;
static struct efi_graphics_info graphics_info;
static const struct efi_configuration_table tables[] = {
	{{0x8868e871, 0xe4f1, 0x11d3, {0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81}}, 0x7fe014}};
static int device;
static uint16_t options[256];
static struct boot_info boot;

static console_mirror_t mirror;

void console_open(enum option_console choice)
{
	(void)choice;
}

void console_set_mirror(console_mirror_t put)
{
	mirror = put;
}

/* ---- the firmware ---- */

static EFI_CALL efi_status_t output_string(struct efi_simple_text_output *this,
					   const uint16_t *text)
{
	size_t used = strlen(fake.screen);

	(void)this;
	for (; *text != 0 && used + 1 < sizeof(fake.screen); text++)
		fake.screen[used++] = (char)*text;
	fake.screen[used] = '\0';
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t allocate_pages(int type, int memory_type, uint64_t pages,
					    uint64_t *address)
{
	assert_int_equal(type, EFI_ALLOCATE_MAX_ADDRESS);
	assert_int_equal(memory_type, EFI_LOADER_DATA);
	assert_true(*address == 0xffffffff);
	if (!fake.has_memory)
		return EFI_OUT_OF_RESOURCES;
	fake.allocated[fake.allocations] = calloc(pages, EFI_PAGE_SIZE);
	*address = (uintptr_t)fake.allocated[fake.allocations++];
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t free_pages(uint64_t address, uint64_t pages)
{
	assert_true(pages > 0);
	for (unsigned int i = 0; i < fake.allocations; i++) {
		if ((uintptr_t)fake.allocated[i] != address)
			continue;
		free(fake.allocated[i]);
		fake.allocated[i] = fake.allocated[--fake.allocations];
		return EFI_SUCCESS;
	}
	fail();
	return EFI_NOT_FOUND;
}

static EFI_CALL efi_status_t free_pool(void *buffer)
{
	return free_pages((uintptr_t)buffer, 1);
}

static EFI_CALL efi_status_t allocate_pool(int memory_type, uint64_t size, void **buffer)
{
	assert_int_equal(memory_type, EFI_LOADER_DATA);
	*buffer = fake.allocated[fake.allocations++] = malloc(size);
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t get_memory_map(uint64_t *size, void *map, uint64_t *key,
					    uint64_t *stride, uint32_t *version)
{
	static const struct efi_memory_descriptor descriptors[MAP_ENTRIES] = {
		{EFI_CONVENTIONAL_MEMORY, 0, 0, 0, 0xa0, 0},
		{EFI_BOOT_SERVICES_DATA, 0, 0x100000, 0, 0x100, 0},
		{EFI_ACPI_MEMORY_NVS, 0, 0x200000, 0, 1, 0},
		{6, 0, 0x201000, 0, 1, BIT(63)}, /* runtime data */
	};
	bool has_room = *size >= MAP_ENTRIES * STRIDE;

	*size = MAP_ENTRIES * STRIDE;
	*stride = STRIDE;
	*version = 1;
	if (!has_room)
		return EFI_BUFFER_TOO_SMALL;
	fake.map_calls++;
	*key = fake.map_calls;
	memset(map, 0xff, *size);
	for (int i = 0; i < MAP_ENTRIES; i++)
		memcpy((uint8_t *)map + i * STRIDE, &descriptors[i], sizeof(descriptors[i]));
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t exit_boot_services(void *handle, uint64_t key)
{
	assert_ptr_equal(handle, &image);
	assert_int_equal(key, fake.map_calls);
	assert_null(mirror);
	fake.exits++;
	return fake.exits > fake.old_keys ? EFI_SUCCESS : EFI_INVALID_PARAMETER;
}

static EFI_CALL efi_status_t open_volume(struct efi_simple_file_system *this, struct efi_file **to)
{
	(void)this;
	*to = &root;
	return EFI_SUCCESS;
}

static const struct fake_file *find(const char *name)
{
	for (const struct fake_file *f = fake.files; f != NULL && f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

static EFI_CALL efi_status_t open_file(struct efi_file *this, struct efi_file **to,
				       const uint16_t *name, uint64_t mode, uint64_t attributes)
{
	char text[64] = "";

	(void)this;
	(void)attributes;
	assert_int_equal(mode, EFI_FILE_MODE_READ);
	for (size_t i = 0; name[i] != 0 && i < sizeof(text) - 1; i++)
		text[i] = (char)name[i];
	fake.opened = find(text);
	fake.at = 0;
	*to = &file;
	return fake.opened != NULL ? EFI_SUCCESS : EFI_NOT_FOUND;
}

static EFI_CALL efi_status_t close_file(struct efi_file *this)
{
	assert_ptr_equal(this, &file);
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t get_info(struct efi_file *this, const struct efi_guid *type,
				      uint64_t *size, void *buffer)
{
	struct efi_file_info *info = buffer;

	(void)this;
	(void)type;
	assert_true(*size > sizeof(*info));
	info->file_size = fake.opened->shown;
	return EFI_SUCCESS;
}

/* In pieces of three bytes. */
static EFI_CALL efi_status_t read_file(struct efi_file *this, uint64_t *size, void *buffer)
{
	uint64_t left = strlen(fake.opened->data) - fake.at;

	(void)this;
	*size = min_u64(min_u64(*size, 3), left);
	memcpy(buffer, fake.opened->data + fake.at, *size);
	fake.at += *size;
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t mtftp(struct efi_pxe_base_code *this, int operation, void *buffer,
				   bool overwrite, uint64_t *size, const uint64_t *block_size,
				   const struct efi_ip_address *server, const uint8_t *name,
				   const void *info, bool dont_use_buffer)
{
	static const uint8_t address[] = {10, 0, 2, 2};
	const struct fake_file *f = find((const char *)name);

	(void)this;
	(void)overwrite;
	(void)info;
	(void)dont_use_buffer;
	assert_memory_equal(server->v4, address, sizeof(address));
	assert_true(*block_size >= 512); /* what is used without negotiation */
	if (f == NULL)
		return EFI_TFTP_ERROR;
	if (operation == EFI_PXE_TFTP_GET_FILE_SIZE) {
		*size = strlen(f->data);
		return EFI_SUCCESS;
	}
	*size -= fake.pxe_cut;
	memcpy(buffer, f->data, *size);
	return fake.pxe_status;
}

static EFI_CALL efi_status_t load_offered(struct efi_load_file2 *this,
					  const struct efi_device_path *path, bool boot_policy,
					  uint64_t *size, void *buffer)
{
	bool has_room = *size >= strlen(fake.offered);

	(void)this;
	assert_int_equal(path->type, EFI_PATH_END);
	assert_false(boot_policy);
	*size = strlen(fake.offered);
	if (!has_room)
		return EFI_BUFFER_TOO_SMALL;
	memcpy(buffer, fake.offered, *size);
	return EFI_SUCCESS;
}

static EFI_CALL efi_status_t handle_protocol(void *handle, const struct efi_guid *guid, void *to)
{
	void **interface = to;

	*interface = NULL;
	if (handle == &image)
		*interface = &image;
	else if (guid->a == 0x4006c0c1)
		*interface = &load_file2;
	else if (guid->a == 0x964e5b22 && fake.has_file_system)
		*interface = &file_system;
	else if (guid->a == 0x03c4e603 && fake.has_pxe)
		*interface = &pxe;
	return *interface != NULL ? EFI_SUCCESS : EFI_UNSUPPORTED;
}

static EFI_CALL efi_status_t locate_device_path(const struct efi_guid *guid, const void **path,
						void **handle)
{
	(void)guid;
	(void)path;
	*handle = &load_file2;
	return fake.has_load_file2 ? EFI_SUCCESS : EFI_NOT_FOUND;
}

static EFI_CALL efi_status_t locate_protocol(const struct efi_guid *guid, void *registration,
					     void *to)
{
	(void)guid;
	(void)registration;
	*(void **)to = &graphics;
	return graphics.mode != NULL ? EFI_SUCCESS : EFI_NOT_FOUND;
}

static EFI_CALL efi_status_t get_variable(const uint16_t *name, const struct efi_guid *vendor,
					  uint32_t *attributes, uint64_t *size, void *data)
{
	(void)attributes;
	assert_int_equal(name[0], 'S');
	assert_int_equal(vendor->a, 0x8be4df61);
	assert_int_equal(*size, 1);
	*(uint8_t *)data = fake.secure_boot;
	return EFI_SUCCESS;
}

/* ---- the machine ---- */

static void set_options(const char *text)
{
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		options[i] = (uint8_t)text[i];
	options[i] = 0;
	image.load_options = options;
	image.load_options_size = (uint32_t)((i + 1) * sizeof(options[0]));
}

static int setup(void **state)
{
	static const uint16_t vendor[] = u"EDK II";

	(void)state;
	console_clear();
	memset(&fake, 0, sizeof(fake));
	memset(&efi_found, 0, sizeof(efi_found));
	memset(&image, 0, sizeof(image));
	memset(&graphics, 0, sizeof(graphics));
	memset(&pxe_mode, 0, sizeof(pxe_mode));
	mirror = NULL;
	fake.has_memory = true;
	services = (struct efi_boot_services){
		.allocate_pages = allocate_pages,
		.free_pages = free_pages,
		.get_memory_map = get_memory_map,
		.allocate_pool = allocate_pool,
		.free_pool = free_pool,
		.handle_protocol = handle_protocol,
		.locate_device_path = locate_device_path,
		.exit_boot_services = exit_boot_services,
		.locate_protocol = locate_protocol,
	};
	runtime.get_variable = get_variable;
	screen.output_string = output_string;
	root = (struct efi_file){.open = open_file};
	file = (struct efi_file){.close = close_file, .read = read_file, .get_info = get_info};
	file_system.open_volume = open_volume;
	load_file2.load_file = load_offered;
	pxe.mtftp = mtftp;
	pxe.mode = &pxe_mode;
	pxe_mode.started = true;
	memcpy(pxe_mode.dhcp_ack.server_address, "\x0a\0\2\2", 4);
	strcpy((char *)pxe_mode.dhcp_ack.boot_file, "lab/vellum.bin");
	firmware = (struct efi_system_table){
		.firmware_vendor = vendor,
		.console_out = &screen,
		.runtime = &runtime,
		.boot = &services,
		.table_count = 1,
		.tables = tables,
	};
	image.device = &device;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	efi_free_all(&services);
	while (fake.allocations > 0)
		free(fake.allocated[--fake.allocations]);
	return 0;
}

/* Another start in the same test. */
static void restart(void **state)
{
	teardown(state);
	setup(state);
}

static efi_status_t start(void)
{
	efi_status_t status = efi_main(&image, &firmware);

	if (status != EFI_SUCCESS)
		assert_int_equal(fake.allocations, 0);
	boot = efi_found;
	return status;
}

static void assert_module(unsigned int index, const char *data, const char *string)
{
	assert_true(index < boot.module_count);
	assert_int_equal(boot.module[index].size, strlen(data));
	assert_memory_equal((void *)(uintptr_t)boot.module[index].start.raw, data, strlen(data));
	assert_string_equal(boot.module[index].string, string);
}

static const char config[] = "kernel=bz\ninitrd=rd\nappend=quiet\nwords=vmi=off\n";
static const struct fake_file whole[] = {
	{"vellum.cfg", config, sizeof(config) - 1},
	{"bz", "the kernel", 10},
	{"rd", "the initrd", 10},
	{0},
};
static const struct fake_file in_lab[] = {
	{"lab/vellum.cfg", config, sizeof(config) - 1},
	{"lab/bz", "the kernel", 10},
	{"rd", "the initrd", 10}, /* at the root */
	{0},
};

/* ---- tests ---- */

static void files_beside_the_image_are_the_guest(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_console_quiet();
	assert_string_equal(boot.loader, "UEFI firmware, EDK II");
	assert_string_equal(boot.command_line, "vmi=off");
	assert_int_equal(boot.module_count, 2);
	assert_module(0, "the kernel", "bz quiet");
	assert_module(1, "the initrd", "rd ");
	assert_int_equal(boot.rsdp.raw, 0x7fe014);
	assert_int_equal(boot.framebuffer.width, 0);
	assert_int_equal(e820_ram_size(&boot.memory), 0x1a0000);
	assert_true(e820_covers(&boot.memory, 0x200000, 0x1000, E820_NVS));
	assert_true(e820_covers(&boot.memory, 0x201000, 0x1000, E820_RESERVED));
	assert_int_equal(fake.exits, 1);
}

static void uefi_itself_is_kept_for_the_guest(void **state)
{
	const struct efi_memory_descriptor *last;

	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_true(boot.efi.is_there);
	assert_ptr_equal((void *)boot.efi.system_table, &firmware);
	assert_int_equal(boot.efi.map_size, MAP_ENTRIES * STRIDE);
	assert_int_equal(boot.efi.map_stride, STRIDE);
	assert_int_equal(boot.efi.map_version, 1);
	last = (const void *)((const uint8_t *)boot.efi.map + (MAP_ENTRIES - 1) * STRIDE);
	assert_int_equal(last->physical_start, 0x201000);
	assert_true(last->attributes == BIT(63));
}

static void a_map_that_cant_be_kept_is_named(void **state)
{
	static uint8_t map[32 * KIB + 48];
	struct boot_efi efi = {0};

	(void)state;
	efi_keep_map(&efi, map, sizeof(map), 48, 1);
	assert_int_equal(efi.map_size, 0);
	assert_console(LOG_WARN, "the memory map of 32816 bytes, 48 a descriptor, can't be kept");
	efi_keep_map(&efi, map, 4096, 39, 1);
	efi_keep_map(&efi, map, 0, 48, 1);
	assert_int_equal(efi.map_size, 0);
	efi_keep_map(&efi, map, 32 * KIB, 48, 1);
	assert_int_equal(efi.map_size, 32 * KIB);
}

static void the_images_own_folder_comes_first(void **state)
{
	static const struct {
		struct efi_device_path disk, file;
		uint16_t name[sizeof("\\EFI\\v\\vellum.bin")];
		struct efi_device_path end;
	} __attribute__((packed)) path = {
		{EFI_PATH_MEDIA, 1, {4, 0}},
		{EFI_PATH_MEDIA, EFI_PATH_MEDIA_FILE, {4 + sizeof(path.name), 0}},
		u"\\EFI\\v\\vellum.bin",
		{EFI_PATH_END, EFI_PATH_END_ENTIRE, {4, 0}},
	};
	static const struct fake_file files[] = {
		{"\\EFI\\v\\vellum.cfg", config, sizeof(config) - 1},
		{"\\EFI\\v\\bz", "the kernel", 10},
		{"bz", "another", 7},
		{"rd", "the initrd", 10},
		{0},
	};

	(void)state;
	fake.has_file_system = true;
	fake.files = files;
	image.file_path = &path.disk;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_module(0, "the kernel", "bz quiet");
	assert_module(1, "the initrd", "rd ");
}

static void the_loaders_words_come_first(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	set_options("vellum.bin vmi=on");
	assert_int_equal(start(), EFI_SUCCESS);
	assert_string_equal(boot.command_line, "vellum.bin vmi=on");
}

static void a_file_name_alone_is_no_word(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	set_options("vellum.bin");
	assert_int_equal(start(), EFI_SUCCESS);
	assert_string_equal(boot.command_line, "vmi=off");
}

static void initrds_may_be_named(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	set_options("vellum.bin initrd=http://server/x/bz mode=hv initrd=rd -- initrd=no");
	assert_int_equal(start(), EFI_SUCCESS);
	assert_int_equal(boot.module_count, 2);
	assert_module(0, "the kernel", "http://server/x/bz ");
	assert_module(1, "the initrd", "rd ");
}

static void an_offered_initrd_comes_before_all(void **state)
{
	(void)state;
	fake.has_file_system = fake.has_load_file2 = true;
	fake.files = whole;
	fake.offered = "an archive";
	assert_int_equal(start(), EFI_SUCCESS);
	assert_int_equal(boot.module_count, 1);
	assert_module(0, "an archive", "");
}

static void files_come_by_tftp_from_the_boot_files_folder(void **state)
{
	(void)state;
	fake.has_pxe = true;
	fake.files = in_lab;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_module(0, "the kernel", "bz quiet");
	assert_module(1, "the initrd", "rd ");
}

/* A proxy's offer, with everything in options, and the server only in its identifier. */
static void a_proxys_answer_counts(void **state)
{
	static const uint8_t proxy[] = {0,   0,	  67,  14,  'l', 'a', 'b', '/', 'v',
					'e', 'l', 'l', 'u', 'm', '.', 'b', 'i', 'n',
					54,  4,	  10,  0,   2,	 2,   255};

	(void)state;
	fake.has_pxe = true;
	fake.files = in_lab;
	memset(&pxe_mode.dhcp_ack, 0x55, sizeof(pxe_mode.dhcp_ack));
	pxe_mode.proxy_offer_received = true;
	memcpy(pxe_mode.proxy_offer.options, proxy, sizeof(proxy));
	memcpy(pxe_mode.proxy_offer.options + 18, proxy + 18, 7);
	assert_int_equal(start(), EFI_SUCCESS);
	assert_module(0, "the kernel", "bz quiet");
}

static void broken_options_are_not_followed(void **state)
{
	(void)state;
	fake.has_pxe = true;
	memset(&pxe_mode.dhcp_ack, 0xfe, sizeof(pxe_mode.dhcp_ack));
	memset(pxe_mode.dhcp_ack.boot_file, 0, sizeof(pxe_mode.dhcp_ack.boot_file));
	memcpy(pxe_mode.dhcp_ack.server_address, "\x0a\0\2\2", 4);
	assert_int_equal(start(), EFI_NOT_FOUND);
	assert_console(LOG_ERROR, "from the TFTP server 10.0.2.2, in its root");
}

static void a_server_that_goes_away_is_named(void **state)
{
	(void)state;
	fake.has_pxe = true;
	fake.files = in_lab;
	fake.pxe_status = EFI_TIMEOUT;
	assert_int_equal(start(), EFI_LOAD_ERROR);
	assert_console(LOG_ERROR, "file \"lab/vellum.cfg\" of 47 bytes from the TFTP server "
				  "10.0.2.2: the server does not answer");
	assert_int_equal(fake.exits, 0);
}

static void a_short_transfer_is_named(void **state)
{
	(void)state;
	fake.has_pxe = true;
	fake.files = in_lab;
	fake.pxe_cut = 6;
	assert_int_equal(start(), EFI_LOAD_ERROR);
	assert_console(LOG_ERROR, "ends after 41 of 47 bytes: is it cut short?");
}

static void a_file_cut_short_is_named(void **state)
{
	static const struct fake_file cut[] = {{"kernel", "ten bytes.", 4000}, {0}};

	(void)state;
	fake.has_file_system = true;
	fake.files = cut;
	assert_int_equal(start(), EFI_LOAD_ERROR);
	assert_console(LOG_ERROR, "file \"kernel\" ends after 10 of 4000 bytes");
}

static void a_missing_file_is_named(void **state)
{
	static const struct fake_file no_initrd[] = {
		{"vellum.cfg", config, sizeof(config) - 1}, {"bz", "k", 1}, {0}};

	(void)state;
	fake.has_file_system = true;
	fake.files = no_initrd;
	assert_int_equal(start(), EFI_NOT_FOUND);
	assert_console(LOG_ERROR, "no initrd \"rd\" from the file system that Vellum came from");
	restart(state);
	fake.has_file_system = true;
	set_options("initrd=gone");
	assert_int_equal(start(), EFI_NOT_FOUND);
	assert_console(LOG_ERROR, "no file \"gone\"");
}

static void no_guest_at_all_is_named_on_the_screen_too(void **state)
{
	(void)state;
	assert_int_equal(start(), EFI_NOT_FOUND);
	assert_console(LOG_ERROR, "no kernel \"kernel\" from nowhere");
	restart(state);
	image.device = NULL;
	assert_int_equal(start(), EFI_NOT_FOUND);
	assert_int_equal(fake.exits, 0);
}

static void secure_boot_is_named(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	fake.secure_boot = 1;
	assert_int_equal(start(), EFI_SECURITY_VIOLATION);
	assert_console(LOG_ERROR, "Secure Boot is on");
	assert_console(LOG_ERROR, "switch Secure Boot off");
}

static void options_that_are_no_text_are_ignored(void **state)
{
	static const uint8_t guid[] = {0xac, 0x4e, 0x08, 0x81, 0x11, 0x9f, 0x59, 0x4d,
				       0x85, 0x0e, 0xe2, 0x1a, 0x52, 0x2c, 0x59, 0xb2};

	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	image.load_options = guid;
	image.load_options_size = sizeof(guid);
	assert_int_equal(start(), EFI_SUCCESS);
	assert_console(LOG_WARN, "load options of 16 bytes are no text");
	assert_string_equal(boot.command_line, "vmi=off");
}

static void options_may_lack_an_end(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	set_options("vmi=on");
	image.load_options_size -= 2;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_string_equal(boot.command_line, "vmi=on");
}

static void an_old_key_is_tried_again(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	fake.old_keys = 2;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_int_equal(fake.exits, 3);
	restart(state);
	fake.has_file_system = true;
	fake.files = whole;
	fake.old_keys = 100;
	assert_int_equal(start(), EFI_LOAD_ERROR);
	assert_console(LOG_ERROR, "does not end its boot services");
}

static void too_little_memory_is_named(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	fake.has_memory = false;
	assert_int_equal(start(), EFI_OUT_OF_RESOURCES);
	assert_console(LOG_ERROR,
		       "no 4 KiB of memory free in one piece below 4 GiB for vellum.cfg");
}

static void the_framebuffer_is_described(void **state)
{
	(void)state;
	fake.has_file_system = true;
	fake.files = whole;
	graphics_info = (struct efi_graphics_info){
		.width = 800, .height = 600, .pixel_format = EFI_PIXEL_BGR, .pixels_per_line = 832};
	graphics_mode.info = &graphics_info;
	graphics_mode.framebuffer_base = 0x80000000;
	graphics.mode = &graphics_mode;
	assert_int_equal(start(), EFI_SUCCESS);
	assert_int_equal(boot.framebuffer.address, 0x80000000);
	assert_int_equal(boot.framebuffer.width, 800);
	assert_int_equal(boot.framebuffer.pitch, 832 * 4);
	assert_int_equal(boot.framebuffer.bits_per_pixel, 32);
	assert_int_equal(boot.framebuffer.red_position, 16);
	assert_int_equal(boot.framebuffer.blue_position, 0);
	graphics_info.pixel_format = EFI_PIXEL_BIT_MASK;
	graphics_info.red_mask = 0xf800;
	graphics_info.green_mask = 0x07e0;
	graphics_info.blue_mask = 0x001f;
	efi_free_all(&services);
	memset(&efi_found, 0, sizeof(efi_found));
	assert_int_equal(start(), EFI_SUCCESS);
	assert_int_equal(boot.framebuffer.bits_per_pixel, 16);
	assert_int_equal(boot.framebuffer.red_position, 11);
	assert_int_equal(boot.framebuffer.green_size, 6);
	graphics_info.pixel_format = EFI_PIXEL_BLT_ONLY;
	efi_free_all(&services);
	memset(&efi_found, 0, sizeof(efi_found));
	assert_int_equal(start(), EFI_SUCCESS);
	assert_int_equal(boot.framebuffer.width, 0);
}

static void the_maps_sizes_are_not_believed(void **state)
{
	struct efi_memory_descriptor huge[2] = {
		{EFI_CONVENTIONAL_MEMORY, 0, 0x100000, 0, UINT64_MAX, 0},
		{EFI_UNUSABLE_MEMORY, 0, 0, 0, 1, 0}};
	struct e820_map map;

	(void)state;
	assert_int_equal(efi_memory_to_e820(huge, sizeof(huge), sizeof(huge[0]), &map), 0);
	assert_int_equal(map.count, 2);
	assert_int_equal(efi_memory_to_e820(huge, sizeof(huge) - 1, sizeof(huge[0]), &map), 0);
	assert_int_equal(map.count, 1);
	assert_int_equal(efi_memory_to_e820(huge, sizeof(huge), 0, &map), -EINVAL);
	assert_int_equal(efi_memory_to_e820(huge, 0, 40, &map), -ENOENT);
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(files_beside_the_image_are_the_guest),
		with_setup(uefi_itself_is_kept_for_the_guest),
		with_setup(a_map_that_cant_be_kept_is_named),
		with_setup(the_images_own_folder_comes_first),
		with_setup(the_loaders_words_come_first),
		with_setup(a_file_name_alone_is_no_word),
		with_setup(initrds_may_be_named),
		with_setup(an_offered_initrd_comes_before_all),
		with_setup(files_come_by_tftp_from_the_boot_files_folder),
		with_setup(a_proxys_answer_counts),
		with_setup(broken_options_are_not_followed),
		with_setup(a_server_that_goes_away_is_named),
		with_setup(a_short_transfer_is_named),
		with_setup(a_file_cut_short_is_named),
		with_setup(a_missing_file_is_named),
		with_setup(no_guest_at_all_is_named_on_the_screen_too),
		with_setup(secure_boot_is_named),
		with_setup(options_that_are_no_text_are_ignored),
		with_setup(options_may_lack_an_end),
		with_setup(an_old_key_is_tried_again),
		with_setup(too_little_memory_is_named),
		with_setup(the_framebuffer_is_described),
		with_setup(the_maps_sizes_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
