// SPDX-License-Identifier: GPL-2.0-only
#include "guest/linux_place.h"

#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"

/* The real-mode vectors and the BIOS data area are below, the EBDA and VGA above */
#define LOW_FLOOR PAGE_SIZE
#define LOW_LIMIT (640 * KIB)

/* The initrd and a kernel on its way stay above the BIOS, where Linux expects nothing */
#define HIGH_FLOOR MIB

#define MAX_AVOIDED 3

/* Where an initrd may be. */
struct initrd_rules {
	const struct e820_map *map;
	uint64_t limit;
	struct linux_range avoid[MAX_AVOIDED];
};

static unsigned long long kib(uint64_t bytes)
{
	return align_up(bytes, KIB) / KIB;
}

static bool overlaps(struct linux_range a, struct linux_range b)
{
	return a.size > 0 && b.size > 0 && a.base < b.base + b.size && b.base < a.base + a.size;
}

/* The first of the ranges to avoid that is in the way; NULL if none is. */
static const struct linux_range *find_overlap(struct linux_range range,
					      const struct linux_range avoid[MAX_AVOIDED])
{
	for (unsigned int i = 0; i < MAX_AVOIDED; i++) {
		if (overlaps(range, avoid[i]))
			return &avoid[i];
	}
	return NULL;
}

/*
 * The highest page-aligned place in RAM below limit that overlaps nothing to avoid; 0 if
 * there is none. When the highest place of all overlaps a range, every other place
 * lies lower, and so below the start of that range or still on it.
 */
static uint64_t find_top_avoiding(const struct e820_map *map, uint64_t size, uint64_t limit,
				  const struct linux_range avoid[MAX_AVOIDED])
{
	for (;;) {
		uint64_t base = e820_find_top(map, size, PAGE_SIZE, HIGH_FLOOR, limit);
		const struct linux_range *hit =
			find_overlap((struct linux_range){base, size}, avoid);

		if (base == 0 || hit == NULL)
			return base;
		limit = hit->base;
	}
}

static int refuse_kernel(const struct linux_image *image, struct linux_range range,
			 const struct e820_map *map, uint64_t limit)
{
	pr_error("kernel \"%.*s\" needs %llu KiB of free RAM %s %#llx; the largest piece from "
		 "there on has %llu KiB, all RAM %llu KiB: give the machine more memory%s",
		 WORD_ARGS(image->name), kib(range.size), image->relocatable ? "at or above" : "at",
		 (unsigned long long)range.base, kib(e820_largest_ram(map, range.base, limit)),
		 kib(e820_ram_size(map)),
		 image->relocatable ? "" : ", or build it with CONFIG_RELOCATABLE");
	return -E2BIG;
}

/*
 * Loaded below its preferred address, a relocatable kernel would move itself up to
 * it (boot.rst, init_size): so the search starts there, and what it finds is also
 * where the kernel runs.
 */
static int place_relocatable(const struct linux_image *image, const struct e820_map *map,
			     uint64_t limit, struct linux_layout *layout)
{
	struct linux_range run = {image->preferred, image->run_size};
	uint64_t base = e820_find_bottom(map, run.size, image->alignment, run.base, limit);

	if (base == UINT64_MAX)
		return refuse_kernel(image, run, map, limit);
	layout->run = (struct linux_range){base, run.size};
	layout->load = (struct linux_range){base, image->kernel_size};
	return 0;
}

static bool is_free(struct linux_range range, const struct e820_map *map, uint64_t limit)
{
	return range.base <= limit && range.size <= limit - range.base &&
	       e820_covers(map, range.base, range.size, E820_RAM);
}

/* It is loaded at 1 MiB, and moves itself to its preferred address, which may be higher. */
static int place_fixed(const struct linux_image *image, const struct e820_map *map, uint64_t limit,
		       struct linux_layout *layout)
{
	layout->load = (struct linux_range){LINUX_HIGH_ADDRESS, image->kernel_size};
	layout->run = (struct linux_range){image->preferred, image->run_size};
	if (!is_free(layout->load, map, limit))
		return refuse_kernel(image, layout->load, map, limit);
	if (!is_free(layout->run, map, limit))
		return refuse_kernel(image, layout->run, map, limit);
	return 0;
}

/*
 * An initrd stays where the boot loader put it if that does no harm. With an image
 * that doesn't say its run size, the highest place is the only one that is safe.
 */
static bool may_stay(const struct linux_image *image, struct linux_range initrd,
		     const struct initrd_rules *rules)
{
	return image->run_size_known && is_aligned(initrd.base, PAGE_SIZE) &&
	       initrd.base >= HIGH_FLOOR && is_free(initrd, rules->map, rules->limit) &&
	       find_overlap(initrd, rules->avoid) == NULL;
}

/* Off the kernel's source, if there is room: then each of the two is moved once. */
static uint64_t find_initrd(const struct linux_image *image, uint64_t size,
			    const struct initrd_rules *rules)
{
	struct linux_range avoid[MAX_AVOIDED] = {
		rules->avoid[0], rules->avoid[1], {image->kernel.raw, image->kernel_size}};
	uint64_t base = find_top_avoiding(rules->map, size, rules->limit, avoid);

	return base ? base : find_top_avoiding(rules->map, size, rules->limit, rules->avoid);
}

static int place_initrd(const struct linux_image *image, struct linux_range initrd,
			struct word name, const struct initrd_rules *rules,
			struct linux_layout *layout)
{
	layout->initrd = initrd;
	if (initrd.size == 0 || may_stay(image, initrd, rules))
		return 0;
	layout->initrd.base = find_initrd(image, initrd.size, rules);
	if (layout->initrd.base != 0)
		return 0;
	pr_error("initrd \"%.*s\" of %llu KiB does not fit below %#llx beside the kernel, which "
		 "takes %llu KiB at %#llx; all RAM is %llu KiB: give the machine more memory",
		 WORD_ARGS(name), kib(initrd.size), (unsigned long long)rules->limit,
		 kib(layout->run.size), (unsigned long long)layout->run.base,
		 kib(e820_ram_size(rules->map)));
	return -E2BIG;
}

static void add_move(struct linux_layout *layout, uint64_t to, struct linux_range from)
{
	if (to == from.base || from.size == 0)
		return;
	layout->move[layout->move_count++] = (struct linux_move){to, from.base, from.size};
}

/*
 * For a kernel and an initrd that each have to go where the other one lies. The
 * kernel, the smaller one as a rule, steps aside to a place that spares the
 * initrd's source and target, the initrd goes, then the kernel goes to its target.
 * Where it stepped to may overlap its own source and target: memmove cares for that.
 */
static int exchange(const struct linux_image *image, struct linux_range kernel,
		    struct linux_range initrd, const struct e820_map *map, uint64_t limit,
		    struct linux_layout *layout)
{
	struct linux_range avoid[MAX_AVOIDED] = {initrd, layout->initrd};
	struct linux_range aside = {0, kernel.size};

	aside.base = find_top_avoiding(map, kernel.size, limit, avoid);
	if (aside.base == 0) {
		pr_error("kernel \"%.*s\": no %llu KiB of RAM free to exchange it with the initrd; "
			 "all RAM is %llu KiB: give the machine more memory",
			 WORD_ARGS(image->name), kib(kernel.size), kib(e820_ram_size(map)));
		return -E2BIG;
	}
	add_move(layout, aside.base, kernel);
	add_move(layout, layout->initrd.base, initrd);
	add_move(layout, layout->load.base, aside);
	return 0;
}

/*
 * The targets of kernel and initrd don't overlap each other, so all that can go wrong
 * is a move onto the source of a later one. The initrd goes first if its target
 * spares the kernel's source, else the kernel if its target spares the initrd's.
 */
static int order_moves(const struct linux_image *image, struct linux_range initrd,
		       const struct e820_map *map, uint64_t limit, struct linux_layout *layout)
{
	struct linux_range kernel = {image->kernel.raw, image->kernel_size};

	if (!overlaps(layout->initrd, kernel)) {
		add_move(layout, layout->initrd.base, initrd);
		add_move(layout, layout->load.base, kernel);
		return 0;
	}
	if (!overlaps(layout->load, initrd)) {
		add_move(layout, layout->load.base, kernel);
		add_move(layout, layout->initrd.base, initrd);
		return 0;
	}
	return exchange(image, kernel, initrd, map, limit, layout);
}

static int place_low(uint64_t size, const struct e820_map *map, struct linux_layout *layout)
{
	layout->low = e820_find_top(map, size, PAGE_SIZE, LOW_FLOOR, LOW_LIMIT);
	if (layout->low != 0)
		return 0;
	pr_error("guest: no %llu bytes of RAM free below %llu KiB for the kernel's parameters, the "
		 "largest piece has %llu bytes",
		 (unsigned long long)size, kib(LOW_LIMIT),
		 (unsigned long long)e820_largest_ram(map, LOW_FLOOR, LOW_LIMIT));
	return -E2BIG;
}

int linux_place(const struct linux_image *image, struct linux_range initrd, struct word initrd_name,
		uint64_t low_size, const struct e820_map *map, uint64_t limit,
		struct linux_layout *layout)
{
	struct initrd_rules rules = {.map = map, .limit = min_u64(limit, image->initrd_limit)};
	int error;

	memset(layout, 0, sizeof(*layout));
	error = image->relocatable ? place_relocatable(image, map, limit, layout)
				   : place_fixed(image, map, limit, layout);
	if (error)
		return error;
	rules.avoid[0] = layout->load;
	rules.avoid[1] = layout->run;
	error = place_initrd(image, initrd, initrd_name, &rules, layout);
	if (!error)
		error = order_moves(image, initrd, map, limit, layout);
	return error ? error : place_low(low_size, map, layout);
}
