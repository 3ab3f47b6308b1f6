// SPDX-License-Identifier: GPL-2.0-only
/* Multiboot 2 information in an arena, right and wrong in every way a loader could be. */
#include "support.h"

#include "boot/boot.h"
#include "boot/efi_tables.h"
#include "boot/multiboot2.h"
#include "boot/multiboot2_format.h"
#include "dev/acpi.h"
#include "dev/acpi_tables.h"
#include "lib/errno.h"

#include <string.h>

#define ARENA_SIZE (2 * MIB)
#define INFO_AT	   0x9000
#define SYSTEM_AT  0x20000
#define TABLES_AT  0x21000
#define RSDP_AT	   0x22000

static struct boot_info boot;
static uint32_t next; /* where the next tag goes */

static struct multiboot2_info *info(void)
{
	return arena_at(INFO_AT);
}

/* size: of the tag without the padding. Returns where it lies. */
static void *add_tag(uint32_t type, uint32_t size)
{
	struct multiboot2_tag *tag = arena_at(INFO_AT + next);

	tag->type = type;
	tag->size = size;
	next += (uint32_t)align_up(size, MULTIBOOT2_TAG_ALIGN);
	info()->total_size = next;
	return tag;
}

static void add_string(uint32_t type, const char *text)
{
	struct multiboot2_tag *tag = add_tag(type, (uint32_t)(sizeof(*tag) + strlen(text) + 1));

	strcpy((char *)(tag + 1), text);
}

static void add_module(uint32_t start, uint32_t end, const char *text)
{
	struct multiboot2_module *module =
		add_tag(MULTIBOOT2_TAG_MODULE, (uint32_t)(sizeof(*module) + strlen(text) + 1));

	module->start = start;
	module->end = end;
	strcpy((char *)(module + 1), text);
}

static struct multiboot2_mmap *add_mmap(uint32_t entry_size)
{
	static const struct multiboot2_mmap_entry entries[] = {
		{0x100000, 0x100000, E820_RAM, 0},
		{0, 0x9fc00, E820_RAM, 0},
		{0x9fc00, 0x400, E820_RESERVED, 0},
	};
	struct multiboot2_mmap *mmap = add_tag(
		MULTIBOOT2_TAG_MMAP, (uint32_t)(sizeof(*mmap) + ARRAY_SIZE(entries) * entry_size));

	mmap->entry_size = entry_size;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		memcpy((uint8_t *)(mmap + 1) + i * entry_size, &entries[i], sizeof(entries[i]));
	return mmap;
}

static int setup(void **state)
{
	(void)state;
	arena_create(ARENA_SIZE);
	console_clear();
	next = sizeof(struct multiboot2_info);
	add_string(MULTIBOOT2_TAG_CMDLINE, "mode=hv");
	add_string(MULTIBOOT2_TAG_LOADER_NAME, "GRUB 2.06");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	acpi_set_rsdp(hpa(0));
	arena_free();
	return 0;
}

static int read(void)
{
	add_tag(MULTIBOOT2_TAG_END, sizeof(struct multiboot2_tag));
	memset(&boot, 0xee, sizeof(boot));
	return boot_read(MULTIBOOT2_BOOTLOADER_MAGIC, hpa(INFO_AT), &boot);
}

static void everything_is_copied(void **state)
{
	(void)state;
	add_mmap(sizeof(struct multiboot2_mmap_entry));
	add_module(0x110000, 0x112345, "bzImage quiet");
	add_module(0x113000, 0x113000, "");
	add_tag(99, 33); /* one from a later revision */
	assert_int_equal(read(), 0);
	assert_console_quiet();
	memset(arena_at(0), 0xff, ARENA_SIZE);
	assert_string_equal(boot.command_line, "mode=hv");
	assert_string_equal(boot.loader, "GRUB 2.06");
	assert_int_equal(boot.memory.count, 3);
	assert_int_equal(e820_ram_size(&boot.memory), 0x9fc00 + 0x100000);
	assert_int_equal(boot.module_count, 2);
	assert_int_equal(boot.module[0].start.raw, 0x110000);
	assert_int_equal(boot.module[0].size, 0x2345);
	assert_string_equal(boot.module[0].string, "bzImage quiet");
	assert_string_equal(boot.module[1].string, "");
	assert_int_equal(boot.framebuffer.width, 0);
	assert_int_equal(boot.rsdp.raw, 0);
}

static void map_entries_may_be_larger(void **state)
{
	(void)state;
	add_mmap(40);
	assert_int_equal(read(), 0);
	assert_int_equal(e820_ram_size(&boot.memory), 0x9fc00 + 0x100000);
}

static void map_entries_may_not_be_smaller(void **state)
{
	(void)state;
	add_mmap(24)->entry_size = 0;
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "entries have 0 bytes, at least 24 needed");
}

static void no_map_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(read(), -ENOENT);
	assert_console(LOG_ERROR, "no RAM in its 0 ranges");
}

static void too_small_tags_are_errors(void **state)
{
	(void)state;
	add_mmap(24);
	add_tag(MULTIBOOT2_TAG_MODULE, 12);
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "tag of type 3 at 0x90");
	assert_console(LOG_ERROR, "has 12 bytes, at least 16 needed");
}

/* A size of 0 would loop, others would lead out of the information. */
static void tags_must_fit_into_the_information(void **state)
{
	static const uint32_t sizes[] = {0, 7, 0x1000, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct multiboot2_tag *tag;

		setup(state);
		add_mmap(24);
		tag = add_tag(99, 8);
		tag->size = sizes[i];
		assert_int_equal(read(), -EINVAL);
		assert_console(LOG_ERROR, "does not fit into the information");
	}
}

static void the_end_must_be_there(void **state)
{
	(void)state;
	add_mmap(24);
	assert_int_equal(multiboot2_read(hpa(INFO_AT), &boot), -EINVAL);
	assert_console(LOG_ERROR, "does not fit into the information");
}

static void information_must_be_in_memory(void **state)
{
	(void)state;
	assert_int_equal(multiboot2_read(hpa(ARENA_SIZE - 4), &boot), -EINVAL);
	assert_int_equal(multiboot2_read(hpa(UINT64_MAX - 3), &boot), -EINVAL);
	info()->total_size = ARENA_SIZE;
	assert_int_equal(multiboot2_read(hpa(INFO_AT), &boot), -EINVAL);
	assert_console(LOG_ERROR, "out of memory");
}

/* Its NUL is not within the tag: the next tag is no part of it. */
static void strings_end_with_their_tag(void **state)
{
	struct multiboot2_tag *tag;

	(void)state;
	add_mmap(24);
	tag = add_tag(MULTIBOOT2_TAG_CMDLINE, sizeof(*tag) + 8);
	memcpy(tag + 1, "vmi=offX", 8);
	assert_int_equal(read(), 0);
	assert_string_equal(boot.command_line, "vmi=offX");
}

static void modules_must_be_in_memory(void **state)
{
	(void)state;
	add_mmap(24);
	add_module(0x100000, ARENA_SIZE + 1, "x");
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "module 0 ends at 0x200001, beyond the memory mapped, 0x200000");
}

static void only_a_direct_colour_framebuffer_counts(void **state)
{
	struct multiboot2_framebuffer *fb;

	(void)state;
	add_mmap(24);
	fb = add_tag(MULTIBOOT2_TAG_FRAMEBUFFER, sizeof(*fb));
	fb->address = 0x1fd000000;
	fb->pitch = 3200;
	fb->width = 800;
	fb->height = 600;
	fb->bits_per_pixel = 32;
	fb->red_position = 16;
	fb->type = 2; /* text */
	assert_int_equal(read(), 0);
	assert_int_equal(boot.framebuffer.width, 0);
	fb->type = 1;
	assert_int_equal(multiboot2_read(hpa(INFO_AT), &boot), 0);
	assert_int_equal(boot.framebuffer.address, 0x1fd000000);
	assert_int_equal(boot.framebuffer.width, 800);
	assert_int_equal(boot.framebuffer.red_position, 16);
}

static void put_efi_tables(uint64_t count)
{
	struct efi_system_table *system = arena_at(SYSTEM_AT);
	struct efi_configuration_table *tables = arena_at(TABLES_AT);
	struct acpi_rsdp *rsdp = arena_at(RSDP_AT);
	uint8_t sum = 0;

	system->header.signature = EFI_SYSTEM_TABLE_SIGNATURE;
	system->table_count = count;
	system->tables = (const void *)(uintptr_t)TABLES_AT;
	tables[0] = (struct efi_configuration_table){
		{0xeb9d2d30, 0x2d88, 0x11d3, {0x9a, 0x16, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d}},
		0x1234};
	tables[1] = (struct efi_configuration_table){
		{0x8868e871, 0xe4f1, 0x11d3, {0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81}},
		RSDP_AT};
	memcpy(rsdp->signature, ACPI_RSDP_SIGNATURE, ACPI_RSDP_SIGNATURE_SIZE);
	for (int i = 0; i < ACPI_RSDP_V1_SIZE; i++)
		sum = (uint8_t)(sum + ((uint8_t *)rsdp)[i]);
	rsdp->checksum = (uint8_t)-sum;
}

static void add_system_table(void)
{
	struct multiboot2_efi64 *tag = add_tag(MULTIBOOT2_TAG_EFI64, sizeof(*tag));

	tag->system_table = SYSTEM_AT;
}

static void the_newer_root_pointer_of_uefi_is_used(void **state)
{
	(void)state;
	add_mmap(24);
	put_efi_tables(2);
	add_system_table();
	assert_int_equal(read(), 0);
	assert_int_equal(boot.rsdp.raw, RSDP_AT);
	assert_int_equal(acpi_find_rsdp().raw, RSDP_AT);
}

static void a_root_pointer_that_is_none_is_searched_elsewhere(void **state)
{
	(void)state;
	add_mmap(24);
	put_efi_tables(1);
	add_system_table();
	assert_int_equal(read(), 0);
	assert_int_equal(boot.rsdp.raw, 0x1234);
	assert_int_equal(acpi_find_rsdp().raw, 0);
}

static void wrong_efi_tables_are_not_followed(void **state)
{
	struct efi_system_table *system = arena_at(SYSTEM_AT);

	(void)state;
	put_efi_tables(UINT64_MAX / 4);
	assert_int_equal(efi_find_rsdp(SYSTEM_AT).raw, 0);
	put_efi_tables(2);
	assert_int_equal(efi_find_rsdp(SYSTEM_AT).raw, RSDP_AT);
	assert_int_equal(efi_find_rsdp(SYSTEM_AT + 8).raw, 0);
	assert_int_equal(efi_find_rsdp(ARENA_SIZE - 8).raw, 0);
	system->tables = (const void *)(uintptr_t)(ARENA_SIZE - 8);
	assert_int_equal(efi_find_rsdp(SYSTEM_AT).raw, 0);
	system->tables = (const void *)UINTPTR_MAX;
	assert_int_equal(efi_find_rsdp(SYSTEM_AT).raw, 0);
}

static void an_unknown_magic_is_named(void **state)
{
	(void)state;
	assert_int_equal(boot_read(0x12345678, hpa(INFO_AT), &boot), -EINVAL);
	assert_console(LOG_ERROR, "magic is 0x12345678");
}

/* Whatever the bytes are, nothing outside of the arena is touched, and it ends. */
static void random_information_does_no_harm(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		setup(state);
		add_mmap(24);
		add_module(0x100000, 0x100010, "k");
		add_system_table();
		put_efi_tables(2);
		add_tag(MULTIBOOT2_TAG_END, sizeof(struct multiboot2_tag));
		for (int i = 0; i < 4; i++) {
			uint8_t *byte = arena_at(INFO_AT + random_below(&seed, next));

			*byte = (uint8_t)random_next(&seed);
		}
		multiboot2_read(hpa(INFO_AT), &boot);
	}
}

static void uefis_map_is_kept(void **state)
{
	struct multiboot2_efi_mmap *tag;
	struct efi_memory_descriptor *descriptor;

	(void)state;
	add_mmap(sizeof(struct multiboot2_mmap_entry));
	put_efi_tables(2);
	((struct multiboot2_efi64 *)add_tag(MULTIBOOT2_TAG_EFI64, sizeof(struct multiboot2_efi64)))
		->system_table = SYSTEM_AT;
	tag = add_tag(MULTIBOOT2_TAG_EFI_MMAP, sizeof(*tag) + 3 * sizeof(*descriptor));
	tag->stride = sizeof(*descriptor);
	tag->version = 1;
	descriptor = (struct efi_memory_descriptor *)(tag + 1);
	descriptor[2].pages = 0x1234;
	assert_int_equal(read(), 0);
	assert_console_quiet();
	assert_true(boot.efi.is_there);
	assert_int_equal(boot.efi.system_table, SYSTEM_AT);
	assert_int_equal(boot.efi.map_size, 3 * sizeof(*descriptor));
	assert_int_equal(boot.efi.map_version, 1);
	assert_int_equal(((const struct efi_memory_descriptor *)boot.efi.map)[2].pages, 0x1234);
}

static void a_map_tag_without_a_head_is_an_error(void **state)
{
	(void)state;
	add_mmap(sizeof(struct multiboot2_mmap_entry));
	add_tag(MULTIBOOT2_TAG_EFI_MMAP, sizeof(struct multiboot2_tag));
	assert_int_equal(read(), -EINVAL);
	assert_console(LOG_ERROR, "the tag of type 17");
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(everything_is_copied),
		with_setup(map_entries_may_be_larger),
		with_setup(map_entries_may_not_be_smaller),
		with_setup(no_map_is_an_error),
		with_setup(too_small_tags_are_errors),
		with_setup(tags_must_fit_into_the_information),
		with_setup(the_end_must_be_there),
		with_setup(information_must_be_in_memory),
		with_setup(strings_end_with_their_tag),
		with_setup(modules_must_be_in_memory),
		with_setup(only_a_direct_colour_framebuffer_counts),
		with_setup(the_newer_root_pointer_of_uefi_is_used),
		with_setup(a_root_pointer_that_is_none_is_searched_elsewhere),
		with_setup(wrong_efi_tables_are_not_followed),
		with_setup(uefis_map_is_kept),
		with_setup(a_map_tag_without_a_head_is_an_error),
		with_setup(an_unknown_magic_is_named),
		with_setup(random_information_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
