/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/breakpoints.h"
#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/string.h"

#define INT3 0xcc

/* DR7: APM volume 2, figure 13-4 */
#define DR7_GLOBAL(n)	       BIT(2 * (n) + 1)
#define DR7_ACCESS(n, access)  ((uint64_t)(access) << (16 + 4 * (n)))
#define DR7_LENGTH(n, encoded) ((uint64_t)(encoded) << (18 + 4 * (n)))

/* Where the byte is counts, not by which address it was asked for: page tables change. */
static struct software_breakpoint {
	bool used;
	uint8_t original;
	uint64_t address;
	gpa_t where;
} software[SOFTWARE_BREAKPOINTS_MAX];

static struct hardware_breakpoint hardware[HARDWARE_BREAKPOINTS_MAX];

/* NULL where the guest has no memory. */
static uint8_t *byte_at(gpa_t where)
{
	return (uint8_t *)guest_memory_find(where, 1);
}

static struct software_breakpoint *find_at(gpa_t where)
{
	for (unsigned int i = 0; i < SOFTWARE_BREAKPOINTS_MAX; i++)
		if (software[i].used && software[i].where.raw == where.raw)
			return &software[i];
	return NULL;
}

static struct software_breakpoint *find_free(void)
{
	for (unsigned int i = 0; i < SOFTWARE_BREAKPOINTS_MAX; i++)
		if (!software[i].used)
			return &software[i];
	return NULL;
}

static bool is_valid(const struct guest_paging *paging, uint64_t address)
{
	return !(paging->efer & EFER_LMA) ||
	       is_canonical(address, paging->cr4 & CR4_LA57 ? 57 : 48);
}

static int translate(const struct guest_paging *paging, uint64_t address, gpa_t *where)
{
	return is_valid(paging, address) ? guest_memory_translate(paging, gva(address), where)
					 : -EFAULT;
}

int breakpoint_add(const struct guest_paging *paging, uint64_t address)
{
	struct software_breakpoint *one = find_free();
	uint8_t *byte;
	gpa_t where;

	if (translate(paging, address, &where) || !(byte = byte_at(where)))
		return -EFAULT;
	if (find_at(where))
		return 0;
	if (!one)
		return -E2BIG;
	*one = (struct software_breakpoint){true, *byte, address, where};
	*byte = INT3;
	return 0;
}

/* What the guest has written there since then stays. */
static void take_out(struct software_breakpoint *one)
{
	uint8_t *byte = byte_at(one->where);

	if (byte && *byte == INT3)
		*byte = one->original;
	one->used = false;
}

int breakpoint_remove(uint64_t address)
{
	for (unsigned int i = 0; i < SOFTWARE_BREAKPOINTS_MAX; i++) {
		if (!software[i].used || software[i].address != address)
			continue;
		take_out(&software[i]);
		return 0;
	}
	return -ENOENT;
}

bool breakpoints_in_use(void)
{
	for (unsigned int i = 0; i < SOFTWARE_BREAKPOINTS_MAX; i++)
		if (software[i].used)
			return true;
	return false;
}

bool breakpoint_is_at(const struct guest_paging *paging, uint64_t address)
{
	gpa_t where;

	return !translate(paging, address, &where) && find_at(where);
}

static bool has_length(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static struct hardware_breakpoint *find_hardware(uint64_t address, enum breakpoint_access access,
						 uint64_t size)
{
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		if (hardware[i].used && hardware[i].address == address &&
		    hardware[i].access == access && hardware[i].size == size)
			return &hardware[i];
	return NULL;
}

/* For execution the processor wants 1; what gdb says is the length of the instruction. */
static uint64_t true_size(enum breakpoint_access access, uint64_t size)
{
	return access == BREAK_EXECUTE ? 1 : size;
}

int watchpoint_add(uint64_t address, enum breakpoint_access access, uint64_t size)
{
	size = true_size(access, size);
	if (!has_length(size) || !is_aligned(address, size))
		return -EINVAL;
	if (find_hardware(address, access, size))
		return 0;
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++) {
		if (hardware[i].used)
			continue;
		hardware[i] =
			(struct hardware_breakpoint){true, address, access, (unsigned int)size};
		return 0;
	}
	return -E2BIG;
}

int watchpoint_remove(uint64_t address, enum breakpoint_access access, uint64_t size)
{
	struct hardware_breakpoint *one = find_hardware(address, access, true_size(access, size));

	if (!one)
		return -ENOENT;
	one->used = false;
	return 0;
}

bool watchpoints_in_use(void)
{
	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		if (hardware[i].used)
			return true;
	return false;
}

const struct hardware_breakpoint *watchpoint_at(unsigned int number)
{
	return &hardware[number];
}

/* 1, 2 and 4 bytes are 0, 1 and 3; 8 are 2 (13.1.1.5). */
static uint64_t encoded_length(unsigned int size)
{
	return size == 8 ? 2 : size - 1;
}

uint64_t watchpoints_dr7(void)
{
	uint64_t dr7 = DR7_INITIAL;

	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		if (hardware[i].used)
			dr7 |= DR7_GLOBAL(i) | DR7_ACCESS(i, hardware[i].access) |
			       DR7_LENGTH(i, encoded_length(hardware[i].size));
	return dr7;
}

void breakpoints_clear(void)
{
	for (unsigned int i = 0; i < SOFTWARE_BREAKPOINTS_MAX; i++)
		if (software[i].used)
			take_out(&software[i]);
	memset(hardware, 0, sizeof(hardware));
}

/* One byte, and the breakpoint that hides it; NULL if it is no memory. */
static uint8_t *look_up(const struct guest_paging *paging, uint64_t address,
			struct software_breakpoint **hidden_by)
{
	gpa_t where;

	if (translate(paging, address, &where))
		return NULL;
	*hidden_by = find_at(where);
	return byte_at(where);
}

uint64_t breakpoints_read(const struct guest_paging *paging, uint64_t address, void *out,
			  uint64_t size)
{
	uint8_t *to = out;

	for (uint64_t i = 0; i < size; i++) {
		struct software_breakpoint *hidden_by;
		const uint8_t *byte = look_up(paging, address + i, &hidden_by);

		if (!byte)
			return i;
		to[i] = hidden_by && *byte == INT3 ? hidden_by->original : *byte;
	}
	return size;
}

int breakpoints_write(const struct guest_paging *paging, uint64_t address, const void *data,
		      uint64_t size)
{
	const uint8_t *from = data;

	for (uint64_t i = 0; i < size; i++) {
		struct software_breakpoint *hidden_by;
		uint8_t *byte = look_up(paging, address + i, &hidden_by);

		if (!byte)
			return -EFAULT;
		if (hidden_by)
			hidden_by->original = from[i];
		else
			*byte = from[i];
	}
	return 0;
}
