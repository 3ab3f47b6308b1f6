// SPDX-License-Identifier: GPL-2.0-only
/* forkwaitn, fork+exec and pipe: processes made, ended, and switched between. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "processors.h"

/* The shortest program there is; it lies beside this one. */
#define SHORTEST_PROGRAM "exit-only"

static char program[PATH_MAX];

static void wait_for(pid_t child)
{
	int status;

	bench_check(waitpid(child, &status, 0) == child, "waitpid");
	bench_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child");
}

static pid_t fork_checked(void)
{
	pid_t child = fork();

	bench_check(child >= 0, "fork");
	return child;
}

static void forkwaitn_loop(unsigned int iterations)
{
	while (iterations--) {
		pid_t child = fork_checked();

		if (child == 0)
			_exit(EXIT_SUCCESS);
		wait_for(child);
	}
}

static void exec_prepare(void)
{
	char self[PATH_MAX - sizeof(SHORTEST_PROGRAM) - 1] = "";

	bench_check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "/proc/self/exe");
	snprintf(program, sizeof(program), "%s/" SHORTEST_PROGRAM, dirname(self));
	bench_check(access(program, X_OK) == 0, program);
}

static void exec_loop(unsigned int iterations)
{
	char *const arguments[] = {program, NULL};
	char *const environment[] = {NULL};

	while (iterations--) {
		pid_t child = fork_checked();

		if (child == 0) {
			execve(program, arguments, environment);
			_exit(EXIT_FAILURE);
		}
		wait_for(child);
	}
}

static struct {
	int to_echo[2], from_echo[2]; /* pipes: [0] to read from, [1] to write to */
	pid_t echo;
} pair;

/*
 * The other process: sends back each byte until there are no more. With several processors it
 * is on another one, so that each byte takes an interrupt between the two.
 */
static void echo_bytes(void)
{
	char byte;

	processors_run_on(0);
	close(pair.to_echo[1]);
	while (read(pair.to_echo[0], &byte, 1) == 1)
		if (write(pair.from_echo[1], &byte, 1) != 1)
			_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

static void pipe_prepare(void)
{
	bench_check(pipe(pair.to_echo) == 0 && pipe(pair.from_echo) == 0, "pipe");
	pair.echo = fork_checked();
	if (pair.echo == 0)
		echo_bytes();
}

static void pipe_loop(unsigned int iterations)
{
	char byte = 0;

	while (iterations--) {
		bench_check(write(pair.to_echo[1], &byte, 1) == 1, "write");
		bench_check(read(pair.from_echo[0], &byte, 1) == 1, "read");
	}
}

static void pipe_finish(void)
{
	close(pair.to_echo[1]);
	wait_for(pair.echo);
	close(pair.to_echo[0]);
	close(pair.from_echo[0]);
	close(pair.from_echo[1]);
}

const struct bench bench_forkwaitn = {
	.name = "forkwaitn",
	.iterations = 240,
	.loop = forkwaitn_loop,
};

const struct bench bench_fork_exec = {
	.name = "fork+exec",
	.iterations = 160,
	.prepare = exec_prepare,
	.loop = exec_loop,
};

const struct bench bench_pipe = {
	.name = "pipe",
	.iterations = 2000,
	.prepare = pipe_prepare,
	.loop = pipe_loop,
	.finish = pipe_finish,
};
