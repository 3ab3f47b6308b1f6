/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The harness of the workloads. A row is a loop; the harness runs it five times after
 * a warm-up, reads the TSC around each run, and prints one RESULT line.
 */
#ifndef VELLUM_BENCH_H
#define VELLUM_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct bench {
	const char *name;
	unsigned int iterations;	       /* of the loop, in one run */
	void (*prepare)(void);		       /* before each run, not timed; may be NULL */
	void (*loop)(unsigned int iterations); /* what is timed */
	void (*finish)(void);		       /* after each run, not timed; may be NULL */
};

extern const struct bench bench_cpuid;
extern const struct bench bench_getppid;
extern const struct bench bench_segv;
extern const struct bench bench_divzero;
extern const struct bench bench_forkwaitn;
extern const struct bench bench_fork_exec;
extern const struct bench bench_pipe;
extern const struct bench bench_pgfault;
extern const struct bench bench_mmap_perf;
extern const struct bench bench_mmapmix;
extern const struct bench bench_file;

/* Runs a row and prints its RESULT line. */
void bench_run(const struct bench *bench);

/* Ends the program unless ok is true; says which row failed at what, and errno. */
void bench_check(bool ok, const char *what);

#endif
