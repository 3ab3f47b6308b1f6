/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/frames.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

static uint64_t pool_start;
static unsigned int pool_count, pool_free;
static bool used[FRAMES_MAX];

void frames_init(hpa_t start, hpa_t end)
{
	pool_start = start.raw;
	pool_count = (unsigned int)min_u64((end.raw - start.raw) / PAGE_SIZE, FRAMES_MAX);
	pool_free = pool_count;
	memset(used, 0, sizeof(used));
}

static bool run_is_free(unsigned int first, unsigned int count)
{
	for (unsigned int i = first; i < first + count; i++)
		if (used[i])
			return false;
	return true;
}

static void mark(unsigned int first, unsigned int count, bool value)
{
	for (unsigned int i = first; i < first + count; i++)
		used[i] = value;
}

/* Alignment counts from physical address 0. */
static unsigned int first_aligned(unsigned int align)
{
	uint64_t frame = pool_start / PAGE_SIZE;

	return (unsigned int)(align_up(frame, align) - frame);
}

int frames_allocate(unsigned int count, unsigned int align, hpa_t *frame)
{
	for (unsigned int i = first_aligned(align);
	     count && count <= pool_count && i <= pool_count - count; i += align) {
		if (!run_is_free(i, count))
			continue;
		mark(i, count, true);
		pool_free -= count;
		*frame = hpa(pool_start + i * PAGE_SIZE);
		memset(phys_to_virt(*frame), 0, count * PAGE_SIZE);
		return 0;
	}
	pr_error("out of memory: %u frames of 4 KiB wanted, %u of %u free", count, pool_free,
		 pool_count);
	return -ENOMEM;
}

void *frame_allocate(void)
{
	hpa_t frame;

	return frames_allocate(1, 1, &frame) ? NULL : phys_to_virt(frame);
}

void frames_free(hpa_t frame, unsigned int count)
{
	mark((unsigned int)((frame.raw - pool_start) / PAGE_SIZE), count, false);
	pool_free += count;
}

unsigned int frames_free_count(void)
{
	return pool_free;
}
