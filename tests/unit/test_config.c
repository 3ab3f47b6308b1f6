// SPDX-License-Identifier: GPL-2.0-only
/* vellum.cfg: right lines, wrong lines, any bytes. */
#include "support.h"

#include "guest/config.h"

#include <stdlib.h>
#include <string.h>

static struct guest_config config;

static int setup(void **state)
{
	(void)state;
	console_clear();
	return 0;
}

static void parse(const char *text)
{
	memset(&config, 0xee, sizeof(config));
	config_parse(&config, text, strlen(text));
}

static void every_name_is_read(void **state)
{
	(void)state;
	parse("# what to start\n"
	      "kernel=bzImage\n"
	      "\n"
	      "  initrd = initramfs.cpio \r\n"
	      "append=console=ttyS0 quiet\n"
	      "words=mode=hv vmi=off");
	assert_string_equal(config.kernel, "bzImage");
	assert_string_equal(config.initrd, "initramfs.cpio");
	assert_string_equal(config.append, "console=ttyS0 quiet");
	assert_string_equal(config.words, "mode=hv vmi=off");
	assert_true(config_wants_initrd(&config));
	assert_console_quiet();
}

static void what_is_not_named_has_defaults(void **state)
{
	(void)state;
	parse("");
	assert_string_equal(config.kernel, "kernel");
	assert_string_equal(config.initrd, "initrd");
	assert_string_equal(config.append, "");
	assert_string_equal(config.words, "");
	assert_false(config_wants_initrd(&config));
}

static void an_initrd_can_be_unwanted(void **state)
{
	(void)state;
	parse("initrd=\n");
	assert_string_equal(config.initrd, "");
	assert_false(config_wants_initrd(&config));
}

static void the_last_of_two_wins(void **state)
{
	(void)state;
	parse("kernel=a\nkernel=b\n");
	assert_string_equal(config.kernel, "b");
}

static void wrong_lines_are_named_and_ignored(void **state)
{
	(void)state;
	parse("kernel bzImage\ncolour=red\nkernel=my kernel\nkernelx=a\n=b\nkernel=k\n");
	assert_string_equal(config.kernel, "k");
	assert_console(LOG_WARN, "vellum.cfg line 1: \"kernel bzImage\" is ignored");
	assert_console(LOG_WARN, "vellum.cfg line 2: \"colour=red\" is ignored");
	assert_console(LOG_WARN, "vellum.cfg line 3: kernel= takes a file name without blanks");
	assert_int_equal(console_count(LOG_WARN), 5);
}

static void a_value_that_is_too_long_is_ignored(void **state)
{
	char text[CONFIG_NAME_SIZE + 16];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "kernel=", 7);
	config_parse(&config, text, 7 + CONFIG_NAME_SIZE);
	assert_console(LOG_WARN, "kernel= has 256 bytes, at most 255 fit");
	assert_string_equal(config.kernel, "kernel");
	config_parse(&config, text, 7 + CONFIG_NAME_SIZE - 1);
	assert_int_equal(strlen(config.kernel), CONFIG_NAME_SIZE - 1);
}

static void paths_and_urls_do_not_count(void **state)
{
	(void)state;
	assert_true(config_same_file("tftp://10.0.2.2/x/bzImage", "boot/bzImage"));
	assert_true(config_same_file("http://server/bzImage", "./bzImage"));
	assert_true(config_same_file("\\EFI\\bzImage", "bzImage"));
	assert_false(config_same_file("bzImage", "bzImage.old"));
	assert_false(config_same_file("a/", "b"));
}

/* In a buffer of its own, so that a read behind the end is seen. */
static void random_text_does_no_harm(void **state)
{
	static const char alphabet[] = "kernel=initrdappendwords= \n\n#\r\0=";
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		size_t size = random_below(&seed, 80);
		char *text = malloc(size + 1);

		for (size_t i = 0; i < size; i++)
			text[i] = alphabet[random_below(&seed, sizeof(alphabet))];
		text = realloc(text, size ? size : 1);
		config_parse(&config, text, size);
		assert_true(memchr(config.kernel, 0, sizeof(config.kernel)) != NULL);
		assert_true(memchr(config.words, 0, sizeof(config.words)) != NULL);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, setup)
		T(every_name_is_read),
		T(what_is_not_named_has_defaults),
		T(an_initrd_can_be_unwanted),
		T(the_last_of_two_wins),
		T(wrong_lines_are_named_and_ignored),
		T(a_value_that_is_too_long_is_ignored),
		T(paths_and_urls_do_not_count),
		T(random_text_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
