// SPDX-License-Identifier: GPL-2.0-only
/*
 * From power-on to launch, the parts that decide something: what the guest's memory is,
 * whether it runs virtualized, and how many processors it gets.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "mm/guest_walk.h"

#define VELLUM_VERSION "1.2"
#include "core/main.c"

#define RAM_END	 (16 * MIB)
#define LOW_PAGE 0x9e000
#define KEPT	 (8 * MIB) /* of the 16, so that it is no end of the largest RAM */

const struct vendor *vendor;

static unsigned int cpus_listed, cpus_kept;  /* in the MADT */
static unsigned int cpus_usable, cpus_given; /* in smp.c */
static int vendor_error;

static uint64_t kept_size;

int image_move_to_top(const struct boot_info *info, uint64_t size, struct kept_memory *keep)
{
	(void)info;
	kept_size = size;
	*keep = (struct kept_memory){KEPT, 4 * MIB};
	return 0;
}

static bool has_nested;

int vendor_select(bool *shadow, char *why, size_t size)
{
	*shadow |= !has_nested;
	text_format(why, size, "it is too old");
	return vendor_error;
}

unsigned int acpi_count_cpus(void)
{
	return cpus_listed;
}

int acpi_disable_cpus(unsigned int keep, uint32_t boot_apic_id)
{
	assert_int_equal(boot_apic_id, 5);
	cpus_kept = keep;
	return (int)keep;
}

static struct processor boot_processor = {.apic_id = 5};

struct processor *processor_boot(void)
{
	return &boot_processor;
}

/* The MADT is read before anything is taken out of it, and a page before the guest is placed. */
static unsigned int finds, pages_taken;

void smp_find_processors(void)
{
	finds++;
}

void smp_take_page(const struct boot_info *info, struct e820_map *map)
{
	assert_int_equal(finds, 1);
	assert_ptr_equal(info, &boot);
	assert_true(e820_covers(map, KEPT, kept.size, E820_RESERVED));
	assert_int_equal(e820_set_type(map, LOW_PAGE, PAGE_SIZE, E820_RESERVED), 0);
	pages_taken++;
}

unsigned int smp_present_count(void)
{
	return cpus_usable;
}

void smp_give(unsigned int count)
{
	cpus_given = count;
}

unsigned int smp_guest_count(void)
{
	return cpus_given;
}

/* ---- what is not reached here ---- */

int smp_prepare(void)
{
	return -ENOMEM;
}

void exception_load(struct descriptor_tables *tables)
{
	(void)tables;
}

void exception_init(void)
{
}

void console_set_speed(unsigned int baud)
{
	(void)baud;
}

void console_open(enum option_console choice)
{
	(void)choice;
}

int boot_read(uint32_t magic, hpa_t address, struct boot_info *info)
{
	(void)magic;
	(void)address;
	(void)info;
	return -EINVAL;
}

int guest_space_init(const struct kept_memory *keep, uint64_t ram_end)
{
	(void)keep;
	(void)ram_end;
	return -ENOMEM;
}

int rom_install(enum option_vmi vmi, const uint8_t hypercall[3])
{
	(void)vmi;
	(void)hypercall;
	return -ENOMEM;
}

enum option_guest loader_guest_kind(const struct boot_info *info, enum option_guest wish)
{
	(void)info;
	return wish;
}

int loader_load(const struct boot_info *info, const struct e820_map *map, unsigned int disk,
		enum option_guest kind, struct guest_entry *entry)
{
	(void)info;
	(void)map;
	(void)disk;
	(void)kind;
	(void)entry;
	return -ENOENT;
}

int launch_guest(const struct guest_entry *entry)
{
	(void)entry;
	return -ENOMEM;
}

int launch_native(const struct guest_entry *entry)
{
	(void)entry;
	return -ENOMEM;
}

void power_init(void)
{
}

void policy_find_power_ports(void)
{
}

void exit_cpuid_init(void)
{
}

void record_boot(const struct record_boot *record)
{
	(void)record;
}

void panic_set_activity(const char *text)
{
	(void)text;
}

void stop_after_error(void)
{
	fail();
	__builtin_unreachable();
}

/* ---- the tests ---- */

static int make_machine(void **state)
{
	(void)state;
	console_clear();
	arena_create(RAM_END);
	memset(&boot, 0, sizeof(boot));
	e820_add(&boot.memory, 1 * MIB, RAM_END - 1 * MIB, E820_RAM);
	cmdline_parse("", &options);
	vendor_error = 0;
	has_nested = true;
	guest_kind = GUEST_LINUX;
	cpus_listed = cpus_kept = cpus_given = finds = pages_taken = 0;
	cpus_usable = 1;
	return 0;
}

static void what_vellum_keeps_is_reserved_in_the_guests_map(void **state)
{
	(void)state;
	assert_int_equal(claim_memory(), 0);
	assert_true(e820_covers(&guest_map, KEPT, kept.size, E820_RESERVED));
	assert_int_equal(e820_ram_size(&guest_map), RAM_END - 1 * MIB - kept.size);
	assert_true(e820_covers(&boot.memory, KEPT, kept.size, E820_RAM));
}

/* Neither the general look-up nor the short cut that every exit takes may lead there. */
static void what_vellum_keeps_is_out_of_the_guests_reach(void **state)
{
	(void)state;
	assert_int_equal(claim_memory(), 0);
	for (uint64_t page = KEPT; page < KEPT + kept.size; page += PAGE_SIZE) {
		assert_null(guest_memory_find(gpa(page), 1));
		assert_false(guest_main_ram_has(page));
		assert_false(guest_main_ram_has(page + PAGE_SIZE - 1));
	}
	assert_true(guest_main_ram_has(KEPT - PAGE_SIZE));
}

static void a_machine_without_virtualization_runs_natively_and_says_why(void **state)
{
	(void)state;
	vendor_error = -ENODEV;
	choose_mode();
	assert_int_equal(options.mode, MODE_NATIVE);
	assert_console(LOG_WARN, "running the guest natively: it is too old");
}

static void a_machine_with_virtualization_uses_it(void **state)
{
	(void)state;
	choose_mode();
	assert_int_equal(options.mode, MODE_HV);
	assert_console_quiet();
}

static void shadow_paging_has_memory_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(claim_memory(), 0);
	assert_int_equal(kept_size, IMAGE_KEEP_SIZE);
	options.paging = PAGING_SHADOW;
	choose_mode();
	finds = 0;
	assert_int_equal(claim_memory(), 0);
	assert_int_equal(kept_size, IMAGE_KEEP_SIZE + 2 * MIB);
	assert_int_equal(options.paging, PAGING_SHADOW);
}

static void a_processor_without_nested_paging_has_shadow_paging(void **state)
{
	(void)state;
	has_nested = false;
	choose_mode();
	assert_int_equal(options.paging, PAGING_SHADOW);
}

static void the_user_may_want_it_native(void **state)
{
	(void)state;
	vendor_error = -ENODEV;
	options.mode = MODE_NATIVE;
	choose_mode();
	assert_console_quiet();
}

static void the_page_where_processors_start_is_out_of_the_guests_map(void **state)
{
	(void)state;
	e820_add(&boot.memory, 0, 0x9fc00, E820_RAM);
	assert_int_equal(e820_normalize(&boot.memory), 0);
	assert_int_equal(claim_memory(), 0);
	assert_int_equal(pages_taken, 1);
	assert_null(guest_memory_find(gpa(LOW_PAGE), 1));
	assert_non_null(guest_memory_find(gpa(LOW_PAGE - 1), 1));
}

/* kept_ones: 0 if all stay in the tables */
static void assert_processors(unsigned int listed, unsigned int usable, unsigned int wanted,
			      unsigned int kept_ones, unsigned int given)
{
	cpus_listed = listed;
	cpus_usable = usable;
	cpus_kept = 0;
	options.cpus = wanted;
	limit_processors();
	assert_int_equal(cpus_kept, kept_ones);
	assert_int_equal(cpus_given, given);
}

static void a_guest_gets_as_many_processors_as_asked_for(void **state)
{
	(void)state;
	assert_processors(4, 4, 0, 0, 4);
	assert_processors(4, 4, 4, 0, 4);
	assert_processors(4, 4, 9, 0, 4);
	assert_processors(4, 4, 2, 2, 2);
	assert_processors(4, 4, 1, 1, 1);
	assert_processors(1, 1, 0, 0, 1);
	assert_console_quiet();
}

/* The guest's MP table may list more. */
static void without_a_madt_a_guest_gets_one_and_is_told_so(void **state)
{
	(void)state;
	boot.module_count = 1;
	string_copy(boot.module[0].string, "bzImage", sizeof(boot.module[0].string));
	assert_processors(0, 1, 0, 0, 1);
	assert_console(LOG_WARN, "no MADT");
	assert_string_equal(boot.module[0].string, "bzImage nr_cpus=1 maxcpus=1");
	options.mode = MODE_NATIVE;
	assert_processors(0, 1, 0, 0, 1);
	assert_string_equal(boot.module[0].string, "bzImage nr_cpus=1 maxcpus=1");
}

/* Without a page to start them in, or beyond Vellum's limit: the guest would start them itself. */
static void processors_that_vellum_can_not_use_are_not_the_guests(void **state)
{
	(void)state;
	assert_processors(4, 1, 0, 1, 1);
	assert_console(LOG_INFO, "the guest gets 1 of 4 processors");
	assert_processors(4, 1, 3, 1, 1);
	assert_processors(80, 64, 0, 64, 64);
	assert_processors(80, 64, 70, 64, 64);
}

static void a_native_guest_gets_as_many_as_asked_for(void **state)
{
	(void)state;
	options.mode = MODE_NATIVE;
	assert_processors(4, 4, 0, 0, 4);
	assert_processors(4, 4, 4, 0, 4);
	assert_processors(4, 4, 9, 0, 4);
	assert_processors(4, 4, 2, 2, 2);
	assert_processors(4, 1, 0, 0, 4); /* what Vellum can use does not matter */
	assert_processors(0, 1, 2, 0, 1);
	assert_console_quiet();
}

static void a_kernel_that_shall_get_fewer_is_told_so(void **state)
{
	(void)state;
	boot.module_count = 1;
	string_copy(boot.module[0].string, "bzImage quiet", sizeof(boot.module[0].string));
	assert_processors(4, 4, 0, 0, 4);
	assert_string_equal(boot.module[0].string, "bzImage quiet");
	assert_processors(4, 4, 1, 1, 1);
	assert_string_equal(boot.module[0].string, "bzImage quiet nr_cpus=1 maxcpus=1");
}

static void words_of_other_guests_stay_as_they_are(void **state)
{
	(void)state;
	guest_kind = GUEST_MULTIBOOT;
	boot.module_count = 1;
	string_copy(boot.module[0].string, "gnumach root=hd0", sizeof(boot.module[0].string));
	assert_processors(4, 4, 1, 1, 1);
	assert_string_equal(boot.module[0].string, "gnumach root=hd0");
}

static void a_full_command_line_stays_within_its_bounds(void **state)
{
	(void)state;
	boot.module_count = 1;
	memset(boot.module[0].string, 'x', sizeof(boot.module[0].string) - 1);
	assert_processors(4, 4, 1, 1, 1);
	assert_int_equal(strlen(boot.module[0].string), sizeof(boot.module[0].string) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_machine)
		T(what_vellum_keeps_is_reserved_in_the_guests_map),
		T(what_vellum_keeps_is_out_of_the_guests_reach),
		T(a_machine_without_virtualization_runs_natively_and_says_why),
		T(a_machine_with_virtualization_uses_it),
		T(shadow_paging_has_memory_of_its_own),
		T(a_processor_without_nested_paging_has_shadow_paging),
		T(the_user_may_want_it_native),
		T(the_page_where_processors_start_is_out_of_the_guests_map),
		T(a_guest_gets_as_many_processors_as_asked_for),
		T(without_a_madt_a_guest_gets_one_and_is_told_so),
		T(processors_that_vellum_can_not_use_are_not_the_guests),
		T(a_native_guest_gets_as_many_as_asked_for),
		T(a_kernel_that_shall_get_fewer_is_told_so),
		T(words_of_other_guests_stay_as_they_are),
		T(a_full_command_line_stays_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
