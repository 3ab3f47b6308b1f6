// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec-exits ROW: fork, exec of a program that does nothing, its exit, wait. With static
 * and dynamic linking, because the C library asks CPUID when it starts, and in both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static void run_program(const char *path)
{
	char *const arguments[] = {(char *)path, NULL};
	char *const environment[] = {NULL};
	pid_t child = fork();
	int status;

	bench_check(child >= 0, "fork");
	if (child == 0) {
		execve(path, arguments, environment);
		_exit(EXIT_FAILURE);
	}
	bench_check(waitpid(child, &status, 0) == child, "waitpid");
	bench_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, path);
}

static void static_loop(unsigned int iterations)
{
	while (iterations--)
		run_program("/bin/empty-static");
}

static void dynamic_loop(unsigned int iterations)
{
	while (iterations--)
		run_program("/bin/empty-dynamic");
}

static const struct bench rows[] = {
	{.name = "exec-static", .iterations = 50, .loop = static_loop},
	{.name = "exec-dynamic", .iterations = 50, .loop = dynamic_loop},
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (argc == 2 && strcmp(argv[1], rows[i].name) == 0) {
			bench_run(&rows[i]);
			return EXIT_SUCCESS;
		}
	}
	fprintf(stderr, "usage: exec-exits exec-static | exec-dynamic\n");
	return EXIT_FAILURE;
}
