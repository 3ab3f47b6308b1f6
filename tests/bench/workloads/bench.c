// SPDX-License-Identifier: GPL-2.0-only
/* One row from warm-up to RESULT line. */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "exits.h"
#include "processors.h"

enum {
	RUNS = 5,
	BEST = 3, /* the value of a row is the mean of the best three of five runs */
	NS_PER_SECOND = 1000 * 1000 * 1000,
	SETTLE_NS = NS_PER_SECOND / 10,
};

struct measurement {
	double runs[RUNS]; /* TSC counts per iteration */
	uint64_t exits;	   /* in all runs together */
};

static const struct bench *running;

void bench_check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench: %s: %s: %s\n", running->name, what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* The fences keep the loop's own work between the two readings, on hardware. */
static uint64_t read_tsc(void)
{
	uint64_t tsc;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=A"(tsc) : : "memory");
	return tsc;
}

/*
 * Sleeps to the next whole tenth of a second: the kernel does its deferred work (RCU
 * frees what the last run left), and each run meets the timer tick at the same point.
 */
static void settle(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec = (until.tv_nsec / SETTLE_NS + 1) * SETTLE_NS;
	if (until.tv_nsec >= NS_PER_SECOND) {
		until.tv_nsec -= NS_PER_SECOND;
		until.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static uint64_t time_run(const struct bench *bench, unsigned int iterations)
{
	uint64_t start, end;

	if (bench->prepare)
		bench->prepare();
	settle();
	start = read_tsc();
	bench->loop(iterations);
	end = read_tsc();
	if (bench->finish)
		bench->finish();
	return end - start;
}

static struct measurement measure(const struct bench *bench)
{
	struct measurement m = {.exits = 0};
	uint64_t reading;

	time_run(bench, bench->iterations); /* warm-up */
	reading = exits_of_reading();
	for (int i = 0; i < RUNS; i++) {
		uint64_t exits = exits_read();

		m.runs[i] = (double)time_run(bench, bench->iterations) / bench->iterations;
		m.exits += exits_read() - exits - reading;
	}
	return m;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double mean_of_best(const double runs[RUNS])
{
	double sorted[RUNS], sum = 0;

	memcpy(sorted, runs, sizeof(sorted));
	qsort(sorted, RUNS, sizeof(sorted[0]), compare);
	for (int i = 0; i < BEST; i++)
		sum += sorted[i];
	return sum / BEST;
}

static void print_result(const struct bench *bench, const struct measurement *m)
{
	printf("RESULT {\"bench\":\"%s\",\"unit\":\"tsc/iter\",\"iterations\":%u,\"value\":%.3f",
	       bench->name, bench->iterations, mean_of_best(m->runs));
	printf(",\"runs\":[");
	for (int i = 0; i < RUNS; i++)
		printf("%s%.3f", i ? "," : "", m->runs[i]);
	if (exits_are_counted())
		printf("],\"exits\":%" PRIu64 "}\n", m->exits);
	else
		printf("],\"exits\":null}\n");
}

/* The next row must not pay for the interrupts that send this one's line. */
static void drain_console(void)
{
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
}

void bench_run(const struct bench *bench)
{
	struct measurement m;

	running = bench;
	processors_init();
	processors_run_at_home();
	m = measure(bench);
	print_result(bench, &m);
	drain_console();
}
