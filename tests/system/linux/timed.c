// SPDX-License-Identifier: GPL-2.0-only
/*
 * timed COMMAND WORDS...: runs a command and prints what it took, by the TSC and by the kernel's
 * clock; then how long two seconds of the real-time clock are by both:
 *
 *   TIMED {"command":"sleep","status":0,"monotonic_ns":…,"tsc":…}
 *   CLOCKS {"seconds":2,"monotonic_ns":…,"tsc":…,"jiffies":…}
 */
#include "clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RTC_SECONDS = 2 };

static int run(char **words)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		execvp(words[0], words);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

static void time_command(char **words)
{
	uint64_t ns = clocks_monotonic(), tsc = clocks_tsc();
	int status = run(words);

	tsc = clocks_tsc() - tsc;
	ns = clocks_monotonic() - ns;
	printf("TIMED {\"command\":\"%s\",\"status\":%d,\"monotonic_ns\":%" PRIu64
	       ",\"tsc\":%" PRIu64 "}\n",
	       words[0], status, ns, tsc);
}

static void compare_clocks(void)
{
	struct moment from = clocks_at_next_second(), to = from;

	while (to.rtc - from.rtc < RTC_SECONDS)
		to = clocks_at_next_second();
	printf("CLOCKS {\"seconds\":%" PRIu64 ",\"monotonic_ns\":%" PRIu64 ",\"tsc\":%" PRIu64
	       ",\"jiffies\":%" PRIu64 "}\n",
	       to.rtc - from.rtc, to.monotonic - from.monotonic, to.tsc - from.tsc,
	       to.jiffies - from.jiffies);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return EXIT_FAILURE;
	time_command(argv + 1);
	if (clocks_open())
		compare_clocks();
	return EXIT_SUCCESS;
}
