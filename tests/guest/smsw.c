/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a store that Vellum makes for a user program where the program itself may not
 * write: SMSW exits without nested paging, as the guest's CR0 is not the processor's.
 * Manual: APM volume 3, SMSW: two bytes to memory, #PF as for any store; to a 16-bit
 * register the upper half stays.
 * Vendors: no difference.
 * Cannot tell apart: segments, which QEMU does not check natively.
 */
#include "guest.h"

const char guest_name[] = "smsw";

#define FAULT_PRESENT BIT(0)
#define FAULT_WRITE   BIT(1)
#define FAULT_USER    BIT(2)
#define ENTRY_WRITE   2u
#define BEFORE	      0xa5a5a5a5u
#define CODE_PAGE     (WINDOW + 0 * (uint32_t)PAGE_SIZE)
#define DATA_PAGE     (WINDOW + 1 * (uint32_t)PAGE_SIZE)
#define FIXED_PAGE    (WINDOW + 2 * (uint32_t)PAGE_SIZE) /* read-only */
#define ABSENT_PAGE   (WINDOW + 9 * (uint32_t)PAGE_SIZE)

static uint8_t frames[3][4096] __attribute__((aligned(4096)));
static uint32_t of_the_kernel = BEFORE;

static const uint8_t to_memory[] = {0x0f, 0x01, 0x23, INT_DONE};   /* SMSW [EBX] */
static const uint8_t to_ax[] = {0x66, 0x0f, 0x01, 0xe0, INT_DONE}; /* SMSW AX */

static struct state store_at(uint32_t address)
{
	struct state state = state_for_user((void *)CODE_PAGE);

	memcpy(frames[0], to_memory, sizeof(to_memory));
	state.rbx = address;
	run(&state);
	return state;
}

static void expect_fault(const char *what, uint32_t address, uint32_t faults_at, uint32_t error)
{
	struct state end = store_at(address);

	EXPECT_EQ(what, end.vector, VECTOR_PF);
	EXPECT_EQ(what, end.error, error);
	EXPECT_EQ(what, end.cr2, faults_at);
	EXPECT_EQ(what, end.rip, CODE_PAGE);
}

static void check_stores(void)
{
	uint32_t *word = (uint32_t *)frames[1];
	uint32_t present = (uint32_t)(FAULT_PRESENT | FAULT_WRITE | FAULT_USER);

	*word = BEFORE;
	EXPECT_EQ("its own page", store_at(DATA_PAGE).vector, DONE);
	EXPECT_EQ("two bytes", *word, (BEFORE & 0xffff0000) | (uint16_t)cr0_read());
	expect_fault("kernel's page", (uint32_t)&of_the_kernel, (uint32_t)&of_the_kernel, present);
	EXPECT_EQ("kernel's word", of_the_kernel, BEFORE);
	expect_fault("read-only page", FIXED_PAGE + 8, FIXED_PAGE + 8, present);
	expect_fault("no page", ABSENT_PAGE, ABSENT_PAGE, (uint32_t)(FAULT_WRITE | FAULT_USER));
	expect_fault("the second byte's page", FIXED_PAGE - 1, FIXED_PAGE, present);
}

static void check_register(void)
{
	struct state state = state_for_user((void *)CODE_PAGE);

	memcpy(frames[0], to_ax, sizeof(to_ax));
	state.rax = BEFORE;
	run(&state);
	EXPECT_EQ("AX", (uint32_t)state.rax, (BEFORE & 0xffff0000) | (uint16_t)cr0_read());
}

void guest_main(void)
{
	for (unsigned int page = 0; page < ARRAY_SIZE(frames); page++)
		paging_map_window(page, (uint32_t)frames[page]);
	paging_hide_from_user();
	for (enum paging paging = PAGING_4M; paging <= PAGING_PAE; paging++) {
		*(uint32_t *)paging_window_entry(paging, 2) &= ~ENTRY_WRITE;
		paging_on(paging);
		check_stores();
		check_register();
	}
}
