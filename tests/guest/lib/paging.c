/* SPDX-License-Identifier: GPL-2.0-only */
#include "paging.h"
#include "guest.h"

/* Entries: APM volume 2, 5.2 and 5.3 */
#define PRESENT	 0x01u
#define WRITABLE 0x02u
#define USER	 0x04u
#define LARGE	 0x80u
#define TABLE	 (PRESENT | WRITABLE | USER)

#define PAGE32_LARGE (4 * MIB)
#define PAGE_LARGE   (2 * MIB)

#define PAGE_ALIGNED __attribute__((aligned(4096)))

static uint32_t directory32[1024] PAGE_ALIGNED;
static uint32_t low32[1024] PAGE_ALIGNED; /* the first 4 MiB */
static uint32_t window32[1024] PAGE_ALIGNED;
static uint64_t pml4[512] PAGE_ALIGNED;
static uint64_t long_pointers[512] PAGE_ALIGNED; /* PDPT of long mode */
static uint64_t pae_pointers[4] __attribute__((aligned(32)));
static uint64_t directory[4 * 512] PAGE_ALIGNED; /* 2 MiB pages */
static uint64_t window[512] PAGE_ALIGNED;
static uint32_t low_large_flags = TABLE | LARGE; /* of the first 4 MiB as one page */
static bool filled;

static void fill_32bit(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(directory32); i++)
		directory32[i] = i * (uint32_t)PAGE32_LARGE | TABLE | LARGE;
	for (unsigned int i = 0; i < ARRAY_SIZE(low32); i++)
		low32[i] = i * (uint32_t)PAGE_SIZE | TABLE;
	directory32[WINDOW / (uint32_t)PAGE32_LARGE] = (uint32_t)window32 | TABLE;
}

static void fill_64bit(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(directory); i++)
		directory[i] = i * PAGE_LARGE | TABLE | LARGE;
	for (unsigned int i = 0; i < ARRAY_SIZE(pae_pointers); i++) {
		pae_pointers[i] = (uint32_t)&directory[i * 512] | PRESENT;
		long_pointers[i] = pae_pointers[i] | TABLE;
	}
	pml4[0] = (uint32_t)long_pointers | TABLE;
	directory[WINDOW / (uint32_t)PAGE_LARGE] = (uint32_t)window | TABLE;
}

static void fill(void)
{
	if (filled)
		return;
	fill_32bit();
	fill_64bit();
	filled = true;
}

static void cr3_write(uint32_t value)
{
	asm volatile("mov %0, %%cr3" ::"r"(value) : "memory");
}

void paging_on(enum paging paging)
{
	fill();
	paging_off();
	directory32[0] = paging == PAGING_4K ? (uint32_t)low32 | TABLE : low_large_flags;
	cr3_write(paging == PAGING_PAE ? (uint32_t)pae_pointers : (uint32_t)directory32);
	cr4_write(cr4_read() | (uint32_t)(paging == PAGING_PAE ? CR4_PAE : CR4_PSE));
	cr0_write(cr0_read() | (uint32_t)CR0_PG);
}

void paging_off(void)
{
	cr0_write(cr0_read() & ~(uint32_t)CR0_PG);
	cr4_write(cr4_read() & ~(uint32_t)(CR4_PAE | CR4_PSE));
}

void paging_map_window(unsigned int page, uint64_t physical)
{
	window[page] = physical | TABLE;
	window32[page] = (uint32_t)physical | TABLE;
	asm volatile("invlpg (%0)" ::"r"(WINDOW + page * (uint32_t)PAGE_SIZE) : "memory");
}

void *paging_window_entry(enum paging paging, unsigned int page)
{
	return paging == PAGING_PAE ? (void *)&window[page] : (void *)&window32[page];
}

void *paging_directory_entry(enum paging paging, uint32_t address)
{
	return paging == PAGING_PAE ? (void *)&directory[address / (uint32_t)PAGE_LARGE]
				    : (void *)&directory32[address / (uint32_t)PAGE32_LARGE];
}

void paging_hide_from_user(void)
{
	fill();
	for (unsigned int i = 1; i < ARRAY_SIZE(directory32); i++)
		if (i != WINDOW / (uint32_t)PAGE32_LARGE)
			directory32[i] &= ~USER;
	for (unsigned int i = 0; i < ARRAY_SIZE(low32); i++)
		low32[i] &= ~USER;
	for (unsigned int i = 0; i < ARRAY_SIZE(directory); i++)
		if (i != WINDOW / (uint32_t)PAGE_LARGE)
			directory[i] &= ~(uint64_t)USER;
	low_large_flags = PRESENT | WRITABLE | LARGE;
}

void paging_map_linear(void)
{
	fill();
	for (uint32_t at = 0; at < LINEAR_SIZE; at += (uint32_t)PAGE32_LARGE)
		directory32[(PAGE_OFFSET + at) / (uint32_t)PAGE32_LARGE] =
			at | PRESENT | WRITABLE | LARGE;
	for (uint32_t at = 0; at < LINEAR_SIZE; at += (uint32_t)PAGE_LARGE)
		directory[(PAGE_OFFSET + at) / (uint32_t)PAGE_LARGE] =
			at | PRESENT | WRITABLE | LARGE;
}

uint32_t paging_long_root(void)
{
	fill();
	return (uint32_t)pml4;
}
