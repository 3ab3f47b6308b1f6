// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the ROM is told of the APICs' places: nothing as long as all are at its window, and
 * that some are not, for good, from the first that is elsewhere on.
 */
#include "support.h"

#include <string.h>

#include "vmi/apic.c"

static uint8_t page[PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

static int reset(void **state)
{
	(void)state;
	memset(page, 0, sizeof(page));
	told = NULL;
	atomic_store(&moved, false);
	return 0;
}

static uint32_t what_is_told(void)
{
	uint32_t word;

	memcpy(&word, page + 4, sizeof(word)); /* vmirom/time.asm, line.apic_moved */
	return word;
}

static void an_apic_at_its_place_is_at_the_window(void **state)
{
	(void)state;
	assert_true(vmi_apic_is_at_window(0xfee00900)); /* boot processor */
	assert_true(vmi_apic_is_at_window(0xfee00800));
	assert_false(vmi_apic_is_at_window(0xfee00100)); /* off */
	assert_false(vmi_apic_is_at_window(0xfee00d00)); /* x2APIC */
	assert_false(vmi_apic_is_at_window(0xfee01900));
	assert_false(vmi_apic_is_at_window(0x1fee00900));
}

static void the_rom_is_told_of_the_first_one_elsewhere(void **state)
{
	(void)state;
	vmi_apic_set_data(page);
	vmi_apic_note_base(0xfee00900);
	assert_int_equal(what_is_told(), 0);
	vmi_apic_note_base(0xfee00c00);
	assert_int_equal(what_is_told(), 1);
	vmi_apic_note_base(0xfee00800); /* another processor's says nothing of that one */
	assert_int_equal(what_is_told(), 1);
}

static void notes_before_there_is_a_rom_are_kept(void **state)
{
	(void)state;
	vmi_apic_note_base(0xfee00d00);
	vmi_apic_set_data(page);
	assert_int_equal(what_is_told(), 1);
}

/* The page is the guest's to write. */
static void the_guest_cannot_make_it_forget(void **state)
{
	(void)state;
	vmi_apic_set_data(page);
	vmi_apic_note_base(0xfee00d00);
	memset(page, 0, sizeof(page));
	vmi_apic_note_base(0xfee00900);
	assert_int_equal(what_is_told(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, reset)
		T(an_apic_at_its_place_is_at_the_window),
		T(the_rom_is_told_of_the_first_one_elsewhere),
		T(notes_before_there_is_a_rom_are_kept),
		T(the_guest_cannot_make_it_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
