/* SPDX-License-Identifier: GPL-2.0-only */
/* mem, write, find, code */
#include "core/cpu.h"
#include "debug/breakpoints.h"
#include "debug/monitor_command.h"
#include "lib/string.h"
#include "mm/physmap.h"

#define ROW	     16 /* bytes a line */
#define MEMORY_BYTES 64 /* unless the user says */
#define CODE_BYTES   32
#define BYTES_MAX    4096
#define PATTERN_MAX  64
#define FIND_BYTES   MIB
#define FIND_MAX     (4 * GIB)
#define FINDS_MAX    32

static const char *space(struct monitor_address address)
{
	return address.physical ? "p:" : "";
}

static void say_unreadable(struct monitor_address address)
{
	monitor_print("%s%08lx: %s\n", space(address), address.value,
		      address.physical ? "no RAM or ROM of the guest's"
				       : "not mapped, or no memory; \"walk\" tells why");
}

static void print_hex(const uint8_t *bytes, uint64_t count)
{
	for (unsigned int i = 0; i < ROW; i++) {
		monitor_print(i == ROW / 2 ? " " : "");
		if (i < count)
			monitor_print(" %02x", bytes[i]);
		else
			monitor_print("   ");
	}
}

static void print_text(const uint8_t *bytes, uint64_t count)
{
	char text[ROW + 1];

	for (unsigned int i = 0; i < count; i++)
		text[i] = bytes[i] >= ' ' && bytes[i] < 0x7f ? (char)bytes[i] : '.';
	text[count] = '\0';
	monitor_print("  %s\n", text);
}

void monitor_memory(struct monitor_request *request)
{
	struct monitor_address address;
	uint64_t size, got = ROW;
	uint8_t bytes[ROW];

	if (!monitor_take_address(request, &address, NULL) ||
	    !monitor_take_number(request, &size, MEMORY_BYTES, BYTES_MAX) ||
	    !monitor_is_at_end(request))
		return;
	for (uint64_t done = 0; done < size && got == ROW; done += ROW) {
		got = monitor_read(request, address, bytes, min_u64(size - done, ROW));
		if (got) {
			monitor_print("%s%08lx ", space(address), address.value);
			print_hex(bytes, got);
			print_text(bytes, got);
		}
		address.value += got;
		if (got < min_u64(size - done, ROW))
			say_unreadable(address);
	}
}

/* Of a code segment: APM volume 2, 4.8.1 */
#define ACCESS_LONG BIT(13)
#define ACCESS_BIG  BIT(14)

/*
 * For boot/code, which puts the instructions below such a line. A disassembler would be as
 * large as all of Vellum.
 */
static unsigned int code_width(const struct guest_state *s)
{
	if (s->efer & EFER_LMA && s->cs.access & ACCESS_LONG)
		return 64;
	return s->cs.access & ACCESS_BIG ? 32 : 16;
}

void monitor_code(struct monitor_request *request)
{
	uint64_t next = monitor_next_instruction(request), size, got;
	struct monitor_address address;
	char name[GUEST_SYMBOL_TEXT_SIZE];
	uint8_t bytes[BYTES_MAX / ROW];

	if (!monitor_take_address(request, &address, &next) ||
	    !monitor_take_number(request, &size, CODE_BYTES, sizeof(bytes)) ||
	    !monitor_is_at_end(request))
		return;
	got = monitor_read(request, address, bytes, size);
	if (!got) {
		say_unreadable(address);
		return;
	}
	monitor_print("code %u %lx", code_width(&request->stopped->state), address.value);
	for (uint64_t i = 0; i < got; i++)
		monitor_print(" %02x", bytes[i]);
	monitor_print("%s\n", address.physical ? "" : guest_symbol_text(address.value, name));
}

static bool write_physical(uint64_t address, const uint8_t *bytes, unsigned int count)
{
	uint8_t *to = (uint8_t *)guest_memory_find(gpa(address), count);

	if (to)
		memcpy(to, bytes, count);
	return to;
}

static bool write_bytes(const struct monitor_request *request, struct monitor_address address,
			const uint8_t *bytes, unsigned int count)
{
	struct guest_paging paging = monitor_paging(request);
	uint8_t old[PATTERN_MAX];

	if (monitor_read(request, address, old, count) != count)
		return false; /* not in part */
	if (address.physical)
		return write_physical(address.value, bytes, count);
	return !breakpoints_write(&paging, address.value, bytes, count);
}

void monitor_write(struct monitor_request *request)
{
	struct monitor_address address;
	uint8_t bytes[PATTERN_MAX];
	unsigned int count;

	if (!monitor_take_address(request, &address, NULL))
		return;
	count = monitor_take_bytes(request, bytes, sizeof(bytes));
	if (!count)
		return;
	if (write_bytes(request, address, bytes, count))
		monitor_print("%u bytes written at %s%08lx\n", count, space(address),
			      address.value);
	else
		say_unreadable(address);
}

/* ---- find ---- */

static bool matches(const struct monitor_request *request, struct monitor_address address,
		    const uint8_t *pattern, unsigned int count)
{
	uint8_t bytes[PATTERN_MAX];

	return monitor_read(request, address, bytes, count) == count &&
	       !memcmp(bytes, pattern, count);
}

/* How much of [address, address+*size) lies in one page; a pointer to it, or NULL. */
static const uint8_t *piece(const struct monitor_request *request, struct monitor_address address,
			    uint64_t *size)
{
	struct guest_paging paging = monitor_paging(request);
	gpa_t where = gpa(address.value);

	*size = min_u64(*size, PAGE_SIZE - (address.value & (PAGE_SIZE - 1)));
	if (!address.physical && guest_memory_translate(&paging, gva(address.value), &where))
		return NULL;
	return guest_memory_find(where, *size);
}

/* Where in it the pattern may start: its first byte. */
static uint64_t find_first(const uint8_t *bytes, uint64_t size, uint8_t first)
{
	uint64_t i = 0;

	while (i < size && bytes[i] != first)
		i++;
	return i;
}

static unsigned int find_in_piece(const struct monitor_request *request,
				  struct monitor_address address, uint64_t size,
				  const uint8_t *pattern, unsigned int count, unsigned int found)
{
	const uint8_t *bytes = piece(request, address, &size);

	for (uint64_t i = 0; bytes && i < size && found < FINDS_MAX; i++) {
		struct monitor_address here = address;

		i += find_first(bytes + i, size - i, pattern[0]);
		here.value += i;
		if (i == size || !matches(request, here, pattern, count))
			continue;
		monitor_print("%s%08lx\n", space(here), here.value);
		found++;
	}
	return found;
}

void monitor_find(struct monitor_request *request)
{
	struct monitor_address address;
	uint8_t pattern[PATTERN_MAX];
	unsigned int count, found = 0;
	uint64_t size;

	if (!monitor_take_address(request, &address, NULL) ||
	    !monitor_take_number(request, &size, FIND_BYTES, FIND_MAX))
		return;
	count = monitor_take_bytes(request, pattern, sizeof(pattern));
	if (!count)
		return;
	while (size && found < FINDS_MAX) {
		uint64_t step = min_u64(size, PAGE_SIZE - (address.value & (PAGE_SIZE - 1)));

		found = find_in_piece(request, address, step, pattern, count, found);
		address.value += step;
		size -= step;
	}
	monitor_print(found == FINDS_MAX ? "and perhaps more\n" : "found %u times\n", found);
}
