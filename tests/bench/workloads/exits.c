// SPDX-License-Identifier: GPL-2.0-only
#include "exits.h"

#include <cpuid.h>
#include <string.h>

#include "processors.h"

#define CPUID_1_ECX_HYPERVISOR (1u << 31)

enum {
	LEAF_FEATURES = 1,
	LEAF_HYPERVISOR = 0x40000000,
	LEAF_EXITS = 0x40000002,
	EXITS_ALL_REASONS = 0xffffffff, /* the sub-leaf that counts whatever the reason */
};

static const char SIGNATURE[] = "VellumVellum";

static bool hypervisor_is_present(void)
{
	unsigned int eax, ebx, ecx, edx;

	__cpuid(LEAF_FEATURES, eax, ebx, ecx, edx);
	return ecx & CPUID_1_ECX_HYPERVISOR;
}

static bool hypervisor_is_vellum(void)
{
	unsigned int eax, name[3];

	__cpuid(LEAF_HYPERVISOR, eax, name[0], name[1], name[2]);
	return memcmp(name, SIGNATURE, sizeof(name)) == 0;
}

bool exits_are_counted(void)
{
	return hypervisor_is_present() && hypervisor_is_vellum();
}

static uint64_t read_here(void)
{
	unsigned int eax, ebx, ecx, edx;

	__cpuid_count(LEAF_EXITS, EXITS_ALL_REASONS, eax, ebx, ecx, edx);
	return (uint64_t)edx << 32 | eax;
}

uint64_t exits_read(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; processors_run_on(i); i++)
		sum += read_here();
	processors_run_at_home();
	return sum;
}

uint64_t exits_of_reading(void)
{
	uint64_t before = exits_read();

	return exits_read() - before;
}
