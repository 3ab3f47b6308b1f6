/* SPDX-License-Identifier: GPL-2.0-only */
/* What the Multiboot guests, which differ in how they are told things, check alike. */
#ifndef VELLUM_TESTS_GUEST_MULTIBOOT_H
#define VELLUM_TESTS_GUEST_MULTIBOOT_H

#include "guest.h"

#include "guest/elf_format.h"
#include "mm/image.h"

/* The processor as the loader has left it; multiboot.inc fills it. */
struct multiboot_entry {
	uint32_t eax, ebx, eflags, cr0, cr4;
	uint16_t cs, ds, es, fs, gs, ss;
	uint32_t code_rights, code_limit, data_rights, data_limit;
};

extern struct multiboot_entry multiboot_entry;
extern const uint8_t bss_start[], bss_end[]; /* and image_start, of mm/image.h */

_Noreturn void guest_start(const struct linux_boot_params *boot);

#define LOW_SEGMENT   ((const char *)0x1000)
#define EFLAGS_IF     BIT(9)
#define EFLAGS_VM     BIT(17)
#define RIGHTS	      0x00c09a00u /* present, ring 0, code or data; 32 bits, 4 KiB units */
#define RIGHTS_DATA   0x00c09200u
#define ADDRESS_BIT20 (uint32_t) MIB

/* One that lies in .bss, where the loader has to write zeros. */
static struct linux_boot_params multiboot_params;
static uint32_t multiboot_bss_word;

static void check_processor(uint32_t magic)
{
	const struct multiboot_entry *entry = &multiboot_entry;

	EXPECT_EQ("EAX", entry->eax, magic);
	EXPECT(!(entry->eflags & (EFLAGS_IF | EFLAGS_VM)));
	EXPECT((entry->cr0 & CR0_PE) && !(entry->cr0 & CR0_PG));
	EXPECT_EQ("rights of CS", entry->code_rights & 0x00c0fa00, RIGHTS);
	EXPECT_EQ("rights of SS", entry->data_rights & 0x00c0fa00, RIGHTS_DATA);
	EXPECT_EQ("limit of CS", entry->code_limit, UINT32_MAX);
	EXPECT_EQ("limit of SS", entry->data_limit, UINT32_MAX);
	EXPECT(entry->ds == entry->ss && entry->es == entry->ss && entry->fs == entry->ss &&
	       entry->gs == entry->ss);
	say_same("cr0 %x cr4 %x cs %x ss %x", entry->cr0, entry->cr4, entry->cs, entry->ss);
}

/* With the line off, an address and the one a MiB below are the same memory. */
static void check_a20(void)
{
	volatile uint32_t *word = &multiboot_bss_word;
	volatile uint32_t *alias = (volatile uint32_t *)((uintptr_t)word & ~ADDRESS_BIT20);
	uint32_t before = *alias;

	*word = ~before;
	EXPECT_EQ("word a MiB below", *alias, before);
}

static void check_segments(void)
{
	EXPECT(!memcmp(LOW_SEGMENT, "low segment", sizeof("low segment")));
	EXPECT_EQ(".bss", multiboot_bss_word, 0);
}

/* Neither the kernel's memory nor what the kernel is told may lie in a module. */
static void check_module(uint32_t start, uint32_t end, const char *string, const char *words)
{
	size_t length = strlen(string);

	EXPECT_EQ("start within its page", start % PAGE_SIZE, 0);
	EXPECT(end > start && start >= MIB);
	EXPECT(end <= (uintptr_t)image_start || start >= (uintptr_t)bss_end);
	EXPECT(multiboot_entry.ebx < start || multiboot_entry.ebx >= end);
	EXPECT(length >= strlen(words));
	EXPECT(!memcmp(string + length - strlen(words), words, strlen(words) + 1));
	EXPECT(!memcmp((const void *)start, ELF_MAGIC,
		       ELF_MAGIC_SIZE)); /* it is this guest's file */
}

static void check_map(void)
{
	EXPECT(kept_memory().size >= IMAGE_KEEP_SIZE);
	for (unsigned int i = 0; i < multiboot_params.e820_entries; i++) {
		struct e820_entry entry = multiboot_params.e820_table[i];

		say_same("range %llx %llx %u", entry.base, entry.size, entry.type);
	}
}

static void add_range(uint64_t base, uint64_t size, uint32_t type)
{
	multiboot_params.e820_table[multiboot_params.e820_entries++] =
		(struct e820_entry){base, size, type};
}

#endif
