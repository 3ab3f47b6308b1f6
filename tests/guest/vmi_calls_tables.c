/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a descriptor table call (3 to 14) that loads something else, writes past the six
 * bytes of a table register, or puts a descriptor's halves into the wrong place.
 * Manual: docs/vmi.md, the calls; the high half of a descriptor is a stack argument, and the
 * caller pops it.
 * Vendors: no difference.
 * Cannot tell apart: a SetGDT that loads the same selectors once more from one that does not.
 */
#include "guest.h"
#include "pv.h"
#include "segments.h"

const char guest_name[] = "vmi_calls_tables";

#define CANARY	   0x5a
#define ENTRIES	   8u
#define LOW_HALF   0x8765abcdu
#define HIGH_HALF  0x0040f301u /* data, DPL 3, small */
#define LOW(value) ((uint32_t)(value))

struct table {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

/* A register's image on an odd address, with what lies around it. */
static uint8_t image[16];
#define IMAGE (image + 3)

static void set_image(uint16_t limit, uint32_t base)
{
	struct table table = {limit, base};

	memset(image, CANARY, sizeof(image));
	memcpy(IMAGE, &table, sizeof(table));
}

static void expect_image(const char *what, const struct table *wanted)
{
	EXPECT(!memcmp(IMAGE, wanted, sizeof(*wanted)));
	for (unsigned int i = 0; i < sizeof(image); i++)
		if (image + i < IMAGE || image + i >= IMAGE + sizeof(*wanted))
			EXPECT_EQ(what, image[i], CANARY);
}

/* The same entries at another place, and one more. */
static void check_gdt(void)
{
	static uint64_t copy[LINUX_GDT_ENTRIES + 1];
	uint32_t base = PAGE_OFFSET + LOW(copy); /* more than the 24 bits of old instructions */
	struct table old, now;

	asm volatile("sgdt %0" : "=m"(old));
	memcpy(copy, (const void *)old.base, old.limit + 1u);
	set_image(sizeof(copy) - 1, base);
	VMI(SetGDT, LOW(IMAGE));
	asm volatile("sgdt %0" : "=m"(now));
	EXPECT_EQ("GDT base", now.base, base);
	EXPECT_EQ("GDT limit", now.limit, sizeof(copy) - 1);
	set_image(0, 0);
	VMI(GetGDT, LOW(IMAGE));
	expect_image("around GetGDT's", &now);
	asm volatile("lgdt %0" ::"m"(old));
}

static void check_idt(void)
{
	static uint64_t copy[256];
	uint32_t base = PAGE_OFFSET + LOW(copy);
	struct table old, now;

	asm volatile("sidt %0" : "=m"(old));
	memcpy(copy, (const void *)old.base, sizeof(copy));
	set_image(sizeof(copy) - 2, base);
	VMI(SetIDT, LOW(IMAGE));
	asm volatile("sidt %0" : "=m"(now));
	EXPECT_EQ("IDT base", now.base, base);
	EXPECT_EQ("IDT limit", now.limit, sizeof(copy) - 2);
	set_image(0, 0);
	VMI(GetIDT, LOW(IMAGE));
	expect_image("around GetIDT's", &now);
	asm volatile("lidt %0" ::"m"(old));
}

static void check_selectors(void)
{
	uint32_t selector = ~0u;

	VMI(SetLDT, LINUX_LDT);
	asm volatile("sldt %0" : "=r"(selector));
	EXPECT_EQ("LDTR", selector & 0xffff, LINUX_LDT);
	EXPECT_EQ("GetLDT", LOW(VMI(GetLDT, ~0u)), LINUX_LDT);
	VMI(SetLDT, 0);
	EXPECT_EQ("GetLDT", LOW(VMI(GetLDT, ~0u)), 0);
	segments_set_descriptor(LINUX_TSS, segments_descriptor(LINUX_TSS) & ~BIT(41));
	VMI(SetTR, LINUX_TSS);
	asm volatile("str %0" : "=r"(selector));
	EXPECT_EQ("TR", selector & 0xffff, LINUX_TSS);
	EXPECT_EQ("GetTR", LOW(VMI(GetTR, ~0u)), LINUX_TSS);
	EXPECT(segments_descriptor(LINUX_TSS) & BIT(41));
}

#define CHECK_WRITE(name)                                          \
	do {                                                       \
		memset(table, CANARY, sizeof(table));              \
		VMI(name, LOW(table), index, LOW_HALF, HIGH_HALF); \
		expect_entry(#name, table, index);                 \
	} while (0)

static void expect_entry(const char *what, const uint64_t *table, unsigned int index)
{
	for (unsigned int i = 0; i < ENTRIES; i++)
		EXPECT_EQ(what, table[i],
			  i == index ? (uint64_t)HIGH_HALF << 32 | LOW_HALF
				     : 0x5a5a5a5a5a5a5a5aull);
}

static void check_writes(void)
{
	static uint64_t table[ENTRIES];

	for (unsigned int index = 0; index < ENTRIES; index++) {
		CHECK_WRITE(WriteGDTEntry);
		CHECK_WRITE(WriteLDTEntry);
		CHECK_WRITE(WriteIDTEntry);
	}
}

/* Into the live GDT: what was written can be loaded. */
static void check_live_entry(void)
{
	struct table table;
	uint32_t found;

	asm volatile("sgdt %0" : "=m"(table));
	segments_percpu[1] = 0x11fe0000;
	VMI(WriteGDTEntry, table.base, LINUX_PERCPU / 8,
	    LOW(segments_percpu) << 16 | (sizeof(segments_percpu) - 1),
	    0x00409300 | (LOW(segments_percpu) & 0xff000000) | (LOW(segments_percpu) >> 16 & 0xff));
	asm volatile("mov %w1, %%fs; mov %%fs:4, %0; mov %w2, %%fs"
		     : "=&r"(found)
		     : "r"(LINUX_PERCPU), "r"(0));
	EXPECT_EQ("through FS", found, 0x11fe0000);
}

/* The kernel has written the TSS; behind the call a system call uses that stack. */
static void check_kernel_stack(void)
{
	static const uint8_t code[] = {INT_DONE};
	static uint32_t stack[256];
	uint32_t base = LOW(segments_descriptor(LINUX_TSS) >> 16 & 0xffffff) |
			LOW(segments_descriptor(LINUX_TSS) >> 56) << 24;
	uint32_t *esp0 = (uint32_t *)(base + 4), old = *esp0;

	*esp0 = LOW(stack + ARRAY_SIZE(stack));
	VMI(UpdateKernelStack, LINUX_KERNEL_DS, *esp0);
	EXPECT_EQ("system call", vector_of_user(code), DONE);
	EXPECT_EQ("SS on the new stack", stack[ARRAY_SIZE(stack) - 1], USER_DATA);
	*esp0 = old;
	VMI(UpdateKernelStack, LINUX_KERNEL_DS, old);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	for (unsigned int i = 0; i < 8; i++) {
		check_gdt();
		check_idt();
		check_selectors();
		check_writes();
		check_live_entry();
		check_kernel_stack();
	}
}
