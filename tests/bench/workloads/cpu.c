// SPDX-License-Identifier: GPL-2.0-only
/* cpuid: one exit and nothing else. getppid: the shortest way into the kernel and back. */
#include <cpuid.h>
#include <unistd.h>

#include "bench.h"

static void cpuid_loop(unsigned int iterations)
{
	unsigned int eax, ebx, ecx, edx;

	while (iterations--)
		__cpuid(0, eax, ebx, ecx, edx);
}

/* The 2006 scoreboard times a loop of ten calls; so one iteration is ten calls here. */
static void getppid_loop(unsigned int iterations)
{
	while (iterations--)
		for (int call = 0; call < 10; call++)
			getppid();
}

const struct bench bench_cpuid = {
	.name = "cpuid",
	.iterations = 5000,
	.loop = cpuid_loop,
};

const struct bench bench_getppid = {
	.name = "getppid",
	.iterations = 2000,
	.loop = getppid_loop,
};
