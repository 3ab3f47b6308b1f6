// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a Linux guest's parts go. By hand: the rules. By exhaustion: in small machines
 * of every size, with kernel and initrd at every place, the moves are carried out on
 * real bytes, and both files must arrive whole.
 */
#include "support.h"

#include "bzimage.h"
#include "guest/linux_place.h"
#include "lib/errno.h"

#include <string.h>

#define LOW_SIZE  8192
#define NO_INITRD ((struct linux_range){0, 0})

static const struct word kernel_name = {"bzImage", 7};
static const struct word initrd_name = {"initrd.img", 10};

static struct e820_map map;
static struct linux_image image;
static struct linux_layout layout;

static void set_ram(uint64_t end)
{
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, 0x9fc00, E820_RAM);
	e820_add(&map, MIB, end - MIB, E820_RAM);
}

static int setup(void **state)
{
	(void)state;
	console_clear();
	set_ram(512 * MIB);
	image = (struct linux_image){
		.name = kernel_name,
		.kernel = hpa(4 * MIB),
		.kernel_size = 3 * MIB + 100,
		.relocatable = true,
		.alignment = 2 * MIB,
		.preferred = 16 * MIB,
		.run_size = 20 * MIB,
		.run_size_known = true,
		.initrd_limit = 0x38000000,
		.command_line_max = 2047,
	};
	return 0;
}

static int place_below(struct linux_range initrd, uint64_t limit)
{
	return linux_place(&image, initrd, initrd_name, LOW_SIZE, &map, limit, &layout);
}

static int place(struct linux_range initrd)
{
	return place_below(initrd, 4 * GIB);
}

static void assert_range(struct linux_range range, uint64_t base, uint64_t size)
{
	assert_int_equal(range.base, base);
	assert_int_equal(range.size, size);
}

static void the_preferred_address_if_it_is_free(void **state)
{
	(void)state;
	assert_int_equal(place(NO_INITRD), 0);
	assert_range(layout.load, 16 * MIB, image.kernel_size);
	assert_range(layout.run, 16 * MIB, 20 * MIB);
	assert_range(layout.initrd, 0, 0);
	assert_int_equal(layout.move_count, 1);
	assert_int_equal(layout.low, 0x9d000);
}

static void else_the_next_aligned_place_above(void **state)
{
	(void)state;
	e820_set_type(&map, 33 * MIB, PAGE_SIZE, E820_RESERVED);
	assert_int_equal(place(NO_INITRD), 0);
	assert_range(layout.run, 34 * MIB, 20 * MIB);
}

/* Linux moves itself up to its preferred address if it is loaded below. */
static void never_below_the_preferred_address(void **state)
{
	(void)state;
	set_ram(36 * MIB);
	assert_int_equal(place(NO_INITRD), 0);
	set_ram(36 * MIB - PAGE_SIZE);
	image.run_size = 20 * MIB;
	assert_int_equal(place(NO_INITRD), -E2BIG);
	assert_console(LOG_ERROR, "kernel \"bzImage\" needs 20480 KiB of free RAM at or above "
				  "0x1000000; the largest piece from there on has 20476 KiB");
}

static void a_fixed_kernel_needs_both_its_places(void **state)
{
	(void)state;
	image.relocatable = false;
	image.alignment = 1;
	assert_int_equal(place(NO_INITRD), 0);
	assert_range(layout.load, MIB, image.kernel_size);
	assert_range(layout.run, 16 * MIB, 20 * MIB);
	e820_set_type(&map, 2 * MIB, PAGE_SIZE, E820_RESERVED);
	assert_int_equal(place(NO_INITRD), -E2BIG);
	assert_console(LOG_ERROR, "at 0x100000; ");
	set_ram(512 * MIB);
	e820_set_type(&map, 20 * MIB, PAGE_SIZE, E820_RESERVED);
	assert_int_equal(place(NO_INITRD), -E2BIG);
	assert_console(LOG_ERROR, "at 0x1000000; ");
	assert_console(LOG_ERROR, "CONFIG_RELOCATABLE");
}

static void an_initrd_in_the_way_goes_to_the_top(void **state)
{
	(void)state;
	assert_int_equal(place((struct linux_range){18 * MIB, 5 * MIB + 1}), 0);
	assert_range(layout.initrd, 512 * MIB - 5 * MIB - PAGE_SIZE, 5 * MIB + 1);
	assert_int_equal(layout.move_count, 2);
}

static void an_initrd_that_does_no_harm_stays(void **state)
{
	(void)state;
	assert_int_equal(place((struct linux_range){8 * MIB, 8 * MIB}), 0);
	assert_range(layout.initrd, 8 * MIB, 8 * MIB);
	assert_int_equal(place((struct linux_range){36 * MIB, 5}), 0);
	assert_range(layout.initrd, 36 * MIB, 5);
	assert_int_equal(layout.move_count, 1);
}

static void an_initrd_may_not_stay(void **state)
{
	uint64_t size = MIB;
	uint64_t top = 512 * MIB - size;

	(void)state;
	assert_int_equal(place((struct linux_range){40 * MIB + 1, size}), 0); /* unaligned */
	assert_int_equal(layout.initrd.base, top);
	assert_int_equal(place((struct linux_range){0x10000, size / 4}), 0); /* below 1 MiB */
	assert_int_equal(layout.initrd.base, 512 * MIB - size / 4);
	assert_int_equal(place((struct linux_range){0x38000000, size}), 0); /* above its limit */
	assert_int_equal(layout.initrd.base, top);
	assert_int_equal(place((struct linux_range){512 * MIB, size}), 0); /* in no RAM */
	assert_int_equal(layout.initrd.base, top);
	image.run_size_known = false;
	assert_int_equal(place((struct linux_range){40 * MIB, size}), 0);
	assert_int_equal(layout.initrd.base, top);
}

static void the_initrd_stays_below_its_limit_and_the_mapped_memory(void **state)
{
	struct linux_range initrd = {16 * MIB, MIB};

	(void)state;
	set_ram(3 * GIB);
	assert_int_equal(place(initrd), 0);
	assert_int_equal(layout.initrd.base, 0x38000000 - MIB);
	assert_int_equal(place_below(initrd, 256 * MIB), 0);
	assert_int_equal(layout.initrd.base, 255 * MIB);
}

static void an_initrd_below_the_kernel_if_above_is_no_room(void **state)
{
	(void)state;
	set_ram(37 * MIB);
	assert_int_equal(place((struct linux_range){17 * MIB, 2 * MIB}), 0);
	assert_int_equal(layout.initrd.base, 14 * MIB);
}

static void an_initrd_without_room_is_named_with_numbers(void **state)
{
	(void)state;
	set_ram(64 * MIB);
	assert_int_equal(place((struct linux_range){2 * MIB, 40 * MIB}), -E2BIG);
	assert_console(LOG_ERROR, "initrd \"initrd.img\" of 40960 KiB does not fit below "
				  "0x38000000 beside the kernel, which takes 20480 KiB at "
				  "0x1000000; all RAM is 65151 KiB");
}

static void no_low_memory_is_an_error(void **state)
{
	(void)state;
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, LOW_SIZE, E820_RAM); /* its first page holds the vectors */
	e820_add(&map, MIB, 63 * MIB, E820_RAM);
	assert_int_equal(place(NO_INITRD), -E2BIG);
	assert_console(LOG_ERROR, "no 8192 bytes of RAM free below 640 KiB");
	assert_console(LOG_ERROR, "the largest piece has 4096 bytes");
}

static void absurd_sizes_are_refused(void **state)
{
	(void)state;
	image.preferred = UINT64_MAX - PAGE_SIZE;
	assert_int_equal(place(NO_INITRD), -E2BIG);
	image.preferred = 5 * GIB;
	assert_int_equal(place(NO_INITRD), -E2BIG);
	image.preferred = 16 * MIB;
	image.run_size = 4 * GIB;
	assert_int_equal(place(NO_INITRD), -E2BIG);
	image.relocatable = false;
	assert_int_equal(place(NO_INITRD), -E2BIG);
}

/*
 * The small machines: RAM from 1 MiB on, in half pages of freedom for the sources.
 */
#define STEP	    (PAGE_SIZE / 2)
#define TINY_KERNEL (2 * PAGE_SIZE + 100)
#define TINY_RUN    (4 * PAGE_SIZE)
#define TINY_INITRD (3 * PAGE_SIZE + 7)
#define TINY_PAGES  20

struct tally {
	unsigned int refused, stayed, initrd_first, kernel_first, exchanged;
};

static uint8_t kernel_bytes[TINY_KERNEL], initrd_bytes[TINY_INITRD];

static void make_files(void)
{
	for (uint64_t i = 0; i < TINY_KERNEL; i++)
		kernel_bytes[i] = bzimage_byte(i);
	for (uint64_t i = 0; i < TINY_INITRD; i++)
		initrd_bytes[i] = (uint8_t)~bzimage_byte(i);
}

static void carry_out(void)
{
	for (unsigned int i = 0; i < layout.move_count; i++) {
		const struct linux_move *move = &layout.move[i];

		assert_true(e820_covers(&map, move->to, move->size, E820_RAM));
		memmove(arena_at(move->to), arena_at(move->from), move->size);
	}
}

static void assert_arrived(void)
{
	assert_int_equal(layout.load.size, TINY_KERNEL);
	assert_int_equal(layout.initrd.size, TINY_INITRD);
	assert_memory_equal(arena_at(layout.load.base), kernel_bytes, TINY_KERNEL);
	assert_memory_equal(arena_at(layout.initrd.base), initrd_bytes, TINY_INITRD);
}

static bool apart(struct linux_range a, struct linux_range b)
{
	return a.base + a.size <= b.base || b.base + b.size <= a.base;
}

static void assert_sound(void)
{
	assert_true(e820_covers(&map, layout.run.base, layout.run.size, E820_RAM));
	assert_true(e820_covers(&map, layout.load.base, layout.load.size, E820_RAM));
	assert_true(e820_covers(&map, layout.initrd.base, layout.initrd.size, E820_RAM));
	assert_true(apart(layout.initrd, layout.run));
	assert_true(apart(layout.initrd, layout.load));
	assert_true(layout.initrd.base + layout.initrd.size <= image.initrd_limit);
	assert_true(is_aligned(layout.initrd.base, PAGE_SIZE));
	assert_true(is_aligned(layout.run.base, image.alignment));
}

static void count_order(struct tally *tally, uint64_t initrd_source)
{
	if (layout.move_count == LINUX_MAX_MOVES)
		tally->exchanged++;
	else if (layout.initrd.base == initrd_source)
		tally->stayed++;
	else if (layout.move[0].from == initrd_source)
		tally->initrd_first++;
	else
		tally->kernel_first++;
}

static void try_places(struct tally *tally, uint64_t kernel_at, uint64_t initrd_at)
{
	struct linux_range kernel = {kernel_at, TINY_KERNEL};
	struct linux_range initrd = {initrd_at, TINY_INITRD};

	if (!apart(kernel, initrd))
		return;
	image.kernel = hpa(kernel_at);
	if (place(initrd) != 0) {
		assert_true(console_count(LOG_ERROR) > 0);
		tally->refused++;
		return;
	}
	memcpy(arena_at(kernel_at), kernel_bytes, TINY_KERNEL);
	memcpy(arena_at(initrd_at), initrd_bytes, TINY_INITRD);
	assert_sound();
	carry_out();
	assert_arrived();
	count_order(tally, initrd_at);
}

static void try_machine(struct tally *tally, uint64_t pages)
{
	uint64_t end = MIB + TINY_PAGES * PAGE_SIZE;

	set_ram(MIB + pages * PAGE_SIZE);
	for (uint64_t kernel = MIB; kernel + TINY_KERNEL <= end; kernel += STEP) {
		for (uint64_t initrd = MIB; initrd + TINY_INITRD <= end; initrd += STEP)
			try_places(tally, kernel, initrd);
	}
}

static void use_tiny_image(bool relocatable, uint64_t preferred)
{
	make_files();
	image.kernel_size = TINY_KERNEL;
	image.run_size = TINY_RUN;
	image.alignment = relocatable ? 2 * PAGE_SIZE : 1;
	image.relocatable = relocatable;
	image.preferred = preferred;
}

static void moves_in_every_small_machine(bool relocatable, uint64_t preferred)
{
	struct tally tally = {0};

	arena_create(MIB + TINY_PAGES * PAGE_SIZE);
	use_tiny_image(relocatable, preferred);
	for (uint64_t pages = 1; pages <= TINY_PAGES; pages++)
		try_machine(&tally, pages);
	arena_free();
	/* A test that never meets a case proves nothing about it */
	assert_true(tally.refused > 0 && tally.stayed > 0);
	assert_true(tally.initrd_first > 0 && tally.kernel_first > 0 && tally.exchanged > 0);
}

static void relocatable_kernels_arrive_whole(void **state)
{
	(void)state;
	moves_in_every_small_machine(true, MIB);
	moves_in_every_small_machine(true, MIB + 4 * PAGE_SIZE);
}

static void fixed_kernels_arrive_whole(void **state)
{
	(void)state;
	moves_in_every_small_machine(false, MIB);
	moves_in_every_small_machine(false, MIB + 2 * PAGE_SIZE);
	moves_in_every_small_machine(false, MIB + 5 * PAGE_SIZE);
}

/* With room for everything side by side nothing is refused or moved twice, wherever the files lie.
 */
static void enough_memory_never_refuses_or_moves_twice(void **state)
{
	struct tally tally = {0};

	(void)state;
	arena_create(MIB + TINY_PAGES * PAGE_SIZE);
	use_tiny_image(true, MIB);
	for (uint64_t pages = 16; pages <= TINY_PAGES; pages++)
		try_machine(&tally, pages);
	arena_free();
	assert_int_equal(tally.refused, 0);
	assert_int_equal(tally.exchanged, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_preferred_address_if_it_is_free, setup),
		cmocka_unit_test_setup(else_the_next_aligned_place_above, setup),
		cmocka_unit_test_setup(never_below_the_preferred_address, setup),
		cmocka_unit_test_setup(a_fixed_kernel_needs_both_its_places, setup),
		cmocka_unit_test_setup(an_initrd_in_the_way_goes_to_the_top, setup),
		cmocka_unit_test_setup(an_initrd_that_does_no_harm_stays, setup),
		cmocka_unit_test_setup(an_initrd_may_not_stay, setup),
		cmocka_unit_test_setup(the_initrd_stays_below_its_limit_and_the_mapped_memory,
				       setup),
		cmocka_unit_test_setup(an_initrd_below_the_kernel_if_above_is_no_room, setup),
		cmocka_unit_test_setup(an_initrd_without_room_is_named_with_numbers, setup),
		cmocka_unit_test_setup(no_low_memory_is_an_error, setup),
		cmocka_unit_test_setup(absurd_sizes_are_refused, setup),
		cmocka_unit_test_setup(relocatable_kernels_arrive_whole, setup),
		cmocka_unit_test_setup(fixed_kernels_arrive_whole, setup),
		cmocka_unit_test_setup(enough_memory_never_refuses_or_moves_twice, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
