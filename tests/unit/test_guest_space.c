// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the guest finds at each of its addresses: itself, the option ROM's copy, or the one
 * page that all of Vellum looks like; with pages that no memory type ends in.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"

static unsigned int address_bits;

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	assert_int_equal(leaf, CPUID_EXT_ADDRESS_SIZES);
	return (struct cpuid_result){.eax = 0x3000 | address_bits};
}

#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "core/guest_space.c"

#define POOL_COUNT   2000u
#define KEPT	     (0xc0000000 - 8 * MIB)
#define KEPT_SIZE    (8 * MIB)
#define ROM	     0xc8000
#define ROM_SIZE     (2 * PAGE_SIZE)
#define TYPE_SHIFT   3 /* the table says the memory type, as EPT does */
#define FLAGS(type)  (PAGE_PRESENT | PAGE_WRITE | (uint64_t)(type) << TYPE_SHIFT)
#define ADDRESS_MASK 0x0000ffffffffffffull
#define ENTRY_FRAME  0x000ffffffffff000ull

static struct mtrr_state machine_mtrr;
static struct page_table table;
static uint8_t *rom;

void mtrr_read(struct mtrr_state *state)
{
	*state = machine_mtrr;
}

static uint64_t entry_flags(enum memory_type type)
{
	return FLAGS(type);
}

static void start(uint64_t ram_end, uint64_t largest_page)
{
	struct kept_memory keep = {KEPT, KEPT_SIZE};

	overlay_count = 0;
	guest_memory_forget_overlays();
	frames_init(hpa(PAGE_SIZE), hpa((1 + POOL_COUNT) * PAGE_SIZE));
	assert_int_equal(guest_space_init(&keep, ram_end), 0);
	assert_int_equal(page_table_init(&table, PAGE_PRESENT, largest_page), 0);
	rom = frame_allocate();
	assert_non_null(frame_allocate());
}

static int make_space(void **state)
{
	(void)state;
	console_clear();
	arena_create((1 + POOL_COUNT) * PAGE_SIZE);
	machine_mtrr = (struct mtrr_state){.enabled = true, .default_type = MEMORY_WB};
	address_bits = 40;
	start(KEPT, 1 * GIB);
	return 0;
}

static void add_range(uint64_t base, uint64_t size)
{
	unsigned int i = machine_mtrr.variable_count++;

	machine_mtrr.variable[i].base = base;
	machine_mtrr.variable[i].mask = ADDRESS_MASK & ~(size - 1);
	machine_mtrr.variable[i].type = MEMORY_UC;
}

static void map_all(void)
{
	assert_int_equal(guest_space_map(&table, entry_flags), 0);
}

/*
 * Where a guest-physical page leads to, UINT64_MAX for nowhere; the size of its page. The
 * entry says the type of what is there: Vellum's own pages are all write-back.
 */
static uint64_t lookup(uint64_t address, uint64_t *size)
{
	uint64_t entry = page_table_lookup(&table, address, size);
	uint64_t large = *size > PAGE_SIZE ? PAGE_LARGE : 0;
	uint64_t to = (entry & ENTRY_FRAME) + (address & (*size - 1));

	if (!entry)
		return UINT64_MAX;
	if (to == address)
		assert_int_equal(entry & ~ENTRY_FRAME,
				 FLAGS(mtrr_type(&machine_mtrr, address)) | large);
	else
		assert_int_equal(entry & ~ENTRY_FRAME, FLAGS(MEMORY_WB));
	return to;
}

static uint64_t page_size_at(uint64_t address)
{
	uint64_t size;

	assert_int_equal(lookup(address, &size), address);
	return size;
}

static void assert_hole(uint64_t address)
{
	uint64_t size;

	assert_int_equal(lookup(address, &size), UINT64_MAX);
}

static int overlay_rom(uint64_t size)
{
	return guest_space_overlay(gpa(ROM), size, virt_to_phys(rom), MEMORY_WB);
}

static void every_page_is_where_it_belongs(void **state)
{
	uint64_t size;

	(void)state;
	assert_int_equal(overlay_rom(ROM_SIZE), 0);
	map_all();
	for (uint64_t page = 0; page < 4 * GIB; page += PAGE_SIZE) {
		uint64_t expected = page;

		if (page >= KEPT && page < KEPT + KEPT_SIZE)
			expected = sink.raw;
		else if (page >= ROM && page < ROM + ROM_SIZE)
			expected = virt_to_phys(rom).raw + page - ROM;
		assert_int_equal(lookup(page, &size), expected);
	}
	assert_hole(4 * GIB);
}

static void vellum_looks_like_a_bus_without_a_device(void **state)
{
	const uint8_t *page = arena_at(sink.raw);

	(void)state;
	for (unsigned int i = 0; i < PAGE_SIZE; i++)
		assert_int_equal(page[i], 0xff);
}

static void guest_memory_reads_the_overlay_too(void **state)
{
	(void)state;
	assert_int_equal(overlay_rom(ROM_SIZE), 0);
	assert_ptr_equal(guest_memory_find(gpa(ROM + 5), 1), rom + 5);
}

/* The local APIC's page once more, at an address below 1 MiB. */
static void a_device_can_be_seen_elsewhere_too(void **state)
{
	uint64_t size, entry;

	(void)state;
	assert_int_equal(guest_space_overlay(gpa(0xd0000), PAGE_SIZE, hpa(0xfee00000), MEMORY_UC),
			 0);
	map_all();
	entry = page_table_lookup(&table, 0xd0000, &size);
	assert_int_equal(entry & ADDRESS_MASK & ENTRY_FRAME, 0xfee00000);
	assert_int_equal(entry >> TYPE_SHIFT & 7, MEMORY_UC);
	assert_null(guest_memory_find(gpa(0xd0000), 1));
}

static void overlays_are_counted(void **state)
{
	uint64_t size;

	(void)state;
	for (unsigned int i = 0; i < OVERLAYS_MAX; i++)
		assert_int_equal(overlay_rom(PAGE_SIZE), 0);
	assert_int_equal(guest_space_overlay(gpa(0xd0000), PAGE_SIZE, virt_to_phys(rom), MEMORY_WB),
			 -ENOMEM);
	map_all();
	assert_int_equal(lookup(ROM, &size), virt_to_phys(rom).raw);
	assert_int_equal(page_size_at(0xd0000), PAGE_SIZE);
}

static void pages_are_as_large_as_the_processor_and_the_types_allow(void **state)
{
	(void)state;
	map_all();
	assert_int_equal(page_size_at(0), 1 * GIB);
	assert_int_equal(page_size_at(3 * GIB), 1 * GIB);
	assert_int_equal(page_size_at(2 * GIB), 2 * MIB); /* Vellum is in this one */
	assert_int_equal(page_size_at(KEPT - 1), 2 * MIB);
	start(KEPT, 2 * MIB);
	map_all();
	assert_int_equal(page_size_at(0), 2 * MIB);
}

static void pages_are_small_where_types_differ_and_only_there(void **state)
{
	(void)state;
	add_range(1 * GIB + 6 * MIB + PAGE_SIZE, PAGE_SIZE);
	start(KEPT, 1 * GIB);
	map_all();
	assert_int_equal(page_size_at(1 * GIB + 6 * MIB), PAGE_SIZE);
	assert_int_equal(page_size_at(1 * GIB + 8 * MIB - 1), PAGE_SIZE);
	assert_int_equal(page_size_at(1 * GIB + 8 * MIB), 2 * MIB);
	assert_int_equal(page_size_at(1 * GIB + 6 * MIB - 1), 2 * MIB);
	assert_int_equal(page_size_at(2 * GIB - 1), 2 * MIB);
	assert_int_equal(page_size_at(0), 1 * GIB);
	assert_int_equal(table.largest_page, 1 * GIB);
}

static void the_fixed_ranges_make_the_first_2_mib_small(void **state)
{
	(void)state;
	machine_mtrr.fixed_enabled = true;
	start(KEPT, 1 * GIB);
	map_all();
	assert_int_equal(page_size_at(0), PAGE_SIZE);
	assert_int_equal(page_size_at(2 * MIB - 1), PAGE_SIZE);
	assert_int_equal(page_size_at(2 * MIB), 2 * MIB);
	assert_int_equal(page_size_at(1 * GIB), 1 * GIB);
}

/* No page of the table may hold two types, whatever the registers say. */
static void random_types_never_share_a_page(void **state)
{
	uint64_t random = 13;

	(void)state;
	for (int round = 0; round < 8; round++) {
		machine_mtrr.variable_count = 0;
		for (int i = 0; i < 4; i++) {
			uint64_t size = PAGE_SIZE << random_below(&random, 20);

			add_range(align_down(random_below(&random, 4 * GIB), size), size);
		}
		start(KEPT, 1 * GIB);
		map_all();
		for (uint64_t page = 0, size; page < 4 * GIB; page += size) {
			lookup(page, &size);
			assert_true(mtrr_is_uniform(&machine_mtrr, page, size));
		}
	}
}

static void memory_above_4_gib_is_mapped_to_its_end(void **state)
{
	(void)state;
	start(6 * GIB + PAGE_SIZE, 1 * GIB);
	map_all();
	assert_int_equal(page_size_at(7 * GIB - 1), 1 * GIB);
	assert_hole(7 * GIB);
}

static void running_out_of_frames_is_said(void **state)
{
	(void)state;
	frames_allocate(frames_free_count() - 2, 1, &(hpa_t){0});
	assert_int_equal(guest_space_map(&table, entry_flags), -ENOMEM);
	assert_console(LOG_ERROR, "out of memory");
}

/*
 * A guest that divides its memory by MTRRs can use up all frames while VT-x maps it anew.
 * What could be mapped may be wrong in type then, but never Vellum's own memory.
 */
static void vellum_stays_hidden_when_frames_run_out(void **state)
{
	uint64_t size;
	hpa_t frame;

	(void)state;
	map_all();
	add_range(3 * GIB + PAGE_SIZE, 1 * GIB);
	machine_mtrr.variable[0].mask |= PAGE_SIZE; /* every second page of the last GiB */
	assert_true(guest_space_types_changed());
	assert_int_equal(frames_allocate(frames_free_count() - 10, 1, &frame), 0);
	assert_int_equal(guest_space_map(&table, entry_flags), -ENOMEM);
	for (uint64_t page = KEPT; page < KEPT + KEPT_SIZE; page += PAGE_SIZE)
		assert_int_equal(lookup(page, &size), sink.raw);
}

static void unchanged_types_need_no_new_map(void **state)
{
	(void)state;
	assert_false(guest_space_types_changed());
	add_range(1 * GIB, 1 * GIB);
	assert_true(guest_space_types_changed());
	assert_false(guest_space_types_changed());
}

/* ---- more, when it is touched ---- */

static bool forgotten;

static int map_more(uint64_t address)
{
	return guest_space_map_more(&table, gpa(address), entry_flags, &forgotten);
}

static void a_device_far_up_is_mapped_by_its_gib(void **state)
{
	(void)state;
	map_all();
	assert_int_equal(map_more(100 * GIB + 0x12345), 0);
	assert_int_equal(page_size_at(100 * GIB), 1 * GIB);
	assert_hole(101 * GIB);
	assert_hole(99 * GIB);
	assert_int_equal(map_more(4 * GIB), 0);
	assert_int_equal(page_size_at(4 * GIB), 1 * GIB);
}

static void more_minds_the_types_too(void **state)
{
	(void)state;
	add_range(100 * GIB + 4 * MIB, PAGE_SIZE);
	start(KEPT, 1 * GIB);
	map_all();
	assert_int_equal(map_more(100 * GIB), 0);
	assert_int_equal(page_size_at(100 * GIB), 2 * MIB);
	assert_int_equal(page_size_at(100 * GIB + 4 * MIB), PAGE_SIZE);
}

/* A guest that touches one address after the other can't use the frames up. */
static void the_others_go_when_frames_run_short(void **state)
{
	unsigned int times = 0;

	(void)state;
	start(KEPT, 2 * MIB);
	map_all();
	while (frames_free_count() > 800)
		assert_non_null(frame_allocate());
	for (uint64_t address = 5 * GIB; address < BIT(40); address += 1 * GIB) {
		assert_int_equal(map_more(address), 0);
		assert_int_equal(page_size_at(address), 2 * MIB);
		if (!forgotten)
			continue;
		times++;
		assert_hole(address - 1 * GIB);
		assert_hole(5 * GIB);
	}
	assert_true(times > 1);
	assert_int_equal(page_size_at(0x200000), 2 * MIB);
}

static void changed_types_take_the_others_along(void **state)
{
	(void)state;
	map_all();
	assert_int_equal(map_more(100 * GIB), 0);
	map_all();
	assert_hole(100 * GIB);
}

static void what_is_mapped_already_is_not_touched(void **state)
{
	uint64_t size;

	(void)state;
	map_all();
	assert_int_equal(map_more(KEPT), -EINVAL);
	assert_int_equal(map_more(0), -EINVAL);
	assert_int_equal(map_more(4 * GIB - 1), -EINVAL);
	assert_int_equal(lookup(KEPT, &size), sink.raw);
}

static void addresses_that_the_processor_lacks_are_refused(void **state)
{
	(void)state;
	map_all();
	assert_int_equal(map_more(BIT(40)), -EINVAL);
	assert_int_equal(map_more(UINT64_MAX), -EINVAL);
	assert_int_equal(map_more(BIT(40) - 1), 0);
	assert_int_equal(page_size_at(BIT(40) - 1), 1 * GIB);
}

/* Four levels hold 48 bits: one more would be written over the mapping of address 0. */
static void addresses_beyond_four_levels_are_refused(void **state)
{
	(void)state;
	address_bits = 52;
	map_all();
	assert_int_equal(map_more(BIT(48)), -EINVAL);
	assert_int_equal(page_size_at(0), 1 * GIB);
	assert_int_equal(map_more(BIT(48) - 1), 0);
	assert_int_equal(page_size_at(BIT(48) - 1), 1 * GIB);
}

static void kept_is_any_byte_of_vellums(void **state)
{
	(void)state;
	assert_true(guest_space_is_kept(gpa(KEPT), 1));
	assert_true(guest_space_is_kept(gpa(KEPT - 1), 2));
	assert_true(guest_space_is_kept(gpa(KEPT + KEPT_SIZE - 1), PAGE_SIZE));
	assert_true(guest_space_is_kept(gpa(0), 4 * GIB));
	assert_false(guest_space_is_kept(gpa(KEPT - 1), 1));
	assert_false(guest_space_is_kept(gpa(KEPT + KEPT_SIZE), 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_space)
		T(every_page_is_where_it_belongs),
		T(vellum_looks_like_a_bus_without_a_device),
		T(guest_memory_reads_the_overlay_too),
		T(a_device_can_be_seen_elsewhere_too),
		T(overlays_are_counted),
		T(pages_are_as_large_as_the_processor_and_the_types_allow),
		T(pages_are_small_where_types_differ_and_only_there),
		T(the_fixed_ranges_make_the_first_2_mib_small),
		T(random_types_never_share_a_page),
		T(memory_above_4_gib_is_mapped_to_its_end),
		T(running_out_of_frames_is_said),
		T(vellum_stays_hidden_when_frames_run_out),
		T(unchanged_types_need_no_new_map),
		T(a_device_far_up_is_mapped_by_its_gib),
		T(more_minds_the_types_too),
		T(the_others_go_when_frames_run_short),
		T(changed_types_take_the_others_along),
		T(what_is_mapped_already_is_not_touched),
		T(addresses_that_the_processor_lacks_are_refused),
		T(addresses_beyond_four_levels_are_refused),
		T(kept_is_any_byte_of_vellums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
