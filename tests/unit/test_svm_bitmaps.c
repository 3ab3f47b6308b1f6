// SPDX-License-Identifier: GPL-2.0-only
/*
 * The permission maps of AMD-V, bit by bit: what is guarded exits, and not an access more.
 * Offsets are written out here as in APM volume 2, 15.10.1 and 15.11.
 */
#include "support.h"

#include <string.h>

#include "core/policy.h"
#include "dev/acpi.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/physmap.h"
#include "svm/svm.h"

enum { PORT_MAP_SIZE = 3 * 4096, MSR_MAP_SIZE = 2 * 4096, PM1A = 0x604 };

#define POOL 8

int acpi_read_power(struct acpi_power *power)
{
	*power = (struct acpi_power){.pm1a_control = PM1A};
	return 0;
}

static unsigned int processors;

unsigned int smp_guest_count(void)
{
	return processors;
}

static int make_pool(void **state)
{
	(void)state;
	processors = 1;
	console_clear();
	arena_create((1 + POOL) * PAGE_SIZE);
	frames_init(hpa(PAGE_SIZE), hpa((1 + POOL) * PAGE_SIZE));
	policy_find_power_ports();
	return 0;
}

static void set(uint8_t *bitmap, unsigned int bit)
{
	bitmap[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static void exactly_the_power_ports_exit(void **state)
{
	static uint8_t expected[PORT_MAP_SIZE];

	(void)state;
	set(expected, 0x64);
	set(expected, 0x92);
	set(expected, 0xcf9);
	set(expected, PM1A + 1);
	assert_int_equal(svm_bitmaps_init(), 0);
	assert_memory_equal(arena_at(svm_port_bitmap().raw), expected, sizeof(expected));
}

/* Two bits an MSR: read, write. C000_0000h starts at byte 800h, C001_0000h at 1000h. */
/* SYSCFG, IORRs, TOP_MEM, TOP_MEM2, MMIO configuration, SMM: a guest may read them. */
static const uint32_t kept[] = {0xc0010010, 0xc0010016, 0xc0010017, 0xc0010018, 0xc0010019,
				0xc001001a, 0xc001001d, 0xc0010058, 0xc0010112, 0xc0010113};

static void expect_guarded_msrs(uint8_t *expected)
{
	set(expected, 0x1b * 2 + 1);  /* APIC_BASE: writes */
	set(expected, 0x1a0 * 2 + 1); /* MISC_ENABLE: writes */
	set(expected, 0x800 * 8 + 0x80 * 2);
	set(expected, 0x800 * 8 + 0x80 * 2 + 1);	      /* EFER */
	for (unsigned int msr = 0x114; msr <= 0x118; msr++) { /* VM_CR to SVM_KEY */
		set(expected, 0x1000 * 8 + msr * 2);
		set(expected, 0x1000 * 8 + msr * 2 + 1);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++)
		set(expected, 0x1000 * 8 + (kept[i] - 0xc0010000) * 2 + 1);
}

static void exactly_the_guarded_msrs_exit(void **state)
{
	static uint8_t expected[MSR_MAP_SIZE];

	(void)state;
	expect_guarded_msrs(expected);
	assert_int_equal(svm_bitmaps_init(), 0);
	assert_memory_equal(arena_at(svm_msr_bitmap().raw), expected, sizeof(expected));
}

/* STARTUP has no exit, so it is caught where it is sent: x2APIC's command register. */
static void with_several_processors_their_commands_exit_too(void **state)
{
	static uint8_t expected[MSR_MAP_SIZE];

	(void)state;
	processors = 2;
	expect_guarded_msrs(expected);
	set(expected, 0x830 * 2 + 1);
	assert_int_equal(svm_bitmaps_init(), 0);
	assert_memory_equal(arena_at(svm_msr_bitmap().raw), expected, sizeof(expected));
}

static void the_maps_are_whole_pages_of_their_own(void **state)
{
	uint64_t ports, msrs;

	(void)state;
	assert_int_equal(svm_bitmaps_init(), 0);
	ports = svm_port_bitmap().raw;
	msrs = svm_msr_bitmap().raw;
	assert_int_equal(frames_free_count(), POOL - 5);
	assert_true(is_aligned(ports | msrs, PAGE_SIZE));
	assert_true(ports + PORT_MAP_SIZE <= msrs || msrs + MSR_MAP_SIZE <= ports);
}

static void without_frames_there_are_no_maps(void **state)
{
	(void)state;
	frames_init(hpa(PAGE_SIZE), hpa(5 * PAGE_SIZE)); /* one too few */
	assert_int_equal(svm_bitmaps_init(), -ENOMEM);
	frames_init(hpa(PAGE_SIZE), hpa(2 * PAGE_SIZE));
	assert_int_equal(svm_bitmaps_init(), -ENOMEM);
}

static void released_ports_no_longer_exit(void **state)
{
	static uint8_t expected[PORT_MAP_SIZE];
	static struct vmcb vmcb = {.control.clean = CLEAN_ALL};
	struct vcpu vcpu = {.arch = &vmcb};

	(void)state;
	set(expected, 0x92);
	set(expected, PM1A + 1);
	assert_int_equal(svm_bitmaps_init(), 0);
	svm_release_port(&vcpu, 0x64);
	svm_release_port(&vcpu, 0xcf9);
	svm_release_port(&vcpu, 0xcf8); /* was not guarded */
	svm_release_port(&vcpu, 0);
	svm_release_port(&vcpu, 0xffff);
	assert_int_equal(vmcb.control.clean, (uint32_t)~CLEAN_IOPM);
	assert_memory_equal(arena_at(svm_port_bitmap().raw), expected, sizeof(expected));
}

static void the_msrs_of_svm_are_hidden_and_no_others(void **state)
{
	(void)state;
	for (uint32_t msr = 0xc0010000; msr < 0xc0012000; msr++)
		assert_int_equal(svm_hides_msr(msr), msr >= 0xc0010114 && msr <= 0xc0010118);
	assert_false(svm_hides_msr(0xc0000080));
	assert_false(svm_hides_msr(0x114));
}

static void what_moves_memory_may_only_be_read(void **state)
{
	unsigned int found = 0;

	(void)state;
	for (uint32_t msr = 0xc0010000; msr < 0xc0012000; msr++)
		found += svm_keeps_msr(msr);
	assert_int_equal(found, ARRAY_SIZE(kept));
	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++)
		assert_true(svm_keeps_msr(kept[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(exactly_the_power_ports_exit, make_pool),
		cmocka_unit_test_setup(exactly_the_guarded_msrs_exit, make_pool),
		cmocka_unit_test_setup(with_several_processors_their_commands_exit_too, make_pool),
		cmocka_unit_test_setup(the_maps_are_whole_pages_of_their_own, make_pool),
		cmocka_unit_test_setup(without_frames_there_are_no_maps, make_pool),
		cmocka_unit_test_setup(released_ports_no_longer_exit, make_pool),
		cmocka_unit_test_setup(the_msrs_of_svm_are_hidden_and_no_others, make_pool),
		cmocka_unit_test_setup(what_moves_memory_may_only_be_read, make_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
