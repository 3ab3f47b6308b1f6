/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/announced.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/physmap.h"

#define MAP_SIZE (ANNOUNCED_FRAMES / 8)

static uint64_t *map;
static bool any;

int announced_init(void)
{
	hpa_t frames;

	if (frames_allocate(MAP_SIZE / PAGE_SIZE, 1, &frames))
		return -ENOMEM;
	map = phys_to_virt(frames);
	memset(map, 0, MAP_SIZE);
	any = false;
	return 0;
}

void announced_add(uint64_t frame)
{
	if (frame >= ANNOUNCED_FRAMES)
		return;
	map[frame / 64] |= BIT(frame % 64);
	any = true;
}

void announced_remove(uint64_t frame)
{
	if (frame < ANNOUNCED_FRAMES)
		map[frame / 64] &= ~BIT(frame % 64);
}

bool announced_has(uint64_t frame)
{
	return frame < ANNOUNCED_FRAMES && (map[frame / 64] & BIT(frame % 64));
}

void announced_forget(void)
{
	if (any)
		memset(map, 0, MAP_SIZE);
	any = false;
}
