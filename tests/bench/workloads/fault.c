// SPDX-License-Identifier: GPL-2.0-only
/* segv and divzero: a fault, the signal for it, and the return to after the fault. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "bench.h"

static volatile greg_t resume_at; /* the instruction after the one that faults */

static void skip_the_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
	interrupted->uc_mcontext.gregs[REG_EIP] = resume_at;
}

static void catch_signal(int number)
{
	struct sigaction action = {.sa_sigaction = skip_the_fault, .sa_flags = SA_SIGINFO};

	bench_check(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void segv_prepare(void)
{
	catch_signal(SIGSEGV);
}

static void segv_loop(unsigned int iterations)
{
	while (iterations--)
		__asm__ volatile("movl $1f, %0\n\t"
				 "movl $0, (%1)\n"
				 "1:"
				 : "=m"(resume_at)
				 : "r"(NULL)
				 : "memory");
}

static void divzero_prepare(void)
{
	catch_signal(SIGFPE);
}

static void divzero_loop(unsigned int iterations)
{
	while (iterations--)
		__asm__ volatile("movl $1f, %0\n\t"
				 "divl %1\n"
				 "1:"
				 : "=m"(resume_at)
				 : "r"(0), "a"(1), "d"(0)
				 : "cc", "memory");
}

const struct bench bench_segv = {
	.name = "segv",
	.iterations = 2000,
	.prepare = segv_prepare,
	.loop = segv_loop,
};

const struct bench bench_divzero = {
	.name = "divzero",
	.iterations = 2000,
	.prepare = divzero_prepare,
	.loop = divzero_loop,
};
