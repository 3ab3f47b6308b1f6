/* SPDX-License-Identifier: GPL-2.0-only */
#include "segments.h"
#include "guest.h"

/* Descriptors, accessed: APM volume 2, 4.8 */
#define SEGMENT_CODE  0x00cf9b000000ffffull
#define SEGMENT_DATA  0x00cf93000000ffffull
#define SEGMENT_USER  0x0000600000000000ull /* DPL 3 */
#define SEGMENT_LDT   0x0000820000000000ull
#define SEGMENT_SMALL 0x0040930000000000ull
#define PRESENT	      BIT(47)
#define BUSY	      BIT(41)

struct table {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

uint32_t segments_percpu[4] = {0x600dda7a};
static uint64_t gdt[LINUX_GDT_ENTRIES], ldt[1];

static uint64_t based(uint64_t descriptor, const void *base, uint32_t limit)
{
	uint32_t address = (uint32_t)base;

	return descriptor | (uint64_t)(address & 0xffffff) << 16 | (uint64_t)(address >> 24) << 56 |
	       limit;
}

uint64_t segments_descriptor(unsigned int selector)
{
	return gdt[selector / sizeof(*gdt)];
}

void segments_set_descriptor(unsigned int selector, uint64_t descriptor)
{
	gdt[selector / sizeof(*gdt)] = descriptor;
}

static void fill(void)
{
	segments_set_descriptor(LINUX_KERNEL_CS, SEGMENT_CODE);
	segments_set_descriptor(LINUX_KERNEL_DS, SEGMENT_DATA);
	segments_set_descriptor(LINUX_USER_CS, SEGMENT_CODE | SEGMENT_USER);
	segments_set_descriptor(LINUX_USER_DS, SEGMENT_DATA | SEGMENT_USER);
	segments_set_descriptor(LINUX_TSS, segments_descriptor(TSS) & ~BUSY);
	segments_set_descriptor(LINUX_LDT, based(SEGMENT_LDT, ldt, sizeof(ldt) - 1));
	segments_set_descriptor(LINUX_PERCPU,
				based(SEGMENT_SMALL, segments_percpu, sizeof(segments_percpu) - 1));
	segments_set_descriptor(TSS_2, run_second_tss());
	segments_set_descriptor(LINUX_ABSENT_CS, (SEGMENT_CODE | SEGMENT_USER) & ~PRESENT);
	segments_set_descriptor(LINUX_ABSENT_DS, (SEGMENT_DATA | SEGMENT_USER) & ~PRESENT);
}

void segments_init(void)
{
	struct table table;

	asm volatile("sgdt %0" : "=m"(table));
	memcpy(gdt, (const void *)table.base, table.limit + 1u);
	fill();
	table = (struct table){sizeof(gdt) - 1, (uint32_t)gdt};
	asm volatile("lgdt %0" ::"m"(table));
	asm volatile("lldt %w0; ltr %w1" ::"r"(0), "r"(LINUX_TSS));
}
