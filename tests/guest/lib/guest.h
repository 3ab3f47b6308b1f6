/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every bare guest is written with. A guest is one C file (and, if it needs one,
 * a .asm of the same name) that defines guest_name and guest_main(); guests.py says
 * how it is started. docs/testing.md tells how to add one.
 */
#ifndef VELLUM_TESTS_GUEST_GUEST_H
#define VELLUM_TESTS_GUEST_GUEST_H

#include "core/cpu.h"
#include "core/vcpu.h"
#include "guest/linux_boot.h"
#include "lib/string.h"
#include "lib/types.h"
#include "vmi/vmi.h"

#include "paging.h"
#include "run.h"

extern const char guest_name[];

/* Returns if all is well. */
void guest_main(void);

/* ---- what is said on COM1 ---- */

/* One line, whose newline is added. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* A line that a native run of the same guest must say in the same words. */
__attribute__((format(printf, 1, 2))) void say_same(const char *format, ...);

/* The three ways to end; returning from guest_main() is the fourth, and means PASS. */
__attribute__((format(printf, 3, 4))) _Noreturn void fail(const char *file, int line,
							  const char *format, ...);
__attribute__((format(printf, 1, 2))) _Noreturn void skip(const char *format, ...);

/* Says PASS and leaves the machine running: for a guest that ends it in a way of its own. */
void say_pass(void);

#define EXPECT(condition)                                           \
	do {                                                        \
		if (!(condition))                                   \
			fail(__FILE__, __LINE__, "%s", #condition); \
	} while (0)

/* Two numbers of up to 64 bits, with what is tested in words. */
#define EXPECT_EQ(what, found, wanted) \
	expect_equal(__FILE__, __LINE__, what, (uint64_t)(found), (uint64_t)(wanted))
void expect_equal(const char *file, int line, const char *what, uint64_t found, uint64_t wanted);

/* ---- the machine ---- */

const struct linux_boot_params *boot_params(void);

/* True if the kernel's command line has this word. */
bool told(const char *word);

/* Vellum runs this guest; false natively. */
bool under_vellum(void);

/* An Intel processor, so that Vellum runs on VT-x; else it is AMD-V. */
bool is_intel(void);

/* The address range that Vellum keeps, by the memory map; fails if there is not one. */
struct e820_entry kept_memory(void);

struct leaf {
	uint32_t eax, ebx, ecx, edx;
};
struct leaf leaf_read(uint32_t leaf, uint32_t subleaf);

/* Exits so far for a reason (enum exit_reason or VELLUM_CPUID_EXITS_ALL), with its own. */
uint64_t exits(uint32_t reason);

/* The vector that RDMSR or WRMSR ends with; DONE if it does its work. */
unsigned int msr_read(uint32_t msr, uint64_t *value);
unsigned int msr_write(uint32_t msr, uint64_t value);

static inline uint32_t cr0_read(void)
{
	uint32_t value;

	asm volatile("mov %%cr0, %0" : "=r"(value));
	return value;
}

static inline void cr0_write(uint32_t value)
{
	asm volatile("mov %0, %%cr0" ::"r"(value) : "memory");
}

static inline uint32_t cr4_read(void)
{
	uint32_t value;

	asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

static inline void cr4_write(uint32_t value)
{
	asm volatile("mov %0, %%cr4" ::"r"(value) : "memory");
}

#endif
