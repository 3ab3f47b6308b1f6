// SPDX-License-Identifier: GPL-2.0-only
/*
 * vellum-bench list | drain | ROW...: the rows of the micro board, one process a row or
 * many. drain waits until the console has sent all: a reset does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "bench.h"

static const struct bench *const benches[] = {
	&bench_getppid,	  &bench_segv,	    &bench_forkwaitn, &bench_divzero,
	&bench_cpuid,	  &bench_fork_exec, &bench_pipe,      &bench_pgfault,
	&bench_mmap_perf, &bench_mmapmix,   &bench_file,
};

enum { BENCHES = sizeof(benches) / sizeof(benches[0]) };

static const struct bench *find(const char *name)
{
	for (int i = 0; i < BENCHES; i++)
		if (strcmp(benches[i]->name, name) == 0)
			return benches[i];
	fprintf(stderr, "vellum-bench: no row is called '%s'\n", name);
	exit(EXIT_FAILURE);
}

static void list(void)
{
	for (int i = 0; i < BENCHES; i++)
		puts(benches[i]->name);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: vellum-bench list | drain | ROW...\n");
		return EXIT_FAILURE;
	}
	if (strcmp(argv[1], "list") == 0) {
		list();
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "drain") == 0)
		return tcdrain(STDOUT_FILENO) ? EXIT_FAILURE : EXIT_SUCCESS;
	for (int i = 1; i < argc; i++)
		bench_run(find(argv[i]));
	return EXIT_SUCCESS;
}
