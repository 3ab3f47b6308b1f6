/* SPDX-License-Identifier: GPL-2.0-only */
/* walk: the guest's page tables, then the nested ones. */
#include "core/guest_space.h"
#include "core/vendor.h"
#include "debug/monitor_command.h"
#include "debug/walk.h"
#include "mm/mmu.h"

static const char *const nested_names[PAGE_TABLE_LEVELS] = {"4", "3", "2", "1"};

/* APM volume 2, 5.4.1; in the order that everybody writes them */
static const struct {
	const char *name;
	uint64_t bit;
} entry_flags[] = {{"present", BIT(0)}, {"write", BIT(1)},  {"user", BIT(2)},
		   {"PWT", BIT(3)},	{"PCD", BIT(4)},    {"accessed", BIT(5)},
		   {"dirty", BIT(6)},	{"global", BIT(8)}, {"NX", BIT(63)}};

#define LEAF_ONLY (BIT(6) | BIT(8)) /* ignored where an entry leads to a table */

static void print_entry(const struct walk_step *step)
{
	uint64_t ignored = (step->leaf ? 0 : LEAF_ONLY) | (step->wide ? 0 : BIT(63));

	monitor_print("  %-5s%08lx[%03x]  %0*lx ", step->name, step->table, step->index,
		      step->wide ? 16 : 8, step->entry);
	for (unsigned int i = 0; i < ARRAY_SIZE(entry_flags); i++)
		if (step->entry & entry_flags[i].bit & ~ignored)
			monitor_print(" %s", entry_flags[i].name);
	monitor_print("\n");
}

/* Rights are what all levels allow: APM volume 2, 5.6.1 */
static void print_rights(const struct walk *walk)
{
	uint64_t allowed = WALK_WRITE | WALK_USER, nx = 0;

	for (unsigned int i = 0; i < walk->count; i++) {
		const struct walk_step *step = &walk->step[i];

		allowed &= step->has_rights ? step->entry : allowed;
		nx |= step->wide ? step->entry & WALK_NX : 0;
	}
	monitor_print(" %s, %s, %s", allowed & WALK_USER ? "user" : "kernel only",
		      allowed & WALK_WRITE ? "writable" : "read-only",
		      nx ? "no execution" : "executable");
}

static void print_size(uint64_t size)
{
	if (size >= GIB)
		monitor_print("%lu GiB", size / GIB);
	else if (size >= MIB)
		monitor_print("%lu MiB", size / MIB);
	else
		monitor_print("%lu KiB", size / KIB);
}

static void walk_nested(gpa_t address)
{
	uint64_t entry[PAGE_TABLE_LEVELS];
	unsigned int count = mmu_nested_walk(address, entry);
	char rights[VENDOR_RIGHTS_SIZE];

	if (!count) {
		monitor_print("no nested paging: p:%lx is where it is, unless it is Vellum's\n",
			      address.raw);
		return;
	}
	monitor_print("%s, for p:%lx\n", vendor->nested_name, address.raw);
	for (unsigned int i = 0; i < count; i++)
		monitor_print("  %-5s%*s%016lx  %s\n", nested_names[i], 15, "", entry[i],
			      entry[i] ? vendor->nested_rights(entry[i], rights) : "");
	if (!entry[count - 1])
		monitor_print("  not mapped: it will be when the guest touches it, unless it is "
			      "beyond what the processor can address\n");
	else if (guest_space_is_kept(address, 1))
		monitor_print(
			"  Vellum's own memory: the guest sees one page of no meaning here\n");
}

void monitor_walk(struct monitor_request *request)
{
	struct guest_paging paging = monitor_paging(request);
	struct monitor_address address;
	struct walk walk;

	if (!monitor_take_address(request, &address, NULL) || !monitor_is_at_end(request))
		return;
	if (address.physical) {
		walk_nested(gpa(address.value));
		return;
	}
	walk_guest(&paging, address.value, &walk);
	monitor_print("guest, for %lx%s\n", address.value, walk.count ? "" : ": no paging");
	for (unsigned int i = 0; i < walk.count; i++)
		print_entry(&walk.step[i]);
	if (walk.wrong) {
		monitor_print("  not mapped: %s\n", walk.wrong);
		return;
	}
	monitor_print("  page of ");
	print_size(walk.page);
	monitor_print(" at p:%lx,", align_down(walk.address.raw, walk.page));
	print_rights(&walk);
	monitor_print("\n");
	walk_nested(walk.address);
}
