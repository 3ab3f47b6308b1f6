// SPDX-License-Identifier: GPL-2.0-only
/* Vellum's own frames: where they come from, that none is given twice, and the end of them. */
#include "support.h"

#include <string.h>

#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/physmap.h"

enum { POOL_FIRST = 5, POOL_COUNT = 40 }; /* in frames: the pool starts at an odd one */

#define POOL_START (POOL_FIRST * PAGE_SIZE)

static int make_pool(void **state)
{
	(void)state;
	console_clear();
	arena_create(64 * PAGE_SIZE);
	memset(arena_at(0), 0xa5, 64 * PAGE_SIZE);
	frames_init(hpa(POOL_START), hpa(POOL_START + POOL_COUNT * PAGE_SIZE));
	return 0;
}

static uint64_t allocate(unsigned int count, unsigned int align)
{
	hpa_t frame;

	assert_int_equal(frames_allocate(count, align, &frame), 0);
	return frame.raw;
}

static void assert_refused(unsigned int count, unsigned int align)
{
	hpa_t frame = hpa(0x1234);
	unsigned int free = frames_free_count();

	assert_int_equal(frames_allocate(count, align, &frame), -ENOMEM);
	assert_int_equal(frame.raw, 0x1234);
	assert_int_equal(frames_free_count(), free);
}

static bool all_bytes_are(uint64_t address, uint64_t size, uint8_t value)
{
	const uint8_t *bytes = arena_at(address);

	for (uint64_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void frames_are_zeroed_and_their_neighbours_are_not(void **state)
{
	uint64_t first = allocate(1, 1);
	uint64_t pair = allocate(2, 1);

	(void)state;
	assert_int_equal(first, POOL_START);
	assert_int_equal(pair, POOL_START + PAGE_SIZE);
	assert_true(all_bytes_are(POOL_START, 3 * PAGE_SIZE, 0));
	assert_true(all_bytes_are(0, POOL_START, 0xa5));
	assert_true(all_bytes_are(POOL_START + 3 * PAGE_SIZE, PAGE_SIZE, 0xa5));
}

static void a_frame_that_comes_back_is_zeroed_again(void **state)
{
	uint64_t frame = allocate(1, 1);

	(void)state;
	memset(arena_at(frame), 0xff, PAGE_SIZE);
	frames_free(hpa(frame), 1);
	assert_int_equal(allocate(1, 1), frame);
	assert_true(all_bytes_are(frame, PAGE_SIZE, 0));
}

static void alignment_counts_from_address_0_and_not_from_the_pool(void **state)
{
	(void)state;
	assert_int_equal(allocate(1, 4), 8 * PAGE_SIZE);
	assert_int_equal(allocate(1, 16), 16 * PAGE_SIZE);
	assert_int_equal(allocate(2, 32), 32 * PAGE_SIZE);
	assert_refused(1, 64);
}

static void the_last_frame_says_that_it_was_the_last(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < POOL_COUNT; i++)
		assert_non_null(frame_allocate());
	assert_console_quiet();
	assert_null(frame_allocate());
	assert_console(LOG_ERROR, "out of memory: 1 frames of 4 KiB wanted, 0 of 40 free");
}

static void scattered_free_frames_are_no_run(void **state)
{
	(void)state;
	allocate(POOL_COUNT, 1);
	for (unsigned int i = 0; i < POOL_COUNT; i += 2)
		frames_free(hpa(POOL_START + i * PAGE_SIZE), 1);
	assert_int_equal(frames_free_count(), POOL_COUNT / 2);
	assert_refused(2, 1);
	assert_console(LOG_ERROR, "2 frames of 4 KiB wanted, 20 of 40 free");
}

static void none_and_too_many_are_refused(void **state)
{
	(void)state;
	assert_refused(0, 1);
	assert_refused(POOL_COUNT + 1, 1);
	assert_refused(UINT32_MAX, 1);
	assert_int_equal(allocate(POOL_COUNT, 1), POOL_START);
}

static void an_empty_pool_has_nothing(void **state)
{
	(void)state;
	frames_init(hpa(POOL_START), hpa(POOL_START));
	assert_refused(0, 1);
	assert_refused(1, 1);
}

static void no_more_frames_are_used_than_can_be_kept_book_of(void **state)
{
	(void)state;
	arena_create((FRAMES_MAX + 8) * PAGE_SIZE);
	frames_init(hpa(0), hpa((FRAMES_MAX + 8) * PAGE_SIZE));
	assert_int_equal(frames_free_count(), FRAMES_MAX);
	assert_refused(FRAMES_MAX + 1, 1);
	assert_int_equal(allocate(FRAMES_MAX, 1), 0);
	assert_refused(1, 1);
}

static bool model[POOL_COUNT]; /* in use */

static unsigned int model_find(unsigned int count, unsigned int align)
{
	for (unsigned int first = 0; first + count <= POOL_COUNT; first++) {
		unsigned int i = 0;

		while (i < count && !model[first + i])
			i++;
		if (i == count && (POOL_FIRST + first) % align == 0)
			return first;
	}
	return POOL_COUNT;
}

static void model_set(unsigned int first, unsigned int count, bool value)
{
	for (unsigned int i = first; i < first + count; i++)
		model[i] = value;
}

static unsigned int model_free_count(void)
{
	unsigned int free = 0;

	for (unsigned int i = 0; i < POOL_COUNT; i++)
		free += !model[i];
	return free;
}

static void random_use_gives_the_lowest_free_run_each_time(void **state)
{
	uint64_t random = 7;

	(void)state;
	memset(model, 0, sizeof(model));
	for (int step = 0; step < 20000; step++) {
		unsigned int count = 1 + (unsigned int)random_below(&random, 6);
		unsigned int align = 1u << random_below(&random, 4);
		unsigned int first = model_find(count, align);
		unsigned int freed = (unsigned int)random_below(&random, POOL_COUNT);

		if (first == POOL_COUNT) {
			assert_refused(count, align);
		} else {
			assert_int_equal(allocate(count, align), POOL_START + first * PAGE_SIZE);
			model_set(first, count, true);
		}
		if (model[freed]) {
			frames_free(hpa(POOL_START + freed * PAGE_SIZE), 1);
			model_set(freed, 1, false);
		}
		assert_int_equal(frames_free_count(), model_free_count());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(frames_are_zeroed_and_their_neighbours_are_not, make_pool),
		cmocka_unit_test_setup(a_frame_that_comes_back_is_zeroed_again, make_pool),
		cmocka_unit_test_setup(alignment_counts_from_address_0_and_not_from_the_pool,
				       make_pool),
		cmocka_unit_test_setup(the_last_frame_says_that_it_was_the_last, make_pool),
		cmocka_unit_test_setup(scattered_free_frames_are_no_run, make_pool),
		cmocka_unit_test_setup(none_and_too_many_are_refused, make_pool),
		cmocka_unit_test_setup(an_empty_pool_has_nothing, make_pool),
		cmocka_unit_test_setup(no_more_frames_are_used_than_can_be_kept_book_of, make_pool),
		cmocka_unit_test_setup(random_use_gives_the_lowest_free_run_each_time, make_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
