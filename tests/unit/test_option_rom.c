// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the VMI ROM goes among other ROMs, and what preparing a copy of it changes; with
 * the real ROM, as it is embedded in the hypervisor.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "guest/option_rom.h"
#include "lib/errno.h"

enum { ROM_SIZE = 4096, CHECKSUM = 0x07, TRACED = 74 };

static const uint8_t vmcall[3] = {0x0f, 0x01, 0xc1};
static const uint8_t vmmcall[3] = {0x0f, 0x01, 0xd9};

static void reseal(uint8_t *rom, size_t size)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + rom[i]);
	rom[CHECKSUM] = (uint8_t)(rom[CHECKSUM] - sum);
}

/* ---- where it goes ---- */

static uint8_t area[OPTION_ROM_AREA_SIZE];

static int empty_area(void **state)
{
	(void)state;
	memset(area, 0, sizeof(area));
	console_clear();
	return 0;
}

/* A ROM with a right checksum at this address, all zero between header and end. */
static uint8_t *place_rom(uint32_t address, size_t size)
{
	uint8_t *rom = area + address - OPTION_ROM_AREA_BASE;

	memset(rom, 0, size);
	rom[0] = 0x55;
	rom[1] = 0xaa;
	rom[2] = (uint8_t)(size / 512);
	reseal(rom, size);
	return rom;
}

static void assert_slot(uint64_t address, size_t rom_size)
{
	gpa_t slot = gpa(0);

	assert_int_equal(option_rom_find_slot(area, rom_size, &slot), 0);
	assert_int_equal(slot.raw, address);
	assert_console_quiet();
}

static void an_empty_area_is_free_from_its_start(void **state)
{
	(void)state;
	assert_slot(0xc0000, ROM_SIZE);
	memset(area, 0xff, sizeof(area));
	assert_slot(0xc0000, ROM_SIZE);
	assert_slot(0xc0000, sizeof(area));
}

static void the_slot_is_behind_the_last_rom(void **state)
{
	(void)state;
	place_rom(0xc0000, 32 * 1024);
	assert_slot(0xc8000, ROM_SIZE);
	place_rom(0xd0000, 4096); /* leaves a gap below */
	assert_slot(0xd1000, ROM_SIZE);
}

static void a_rom_that_ends_in_a_page_keeps_the_page(void **state)
{
	(void)state;
	place_rom(0xc0000, 0x9a00);
	assert_slot(0xca000, ROM_SIZE);
	place_rom(0xca800, 512); /* in the upper half of its page */
	assert_slot(0xcb000, ROM_SIZE);
}

static void signatures_inside_a_rom_are_not_roms(void **state)
{
	uint8_t *rom = place_rom(0xc0000, 16 * 1024);

	(void)state;
	rom[4096] = 0x55;
	rom[4097] = 0xaa;
	rom[4098] = 64; /* would be 32 KiB long */
	reseal(rom, 16 * 1024);
	assert_slot(0xc4000, ROM_SIZE);
}

static void a_rom_with_a_wrong_checksum_is_not_built_upon(void **state)
{
	uint8_t *rom = place_rom(0xc0000, 32 * 1024);

	(void)state;
	rom[0x100] ^= 1; /* pages 1 to 7 read as 0 */
	assert_slot(0xc8000, ROM_SIZE);
}

static void a_rom_of_absurd_length_leaves_the_gaps(void **state)
{
	uint8_t *rom = place_rom(0xc8000, 512);

	(void)state;
	place_rom(0xc0000, 16 * 1024);
	rom[2] = 0xff; /* far beyond the end of the area, so it cannot be summed up */
	assert_slot(0xc4000, ROM_SIZE);
}

static void memory_in_use_is_stepped_over(void **state)
{
	(void)state;
	place_rom(0xc0000, 4096);
	area[0x1fff] = 1;		   /* one byte, in the page behind */
	memset(area + 0x2000, 0x5a, 4096); /* constant, but nothing that empty memory reads as */
	memset(area + 0x3000, 0xff, 4095); /* all ones but for the last byte */
	assert_slot(0xc4000, ROM_SIZE);
}

static void a_long_rom_needs_a_run_of_pages(void **state)
{
	(void)state;
	area[0x1000] = 1;
	assert_slot(0xc0000, 4096);
	assert_slot(0xc2000, 4097);
}

static void the_last_page_can_be_taken(void **state)
{
	(void)state;
	memset(area, 0x5a, sizeof(area) - 4096);
	assert_slot(0xdf000, ROM_SIZE);
}

static void a_full_area_has_no_slot(void **state)
{
	gpa_t slot;

	(void)state;
	memset(area, 0x5a, sizeof(area));
	assert_int_equal(option_rom_find_slot(area, ROM_SIZE, &slot), -ENOMEM);
	assert_console_quiet();
}

/* Random ROMs, lengths and scraps: whatever is found was empty and on a page. */
static void no_slot_is_ever_on_top_of_something(void **state)
{
	static const uint8_t nothing[ROM_SIZE];
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		gpa_t slot;

		memset(area, 0, sizeof(area));
		for (uint64_t i = random_below(&random, 40); i > 0; i--) {
			uint8_t *at = area + random_below(&random, sizeof(area) / 2048) * 2048;

			at[0] = 0x55;
			at[1] = 0xaa;
			at[2] = (uint8_t)random_below(&random, 256);
		}
		if (option_rom_find_slot(area, ROM_SIZE, &slot))
			continue;
		assert_true(is_aligned(slot.raw, 4096));
		assert_in_range(slot.raw, 0xc0000, 0xdf000);
		assert_memory_equal(area + slot.raw - 0xc0000, nothing, ROM_SIZE);
	}
}

/* ---- making a copy fit ---- */

/* Exactly as large as the ROM and from malloc, so that ASan sees each byte too far. */
static uint8_t *rom;

static int copy_rom(void **state)
{
	(void)state;
	if (vmirom_end - vmirom_start != ROM_SIZE)
		return -1;
	rom = malloc(ROM_SIZE);
	memcpy(rom, vmirom_start, ROM_SIZE);
	console_clear();
	return 0;
}

static int drop_rom(void **state)
{
	(void)state;
	free(rom);
	return 0;
}

static const struct vmi_rom_time figures = {
	.tsc_hz = 0x0102030405060708,
	.wall_at_0 = 0x1112131415161718,
	.wall_mult = 0x21222324,
	.ticks = {0x31323334, 0x41424344},
	.longest = {0x5152535455565758, 0x6162636465666768},
};

static int prepare(uint8_t *copy, size_t size, enum option_vmi vmi, const uint8_t *hypercall)
{
	const struct option_rom_setup setup = {
		.vmi = vmi, .hypercall = hypercall, .has_pages = true, .time = &figures};

	return option_rom_prepare(copy, size, &setup);
}

static const struct vmi_rom_private *private_header(void)
{
	return (const void *)(vmirom_start + VMI_ROM_PRIVATE_OFFSET);
}

static size_t hypercall_offset(unsigned int index)
{
	const uint8_t *list = vmirom_start + private_header()->hypercalls + index * 2;

	return (size_t)(list[0] | list[1] << 8);
}

static uint8_t *answer_of(unsigned int call)
{
	return rom + private_header()->answers + call * 4;
}

/* As it was built; fails if anything else than what was undone before has changed. */
static void assert_as_built(void)
{
	assert_memory_equal(rom + private_header()->time, &figures, sizeof(figures));
	memset(rom + private_header()->time, 0, sizeof(figures));
	reseal(rom, ROM_SIZE);
	assert_memory_equal(rom, vmirom_start, ROM_SIZE);
}

static void assert_sealed(void)
{
	uint8_t checksum = rom[CHECKSUM];

	reseal(rom, ROM_SIZE);
	assert_int_equal(rom[CHECKSUM], checksum);
}

static void with_vmmcall_only_the_figures_of_the_time_change(void **state)
{
	(void)state;
	assert_int_equal(prepare(rom, ROM_SIZE, VMI_ON, vmmcall), 0);
	assert_sealed();
	assert_as_built();
}

static void assert_answer(unsigned int call, unsigned int type)
{
	assert_int_equal(answer_of(call)[2], type);
}

/* Without the time's figures 66 to 71 go, without the pages 63 and 64, too; also if traced. */
static void what_lacks_its_base_is_none(void **state)
{
	(void)state;
	for (enum option_vmi vmi = VMI_ON; vmi <= VMI_TRACE; vmi++) {
		struct option_rom_setup setup = {
			.vmi = vmi, .hypercall = vmmcall, .has_pages = true};

		if (vmi == VMI_OFF)
			continue;
		for (int pages = 1; pages >= 0; pages--) {
			memcpy(rom, vmirom_start, ROM_SIZE);
			setup.has_pages = pages;
			setup.time = pages ? NULL : &figures;
			assert_int_equal(option_rom_prepare(rom, ROM_SIZE, &setup), 0);
			assert_sealed();
			for (unsigned int call = 66; call <= 71; call++)
				assert_answer(call, VMI_RELOCATION_NONE);
			assert_answer(72, vmi == VMI_TRACE);
			assert_answer(65, vmi == VMI_TRACE ? VMI_RELOCATION_CALL_REL
							   : VMI_RELOCATION_NOP);
			assert_answer(63, vmi == VMI_TRACE && pages);
			assert_answer(64, vmi == VMI_TRACE && pages);
		}
	}
}

static void with_vmcall_only_the_instructions_change(void **state)
{
	(void)state;
	assert_int_equal(prepare(rom, ROM_SIZE, VMI_ON, vmcall), 0);
	assert_sealed();
	for (unsigned int i = 0; i < private_header()->hypercall_count; i++) {
		assert_memory_equal(rom + hypercall_offset(i), vmcall, 3);
		memcpy(rom + hypercall_offset(i), vmmcall, 3);
	}
	assert_as_built();
}

static void vmi_calls_takes_every_hint_away(void **state)
{
	unsigned int hints = 0;

	(void)state;
	assert_int_equal(prepare(rom, ROM_SIZE, VMI_CALLS, vmmcall), 0);
	assert_sealed();
	for (unsigned int call = 0; call < 74; call++) {
		size_t hint = (size_t)(answer_of(call) + 3 - rom);

		assert_int_equal(rom[hint], 0);
		hints += vmirom_start[hint];
		rom[hint] = vmirom_start[hint];
	}
	assert_int_equal(hints, 12);
	assert_as_built();
}

/* Where writes exit, they are called, and who knows the hint calls for INIT and STARTUP alone. */
static void a_caught_apic_is_written_by_call(void **state)
{
	struct option_rom_setup setup = {.hypercall = vmmcall, .has_pages = true};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		setup.vmi = i & 1 ? VMI_CALLS : VMI_ON;
		setup.apic_is_caught = i & 2;
		memcpy(rom, vmirom_start, ROM_SIZE);
		assert_int_equal(option_rom_prepare(rom, ROM_SIZE, &setup), 0);
		assert_answer(VMI_CALL_APICWrite, setup.apic_is_caught);
		assert_answer(VMI_CALL_APICRead, VMI_RELOCATION_NONE);
		assert_int_equal(answer_of(VMI_CALL_APICWrite)[3], i == 2 ? 0x02 : 0);
	}
}

/* A call without a routine stays NONE. */
static unsigned int routine_of(const uint8_t *at)
{
	return at[0] | (unsigned int)at[1] << 8;
}

/* Where the trace stub of a call goes on. */
static unsigned int stub_target(unsigned int call)
{
	unsigned int end =
		private_header()->trace_stubs + (call + 1) * private_header()->trace_stub_size;
	uint32_t distance;

	memcpy(&distance, rom + end - 4, 4);
	return end + distance;
}

/* With shadow page tables; 39, 41 and 73 are as they were. */
static void the_queue_brings_other_routines(void **state)
{
	static const unsigned int calls[] = {38, 40, 44, 45, 46, 47, 48};
	const uint8_t *list = vmirom_start + private_header()->shadow_routines;
	struct option_rom_setup setup = {
		.hypercall = vmmcall, .has_pages = true, .has_queue = true, .time = &figures};

	(void)state;
	for (enum option_vmi vmi = VMI_ON; vmi <= VMI_TRACE; vmi++) {
		if (vmi == VMI_OFF)
			continue;
		memcpy(rom, vmirom_start, ROM_SIZE);
		setup.vmi = vmi;
		assert_int_equal(option_rom_prepare(rom, ROM_SIZE, &setup), 0);
		assert_sealed();
		for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
			assert_answer(calls[i], VMI_RELOCATION_CALL_REL);
			assert_int_equal(answer_of(calls[i])[3], 0);
			assert_int_equal(stub_target(calls[i]), routine_of(list + 2 * i));
			if (vmi != VMI_TRACE)
				assert_int_equal(routine_of(answer_of(calls[i])),
						 routine_of(list + 2 * i));
		}
		assert_answer(39, vmi == VMI_TRACE);
		assert_answer(41, vmi == VMI_TRACE);
		assert_answer(73, vmi == VMI_TRACE);
	}
}

static void vmi_trace_has_every_routine_called_through_its_stub(void **state)
{
	unsigned int traced = 0;

	(void)state;
	assert_int_equal(prepare(rom, ROM_SIZE, VMI_TRACE, vmmcall), 0);
	assert_sealed();
	for (unsigned int call = 0; call < 74; call++) {
		const uint8_t *built = vmirom_start + (answer_of(call) - rom);
		struct vmi_rom_answer answer;

		memcpy(&answer, answer_of(call), sizeof(answer));
		memcpy(answer_of(call), built, sizeof(answer));
		if (!built[0] && !built[1])
			continue;
		assert_int_equal(answer.routine, private_header()->trace_stubs + call * 12);
		assert_int_equal(answer.type, VMI_RELOCATION_CALL_REL);
		assert_int_equal(answer.hint, 0);
		traced++;
	}
	assert_int_equal(traced, TRACED);
	assert_as_built();
}

static void vmi_off_has_no_rom_to_prepare(void **state)
{
	(void)state;
	assert_int_equal(prepare(rom, ROM_SIZE, VMI_OFF, vmmcall), -EINVAL);
	assert_memory_equal(rom, vmirom_start, ROM_SIZE);
}

static void assert_refused(const char *what)
{
	uint8_t before[ROM_SIZE];

	memcpy(before, rom, ROM_SIZE);
	console_clear();
	assert_int_equal(prepare(rom, ROM_SIZE, VMI_CALLS, vmcall), -ENOEXEC);
	assert_console(LOG_ERROR, what);
	assert_memory_equal(rom, before, ROM_SIZE);
}

/* A byte that is set to value, under a right checksum, and what the message must name. */
struct damage {
	size_t offset;
	uint8_t value;
	const char *what;
};

static void damage_is_named(void **state)
{
	const size_t private = VMI_ROM_PRIVATE_OFFSET;
	const size_t answers = private_header()->answers;
	const struct damage damages[] = {
		{0x00, 0x54, "option ROM signature, at offset 0"},
		{0x02, 3, "length is not that of the image, at offset 0x2"},
		{0x08, 'C', "VMI signature, at offset 0x8"},
		{0x0d, 2, "not VMI 3, at offset 0xd"},
		{private, 0, "private header of this version, at offset 0x60"},
		{private + 4, 1, "private header of this version, at offset 0x60"},
		{private + 7, 0x10, "answers are outside"}, /* at or behind 0x1000 */
		{private + 7, 0x0f, "answers are outside"}, /* begin inside, end outside */
		{private + 8, 73, "number of answers, at offset 0x68"},
		{private + 11, 0x10, "list of hypercalls is outside"},
		{private + 13, 0x10, "list of hypercalls is outside"},
		{private + 15, 0x0f, "trace stubs are outside"},
		{private + 16, 0, "trace stubs are outside"}, /* of no size */
		{private + 19, 0x10, "figures of the time are outside"},
		{answers + 2, 4, "CPUID"},			  /* no such type */
		{answers + 29 * 4 + 1, 0x10, "EnableInterrupts"}, /* routine behind the end */
		{answers + 33 * 4 + 1, 0, "IRET"},		  /* routine moved... */
		{answers + 73 * 4 + 1, 0x10, "SetLazyMode"},	  /* the same, of a NONE */
		{private_header()->hypercalls + 1u, 0x10, "hypercall is outside"},
		{hypercall_offset(0) + 2, 0xc1, "no hypercall instruction"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		memcpy(rom, vmirom_start, ROM_SIZE);
		rom[damages[i].offset] = damages[i].value;
		if (damages[i].offset == answers + 33 * 4 + 1)
			rom[answers + 33 * 4] = 0x8f; /* ... into the header */
		reseal(rom, ROM_SIZE);
		assert_refused(damages[i].what);
	}
}

static void a_wrong_checksum_is_refused(void **state)
{
	(void)state;
	rom[ROM_SIZE - 1] ^= 1;
	assert_refused("wrong checksum, at offset 0x7");
}

static void no_other_size_is_taken(void **state)
{
	(void)state;
	for (size_t size = 0; size < ROM_SIZE; size++) {
		uint8_t *cut = malloc(size + 1);

		memcpy(cut, vmirom_start, size);
		assert_int_equal(prepare(cut, size, VMI_CALLS, vmcall), -ENOEXEC);
		free(cut);
	}
}

/* Any damage under a right checksum: refused or prepared, never out of bounds. */
static void random_damage_is_survived(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int error;

		memcpy(rom, vmirom_start, ROM_SIZE);
		for (int i = 0; i < 3; i++)
			rom[random_below(&random, 0xa00)] = (uint8_t)random_below(&random, 256);
		reseal(rom, ROM_SIZE);
		error = prepare(rom, ROM_SIZE, VMI_CALLS, vmcall);
		assert_true(error == 0 || error == -ENOEXEC);
		if (error == 0)
			assert_sealed();
	}
}

#define SLOT_TEST(test)	   cmocka_unit_test_setup(test, empty_area)
#define PREPARE_TEST(test) cmocka_unit_test_setup_teardown(test, copy_rom, drop_rom)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLOT_TEST(an_empty_area_is_free_from_its_start),
		SLOT_TEST(the_slot_is_behind_the_last_rom),
		SLOT_TEST(a_rom_that_ends_in_a_page_keeps_the_page),
		SLOT_TEST(signatures_inside_a_rom_are_not_roms),
		SLOT_TEST(a_rom_with_a_wrong_checksum_is_not_built_upon),
		SLOT_TEST(a_rom_of_absurd_length_leaves_the_gaps),
		SLOT_TEST(memory_in_use_is_stepped_over),
		SLOT_TEST(a_long_rom_needs_a_run_of_pages),
		SLOT_TEST(the_last_page_can_be_taken),
		SLOT_TEST(a_full_area_has_no_slot),
		SLOT_TEST(no_slot_is_ever_on_top_of_something),
		PREPARE_TEST(with_vmmcall_only_the_figures_of_the_time_change),
		PREPARE_TEST(what_lacks_its_base_is_none),
		PREPARE_TEST(with_vmcall_only_the_instructions_change),
		PREPARE_TEST(vmi_calls_takes_every_hint_away),
		PREPARE_TEST(vmi_trace_has_every_routine_called_through_its_stub),
		PREPARE_TEST(a_caught_apic_is_written_by_call),
		PREPARE_TEST(the_queue_brings_other_routines),
		PREPARE_TEST(vmi_off_has_no_rom_to_prepare),
		PREPARE_TEST(damage_is_named),
		PREPARE_TEST(a_wrong_checksum_is_refused),
		PREPARE_TEST(no_other_size_is_taken),
		PREPARE_TEST(random_damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
