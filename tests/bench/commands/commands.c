// SPDX-License-Identifier: GPL-2.0-only
/*
 * vellum-commands LIST: runs the commands of a list, one after the other, and prints a RESULT
 * line for each. A line of the list has a name, what is run before and what is timed, with a
 * tab between them. A command that fails has no RESULT line.
 */
#define _GNU_SOURCE /* sched_setaffinity() */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "exits.h"
#include "processors.h"

enum { LINE_BYTES_MAX = 4096 };

/* What there is before and after a command: the difference is the command's. */
struct reading {
	uint64_t tsc;
	uint64_t exits;
	double seconds;
	long page_faults;
	long context_switches;
};

static cpu_set_t all_processors;

static uint64_t read_tsc(void)
{
	uint64_t tsc;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=A"(tsc) : : "memory");
	return tsc;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Of the children that have ended, theirs included. */
static void read_usage(struct reading *r)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	r->page_faults = usage.ru_minflt + usage.ru_majflt;
	r->context_switches = usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Exits before the time is taken, and after it: reading them exits. */
static struct reading read_before(void)
{
	struct reading r = {.exits = exits_read()};

	read_usage(&r);
	r.seconds = seconds_now();
	r.tsc = read_tsc();
	return r;
}

static struct reading read_after(void)
{
	struct reading r = {.tsc = read_tsc()};

	r.seconds = seconds_now();
	read_usage(&r);
	r.exits = exits_read();
	return r;
}

/* Returns whether the shell ended with status 0. A command may use every processor. */
static bool run(const char *command)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		sched_setaffinity(0, sizeof(all_processors), &all_processors);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void print_result(const char *name, const struct reading *from, const struct reading *to)
{
	uint64_t value = to->tsc - from->tsc;
	uint64_t exits = to->exits - from->exits - exits_of_reading();

	printf("RESULT {\"bench\":\"%s\",\"unit\":\"tsc/run\",\"iterations\":1,\"value\":%" PRIu64
	       ",\"runs\":[%" PRIu64 "],\"counters\":{\"seconds\":%.6f,\"page faults\":%ld,"
	       "\"context switches\":%ld}",
	       name, value, value, to->seconds - from->seconds, to->page_faults - from->page_faults,
	       to->context_switches - from->context_switches);
	if (exits_are_counted())
		printf(",\"exits\":%" PRIu64 "}\n", exits);
	else
		printf(",\"exits\":null}\n");
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
}

static bool measure(const char *name, const char *before, const char *command)
{
	struct reading from, to;

	if (!run(before))
		return false;
	from = read_before();
	if (!run(command))
		return false;
	to = read_after();
	print_result(name, &from, &to);
	return true;
}

static bool run_line(char *line)
{
	const char *name = strtok(line, "\t"), *before = strtok(NULL, "\t"),
		   *command = strtok(NULL, "\n");

	if (!command) {
		fprintf(stderr, "vellum-commands: not name, before, command: %s\n", line);
		return false;
	}
	if (measure(name, before, command))
		return true;
	fprintf(stderr, "vellum-commands: %s failed: %s\n", name, command);
	return false;
}

int main(int argc, char **argv)
{
	char line[LINE_BYTES_MAX];
	FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
	int failed = 0;

	if (!list) {
		fprintf(stderr, "usage: vellum-commands LIST, a file with a command a line\n");
		return EXIT_FAILURE;
	}
	sched_getaffinity(0, sizeof(all_processors), &all_processors);
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/games", 1);
	processors_init();
	while (fgets(line, sizeof(line), list))
		failed += !run_line(line);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
