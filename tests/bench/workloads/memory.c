// SPDX-License-Identifier: GPL-2.0-only
/* pgfault: a page's first touch. mmap-perf and mmapmix: a mix of address-space calls. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

enum {
	PAGE = 4096,
	FAULT_PAGES = 256, /* mapped at once by pgfault: 1 MiB, too little for a huge page */
	REGIONS = 64,	   /* held at once by the mixes */
	REGION_PAGES_MAX = 16,
};

static void *map(size_t length)
{
	void *address =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	bench_check(address != MAP_FAILED, "mmap");
	return address;
}

static void unmap(void *address, size_t length)
{
	bench_check(munmap(address, length) == 0, "munmap");
}

static void touch(volatile char *address, unsigned int pages)
{
	for (unsigned int page = 0; page < pages; page++)
		address[page * PAGE] = 1;
}

/* An iteration is a page: its fault, and its share of mapping and unmapping. */
static void pgfault_loop(unsigned int iterations)
{
	for (; iterations >= FAULT_PAGES; iterations -= FAULT_PAGES) {
		void *area = map(FAULT_PAGES * PAGE);

		touch(area, FAULT_PAGES);
		unmap(area, FAULT_PAGES * PAGE);
	}
}

/* What a mix does to a region that is mapped, beside touching it. */
enum change { CHANGE_UNMAP, CHANGE_REMAP, CHANGE_PROTECT };

struct mix {
	unsigned int changes;	   /* how many of enum change take part */
	unsigned int touch_one_in; /* the chance that a call is followed by touching */
	unsigned int touch_pages;  /* at most, from the region's start */
};

/* 0.056 page faults a call over a million calls, as the counters of the 2009 mail have it. */
static const struct mix mmap_perf = {
	.changes = CHANGE_REMAP + 1, .touch_one_in = 11, .touch_pages = 1};

/* The heavy twin: all that was mapped is touched, and some of it is protected. */
static const struct mix mmapmix = {
	.changes = CHANGE_PROTECT + 1, .touch_one_in = 1, .touch_pages = REGION_PAGES_MAX};

static struct region {
	char *address; /* NULL: not mapped */
	unsigned int pages;
} regions[REGIONS];

static uint32_t random_state;

/* Marsaglia's xorshift32; a number below limit. */
static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % limit;
}

static unsigned int random_size(void)
{
	return 1 + random_below(REGION_PAGES_MAX);
}

static void region_map(struct region *region)
{
	region->pages = random_size();
	region->address = map(region->pages * PAGE);
}

static void region_unmap(struct region *region)
{
	unmap(region->address, region->pages * PAGE);
	region->address = NULL;
}

static void region_remap(struct region *region)
{
	unsigned int pages = random_size();

	region->address =
		mremap(region->address, region->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE);
	bench_check(region->address != MAP_FAILED, "mremap");
	region->pages = pages;
}

/* Takes write access away and gives it back, so that touching stays allowed. */
static void region_protect(struct region *region)
{
	size_t length = region->pages * PAGE;

	bench_check(mprotect(region->address, length, PROT_READ) == 0 &&
			    mprotect(region->address, length, PROT_READ | PROT_WRITE) == 0,
		    "mprotect");
}

static void region_change(struct region *region, enum change change)
{
	switch (change) {
	case CHANGE_UNMAP:
		region_unmap(region);
		break;
	case CHANGE_REMAP:
		region_remap(region);
		break;
	case CHANGE_PROTECT:
		region_protect(region);
		break;
	}
}

static void region_touch(struct region *region, const struct mix *mix)
{
	unsigned int pages = region->pages < mix->touch_pages ? region->pages : mix->touch_pages;

	if (region->address && random_below(mix->touch_one_in) == 0)
		touch(region->address, pages);
}

static void mix_loop(const struct mix *mix, unsigned int iterations)
{
	while (iterations--) {
		struct region *region = &regions[random_below(REGIONS)];

		if (region->address)
			region_change(region, random_below(mix->changes));
		else
			region_map(region);
		region_touch(region, mix);
	}
}

/* Every run makes the same calls. */
static void mix_prepare(void)
{
	random_state = 20090120;
}

static void mix_finish(void)
{
	for (struct region *region = regions; region < regions + REGIONS; region++)
		if (region->address)
			region_unmap(region);
}

static void mmap_perf_loop(unsigned int iterations)
{
	mix_loop(&mmap_perf, iterations);
}

static void mmapmix_loop(unsigned int iterations)
{
	mix_loop(&mmapmix, iterations);
}

const struct bench bench_pgfault = {
	.name = "pgfault",
	.iterations = 8 * FAULT_PAGES,
	.loop = pgfault_loop,
};

const struct bench bench_mmap_perf = {
	.name = "mmap-perf",
	.iterations = 8000,
	.prepare = mix_prepare,
	.loop = mmap_perf_loop,
	.finish = mix_finish,
};

const struct bench bench_mmapmix = {
	.name = "mmapmix",
	.iterations = 2000,
	.prepare = mix_prepare,
	.loop = mmapmix_loop,
	.finish = mix_finish,
};
