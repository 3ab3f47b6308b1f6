/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: user code that gets an answer from Vellum which the bare processor would not
 * give, or brings Vellum down: thousands of random encodings of what may exit, at CPL 3,
 * on random places of two pages that are no neighbours.
 * Manual: APM volume 3: what is privileged is #GP or #UD, the rest goes on behind itself.
 * Vendors: VT-x checks privilege before it exits for all but CPUID and its own; the same.
 * It keeps CR0.NE at 1, so an x87 error is always #MF; hence the guest sets NE.
 * Cannot tell apart: results in registers, which may rightly differ (CPUID, RDTSC); only
 * the vector and where it came are compared. The instructions of SVM are left out
 * (svm_instructions): with SVME set for the guest CPL 3 gets #GP instead of #UD.
 */
#include "guest.h"

const char guest_name[] = "fuzz_user";

#define ROUNDS	   20000
#define TELL_EVERY 1000
#define INT3	   0xcc
#define SIZE	   15
#define PLACES	   (2 * (uint32_t)PAGE_SIZE - SIZE)
#define FIRST_SVM  0xd8 /* second byte behind 0F 01: VMRUN */
#define LAST_SVM   0xdf /* INVLPGA */
#define STACK_PAGE 2u

static const uint8_t prefixes[] = {0x66, 0x67, 0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65, 0xf2, 0xf3};
static const uint8_t opcodes[][2] = {
	{0x0f, 0xa2}, {0x0f, 0xa2}, {0x0f, 0xa2}, {0x0f, 0x01}, {0x0f, 0x01}, {0x0f, 0x00},
	{0x0f, 0x30}, {0x0f, 0x32}, {0x0f, 0x08}, {0x0f, 0x09}, {0x0f, 0x20}, {0x0f, 0x22},
	{0x0f, 0x21}, {0x0f, 0x23}, {0x0f, 0x33}, {0x0f, 0x06}, {0x0f, 0x0b}, {0xec, 0xcc},
	{0xed, 0xcc}, {0xee, 0xcc}, {0xef, 0xcc}, {0x6c, 0xcc}, {0x6e, 0xcc}, {0xe4, 0x64},
	{0xf4, 0xcc}, {0xfa, 0xcc}, {0x9d, 0xcc},
};
static uint8_t frames[3][4096] __attribute__((aligned(4096)));

static uint32_t below(uint32_t limit)
{
	static uint32_t value = 20260101;

	value = value * 1664525 + 1013904223; /* Numerical Recipes */
	return (value >> 8) % limit;
}

/*
 * SMSW to memory by CS, or by FS and GS, which are null: #GP, but QEMU alone checks no
 * segments, and Vellum does where it carries the store out (shadow paging).
 */
static bool stores_by_odd_segment(const uint8_t *bytes, unsigned int count)
{
	bool is_odd = false;

	for (unsigned int i = 0; i < count; i++)
		is_odd = is_odd || bytes[i] == 0x2e || bytes[i] == 0x64 || bytes[i] == 0x65;
	return is_odd && bytes[count + 1] == 0x01 && (bytes[count + 2] >> 3 & 7) == 4;
}

static void make(uint8_t *bytes)
{
	unsigned int count = below(4) ? below(4) : below(SIZE - 3);
	const uint8_t *opcode = opcodes[below(ARRAY_SIZE(opcodes))];

	for (unsigned int i = 0; i < count; i++)
		bytes[i] = prefixes[below(sizeof(prefixes))];
	memcpy(bytes + count, opcode, 2);
	bytes[count + 2] = (uint8_t)below(256); /* ModRM */
	if (opcode[1] == 0x01 && bytes[count + 2] >= FIRST_SVM && bytes[count + 2] <= LAST_SVM)
		bytes[count + 2] = INT3;
	if (stores_by_odd_segment(bytes, count))
		bytes[count + 2] = INT3;
}

/* Page 0 of the window is frame 1, page 1 is frame 0. */
static void put(uint32_t place, const uint8_t *bytes)
{
	for (unsigned int i = 0; i < SIZE; i++, place++)
		frames[place < PAGE_SIZE][place % PAGE_SIZE] = bytes[i];
}

static uint32_t round_hash(uint32_t hash)
{
	uint8_t bytes[SIZE], none[SIZE];
	uint32_t place = below(2) ? below(PLACES) : (uint32_t)PAGE_SIZE - below(SIZE);
	struct state state = state_for_user((void *)(WINDOW + place));

	memset(none, INT3, SIZE);
	memset(bytes, INT3, SIZE);
	make(bytes);
	put(place, bytes);
	state.rsp = WINDOW + (STACK_PAGE + 1) * (uint32_t)PAGE_SIZE;
	state.rax = state.rcx = state.rbx = below(2);
	run(&state);
	put(place, none);
	return (hash ^ (uint32_t)(state.vector << 16 | (state.rip & 0xffff))) * 16777619;
}

void guest_main(void)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	cr0_write(cr0_read() | (uint32_t)CR0_NE);
	memset(frames, INT3, sizeof(frames));
	for (unsigned int page = 0; page < ARRAY_SIZE(frames); page++)
		paging_map_window(page, (uint32_t)frames[page < 2 ? !page : page]);
	paging_hide_from_user();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (i % TELL_EVERY == 0) {
			paging_on((enum paging)(i / TELL_EVERY % 3));
			say_same("%u rounds: %08x", i, hash);
		}
		hash = round_hash(hash);
	}
	say_same("%u rounds: %08x", ROUNDS, hash);
}
