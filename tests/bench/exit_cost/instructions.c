/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an exit costs, measured by the kernel's side of a guest: each instruction in a loop,
 * less the same loop without it. A bare guest, because some of them take CPL 0; built like
 * those of tests/guest, and run by tests/bench/exit-cost.
 */
#include "guest.h"
#include "lib/printf.h"

const char guest_name[] = "exit_cost";

#define ITERATIONS     1000u
#define FAULTS	       4u    /* each maps a GiB, for which Vellum keeps few frames */
#define FULL_PRECISION 1000u /* of a value: thousandths */

static uint64_t tsc(void)
{
	uint64_t value;

	rdtsc_to(&value);
	return value;
}

/* Twice the same loop. setup may use EAX, EBX, ECX, EDX and find EFER in EDI. */
#define TIMED(name, setup, instruction)               \
	static uint64_t name##_loop(uint32_t efer)    \
	{                                             \
		return time_of(setup instruction);    \
	}                                             \
	static uint64_t name##_without(uint32_t efer) \
	{                                             \
		return time_of(setup);                \
	}

#define time_of(body)                                                       \
	({                                                                  \
		uint32_t left = ITERATIONS;                                 \
		uint64_t start = tsc();                                     \
                                                                            \
		asm volatile("1:\n" body "dec %0\n jnz 1b"                  \
			     : "+S"(left)                                   \
			     : "D"(efer)                                    \
			     : "eax", "ebx", "ecx", "edx", "memory", "cc"); \
		tsc() - start;                                              \
	})

#define EFER_IN_ECX "mov $0xc0000080, %%ecx\n"
#define NULL_IN_EAX "mov $0x56000001, %%eax\n" /* VMI_HYPERCALL_NULL */

TIMED(cpuid, "xor %%eax, %%eax\n", "cpuid\n")
TIMED(vmmcall, NULL_IN_EAX, ".byte 0x0f, 0x01, 0xd9\n")
TIMED(vmcall, NULL_IN_EAX, ".byte 0x0f, 0x01, 0xc1\n")
TIMED(rdmsr, EFER_IN_ECX, "rdmsr\n")
TIMED(wrmsr, EFER_IN_ECX "mov %%edi, %%eax\n xor %%edx, %%edx\n", "wrmsr\n")
TIMED(port, "", "in $0x64, %%al\n")

static void say_result(const char *name, uint32_t iterations, uint64_t ticks, uint64_t exits)
{
	uint64_t value = ticks * FULL_PRECISION / iterations;
	uint64_t whole = value / FULL_PRECISION, rest = value % FULL_PRECISION;
	char counted[24] = "null";

	if (under_vellum())
		text_format(counted, sizeof(counted), "%llu", exits);
	say("RESULT "
	    "{\"bench\":\"%s\",\"unit\":\"tsc/iter\",\"iterations\":%u,\"value\":%llu.%03llu,"
	    "\"runs\":[%llu.%03llu],\"exits\":%s}",
	    name, iterations, whole, rest, whole, rest, counted);
}

static void measure(const char *name, uint64_t (*loop)(uint32_t), uint64_t (*without)(uint32_t))
{
	uint32_t efer = (uint32_t)rdmsr(MSR_EFER);
	uint64_t before = exits(VELLUM_CPUID_EXITS_ALL), counted, ticks;

	ticks = loop(efer);
	counted = exits(VELLUM_CPUID_EXITS_ALL) - before - 1; /* less the reading's own */
	say_result(name, ITERATIONS, ticks - without(efer), counted);
}

#define MEASURE(name, code) measure(name, code##_loop, code##_without)

/* Reads a word of each of the window's first pages. */
static uint64_t time_touches(void)
{
	uint64_t start = tsc();

	for (uint32_t page = 0; page < FAULTS; page++)
		(void)*(volatile uint32_t *)(WINDOW + page * (uint32_t)PAGE_SIZE);
	return tsc() - start;
}

/* Pages of several GiB, far above all RAM: the first touch of each has to be mapped. */
static void measure_nested_faults(void)
{
	uint64_t middle = BIT((leaf_read(CPUID_EXT_ADDRESS_SIZES, 0).eax & 0xff) - 1);
	uint64_t before = exits(VELLUM_CPUID_EXITS_ALL), counted, ticks;

	for (unsigned int page = 0; page < FAULTS; page++)
		paging_map_window(page, middle + page * GIB);
	ticks = time_touches();
	counted = exits(VELLUM_CPUID_EXITS_ALL) - before - 1;
	say_result("nested_fault", FAULTS, ticks - time_touches(), counted);
}

void guest_main(void)
{
	paging_on(PAGING_4K);
	MEASURE("cpuid", cpuid);
	if (is_intel() && under_vellum())
		MEASURE("hypercall", vmcall);
	else if (under_vellum())
		MEASURE("hypercall", vmmcall);
	MEASURE("rdmsr", rdmsr);
	MEASURE("wrmsr", wrmsr);
	MEASURE("port", port);
	paging_on(PAGING_PAE);
	MEASURE("cpuid-pae", cpuid);
	measure_nested_faults();
}
