// SPDX-License-Identifier: GPL-2.0-only
/* A guest in one archive: whole, cut at every byte, and with every byte changed. */
#include "support.h"

#include "guest/pack.h"
#include "lib/errno.h"

#include <stdio.h>
#include <string.h>

#define ARENA_SIZE (2 * MIB)
#define ARCHIVE_AT 0x10000
#define FILE_MODE  0100644
#define DIR_MODE   040755

static struct boot_info boot;
static uint64_t used; /* bytes of the archive so far */

static void add_named(const char *name, size_t name_size, uint32_t mode, const void *data,
		      size_t size)
{
	char *at = arena_at(ARCHIVE_AT + used);

	sprintf(at, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 1u, mode, 0u, 0u,
		1u, 0u, (unsigned int)size, 0u, 0u, 0u, 0u, (unsigned int)name_size, 0u);
	memcpy(at + 110, name, name_size);
	used = align_up(used + 110 + name_size, 4);
	memcpy(arena_at(ARCHIVE_AT + used), data, size);
	used = align_up(used + size, 4);
}

static void add(const char *name, uint32_t mode, const void *data, size_t size)
{
	add_named(name, strlen(name) + 1, mode, data, size);
}

static void add_text(const char *name, const char *text)
{
	add(name, FILE_MODE, text, strlen(text));
}

static void add_end(void)
{
	add("TRAILER!!!", 0, "", 0);
}

static int setup(void **state)
{
	(void)state;
	arena_create(ARENA_SIZE);
	console_clear();
	memset(&boot, 0, sizeof(boot));
	used = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static int open_pack(void)
{
	boot.module_count = 1;
	boot.module[0].start = hpa(ARCHIVE_AT);
	boot.module[0].size = used;
	boot.module[0].string[0] = '\0';
	return pack_open(&boot);
}

static void assert_module(unsigned int index, const char *contents, const char *string)
{
	const struct boot_module *module = &boot.module[index];

	assert_int_equal(module->size, strlen(contents));
	assert_memory_equal(arena_at(module->start.raw), contents, module->size);
	assert_string_equal(module->string, string);
}

static void add_guest(void)
{
	add_text("vellum.cfg",
		 "kernel=bzImage\ninitrd=root.cpio\nappend=quiet a=b\nwords=vmi=off\n");
	add("boot", DIR_MODE, "", 0);
	add_text("boot/bzImage", "the kernel");
	add_text("./root.cpio", "the initrd of the guest");
	add_end();
}

static void the_files_become_modules_where_they_lie(void **state)
{
	(void)state;
	add_guest();
	assert_int_equal(open_pack(), 0);
	assert_int_equal(boot.module_count, 2);
	assert_module(0, "the kernel", "bzImage quiet a=b");
	assert_module(1, "the initrd of the guest", "root.cpio ");
	assert_true(boot.module[0].start.raw > ARCHIVE_AT);
	assert_string_equal(boot.command_line, "vmi=off");
	assert_console_quiet();
}

static void the_loaders_words_come_first(void **state)
{
	(void)state;
	strcpy(boot.command_line, "vmi=on");
	add_guest();
	assert_int_equal(open_pack(), 0);
	assert_string_equal(boot.command_line, "vmi=on");
}

/* What GRUB's newc: and iPXE's names give: no trailer, or one archive for each file. */
static void archives_may_follow_one_another(void **state)
{
	(void)state;
	add_text("kernel", "K");
	used += 512; /* zeros */
	add_text("initrd", "I");
	add_end();
	used = align_up(used, 512);
	assert_int_equal(open_pack(), 0);
	assert_module(0, "K", "kernel ");
	assert_module(1, "I", "initrd ");
}

/* As GRUB 2.06 writes them. Behind "kernel" the data follows at once. */
static void names_may_lack_their_nul(void **state)
{
	(void)state;
	add_named("kernel", 6, FILE_MODE, "K", 1);
	add_named("initrd", 6, FILE_MODE, "I", 1);
	add_named("TRAILER!!!", 10, 0, "", 0);
	assert_int_equal(open_pack(), 0);
	assert_module(0, "K", "kernel ");
	assert_module(1, "I", "initrd ");
}

static void the_last_file_of_a_name_wins(void **state)
{
	(void)state;
	add_guest();
	add_text("vellum.cfg", "kernel=other\n");
	add_text("other", "O");
	assert_int_equal(open_pack(), 0);
	assert_int_equal(boot.module_count, 1);
	assert_module(0, "O", "other ");
}

static void a_kernel_alone_will_do(void **state)
{
	(void)state;
	add_text("kernel", "K");
	assert_int_equal(open_pack(), 0);
	assert_int_equal(boot.module_count, 1);
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	add_text("etc/passwd", "root");
	add_end();
	assert_int_equal(open_pack(), -ENOENT);
	assert_console(LOG_ERROR,
		       "the kernel \"kernel\" is not in it; it has 1 files, the first is "
		       "\"etc/passwd\"");
	setup(state);
	add_text("vellum.cfg", "initrd=gone.cpio\n");
	add_text("kernel", "K");
	assert_int_equal(open_pack(), -ENOENT);
	assert_console(LOG_ERROR, "the initrd \"gone.cpio\" is not in it; it has 2 files");
}

static void what_is_no_archive_is_left_alone(void **state)
{
	(void)state;
	strcpy(arena_at(ARCHIVE_AT), "MZ, a kernel");
	used = 4096;
	assert_int_equal(open_pack(), 0);
	assert_int_equal(boot.module[0].start.raw, ARCHIVE_AT);
	used = 109; /* less than a header */
	memcpy(arena_at(ARCHIVE_AT), "070701", 6);
	assert_int_equal(open_pack(), 0);
	boot.module_count = 2;
	assert_int_equal(pack_open(&boot), 0);
	boot.module_count = 0;
	assert_int_equal(pack_open(&boot), 0);
}

static void a_file_cut_short_is_told(void **state)
{
	(void)state;
	add_text("kernel", "a kernel of thirty-three bytes...");
	used -= 8;
	assert_int_equal(open_pack(), -EINVAL);
	assert_console(LOG_ERROR, "kernel ends at byte 153, but the archive has only 148");
	assert_console(LOG_ERROR, "was the file cut short?");
}

/* Only where one entry ends is a shorter archive a right one. */
static void every_cut_is_seen_or_leaves_whole_entries(void **state)
{
	uint64_t whole;

	(void)state;
	add_guest();
	whole = used;
	/* At the arena's end, where a read behind the archive is a crash */
	for (used = 0; used < whole; used++) {
		uint64_t at = ARENA_SIZE - used;

		memcpy(arena_at(at), arena_at(ARCHIVE_AT), used);
		memset(&boot, 0, sizeof(boot));
		boot.module_count = 1;
		boot.module[0].start = hpa(at);
		boot.module[0].size = used;
		if (pack_open(&boot) == 0 && boot.module_count == 2)
			assert_module(1, "the initrd of the guest", "root.cpio ");
	}
}

static void every_changed_byte_does_no_harm(void **state)
{
	uint64_t seed = 3, whole;

	(void)state;
	add_guest();
	whole = used;
	for (uint64_t i = 0; i < whole * 8; i++) {
		uint64_t at = ARENA_SIZE - whole;
		uint8_t *byte = arena_at(at + i / 8);

		memcpy(arena_at(at), arena_at(ARCHIVE_AT), whole);
		*byte = i % 2 ? (uint8_t)random_next(&seed) : (uint8_t) "0f8F/:g "[i / 2 % 8];
		memset(&boot, 0, sizeof(boot));
		boot.module_count = 1;
		boot.module[0].start = hpa(at);
		boot.module[0].size = whole;
		if (pack_open(&boot) != 0)
			continue;
		for (unsigned int m = 0; m < boot.module_count; m++) {
			assert_true(boot.module[m].start.raw >= at);
			assert_true(boot.module[m].start.raw + boot.module[m].size <= at + whole);
		}
	}
}

static void a_long_command_line_is_cut_with_a_warning(void **state)
{
	char words[BOOT_STRING_SIZE];

	(void)state;
	memset(words, 'x', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	pack_set_string(&boot.module[0], "k", words);
	assert_int_equal(strlen(boot.module[0].string), BOOT_STRING_SIZE - 1);
	assert_console(LOG_WARN, "the command line for \"k\" is longer than 2047 bytes");
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(the_files_become_modules_where_they_lie),
		with_setup(the_loaders_words_come_first),
		with_setup(archives_may_follow_one_another),
		with_setup(names_may_lack_their_nul),
		with_setup(the_last_file_of_a_name_wins),
		with_setup(a_kernel_alone_will_do),
		with_setup(what_is_missing_is_named),
		with_setup(what_is_no_archive_is_left_alone),
		with_setup(a_file_cut_short_is_told),
		with_setup(every_cut_is_seen_or_leaves_whole_entries),
		with_setup(every_changed_byte_does_no_harm),
		with_setup(a_long_command_line_is_cut_with_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
