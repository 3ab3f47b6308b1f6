// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak SECONDS: keeps every processor a little busy for so long, and holds the clocks against
 * each other. Each processor has a worker with a periodic timer of 50 ms and one that sends
 * signals, once a second starts a program on the next processor, wakes a process there, and
 * interrupts it (membarrier). Prints what each worker has seen, then what the clocks say:
 *
 *   WORKER {"cpu":0,"expirations":1200,"expected":1200,"late_reads":0,"latest_ns":…,…}
 *   CLOCKS {"seconds":60,"monotonic_ns":…,"tsc":…,"jiffies":…}
 *   TICKS [15000,15000]
 *
 * "seconds" is by the real-time clock, "jiffies" are hundredths of a second, and ticks the
 * interrupts of each processor's timer in that time. Who reads this judges.
 */
#define _GNU_SOURCE
#include "clocks.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/membarrier.h>

enum {
	PERIOD_NS = NS_PER_SECOND / 20,
	PER_SECOND = NS_PER_SECOND / PERIOD_NS,
	CPUS_MAX = 8,
};

struct worker {
	int cpu, next_cpu;
	uint64_t start; /* of the timer, monotonic */
	uint64_t expirations;
	uint64_t late_reads; /* expirations that came together with the one before */
	uint64_t latest;     /* nanoseconds from an expiration until it was seen */
	uint64_t programs, pings, barriers;
	int timer, to_echo, from_echo;
	pid_t echo;
};

static volatile sig_atomic_t alarms;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	printf("soak: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof(set), &set) == 0, "a processor is not there");
}

/* ---- what makes interrupts between processors ---- */

/* A process on the next processor that gives back each byte. */
static void start_echo(struct worker *worker)
{
	int there[2], back[2];
	char byte;

	check(pipe(there) == 0 && pipe(back) == 0, "pipe");
	worker->echo = fork();
	if (worker->echo == 0) {
		go_to(worker->next_cpu);
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			check(write(back[1], &byte, 1) == 1, "echo");
		_exit(0);
	}
	close(there[0]);
	worker->to_echo = there[1];
	worker->from_echo = back[0];
}

static void ping(struct worker *worker)
{
	char byte = 'p';

	check(write(worker->to_echo, &byte, 1) == 1 && read(worker->from_echo, &byte, 1) == 1,
	      "ping");
	worker->pings++;
}

static void run_program(struct worker *worker)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		go_to(worker->next_cpu);
		execl("/bin/exit-only", "exit-only", NULL);
		_exit(127);
	}
	check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "exec");
	worker->programs++;
}

static void interrupt_all(struct worker *worker)
{
	check(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0, "membarrier");
	worker->barriers++;
}

static void do_work_of_a_second(struct worker *worker)
{
	run_program(worker);
	ping(worker);
	interrupt_all(worker);
}

/* ---- timers ---- */

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Signals restart what they interrupt. */
static void start_alarms(void)
{
	static const struct itimerval each_second = {.it_interval = {.tv_sec = 1},
						     .it_value = {.tv_sec = 1}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	check(sigaction(SIGALRM, &action, NULL) == 0 &&
		      setitimer(ITIMER_REAL, &each_second, NULL) == 0,
	      "setitimer");
}

static void start_timer(struct worker *worker)
{
	uint64_t first = worker->start + PERIOD_NS;
	struct itimerspec periodic = {.it_interval = {.tv_nsec = PERIOD_NS},
				      .it_value = {.tv_sec = (time_t)(first / NS_PER_SECOND),
						   .tv_nsec = (long)(first % NS_PER_SECOND)}};

	worker->timer = timerfd_create(CLOCK_MONOTONIC, 0);
	check(worker->timer >= 0 &&
		      timerfd_settime(worker->timer, TFD_TIMER_ABSTIME, &periodic, NULL) == 0,
	      "timerfd");
}

static void await_timer(struct worker *worker)
{
	uint64_t count, due, late;

	check(read(worker->timer, &count, sizeof(count)) == sizeof(count), "timer");
	due = worker->start + (worker->expirations + 1) * PERIOD_NS;
	late = clocks_monotonic() - due;
	if (late > worker->latest)
		worker->latest = late;
	worker->late_reads += count - 1;
	worker->expirations += count;
}

/* ---- a worker ---- */

static void report(const struct worker *worker)
{
	uint64_t elapsed = clocks_monotonic() - worker->start;

	printf("WORKER {\"cpu\":%d,\"expirations\":%" PRIu64 ",\"expected\":%" PRIu64
	       ",\"late_reads\":%" PRIu64 ",\"latest_ns\":%" PRIu64
	       ",\"alarms\":%d,\"programs\":%" PRIu64 ",\"pings\":%" PRIu64 ",\"barriers\":%" PRIu64
	       "}\n",
	       worker->cpu, worker->expirations, elapsed / PERIOD_NS, worker->late_reads,
	       worker->latest, (int)alarms, worker->programs, worker->pings, worker->barriers);
	fflush(stdout);
}

static void end_echo(struct worker *worker)
{
	close(worker->to_echo);
	check(waitpid(worker->echo, NULL, 0) == worker->echo, "echo's end");
}

/* Starts at a whole second of the clock, so that all workers meet each second. */
static _Noreturn void work(int cpu, int cpus, uint64_t start, unsigned int seconds)
{
	struct worker worker = {.cpu = cpu, .next_cpu = (cpu + 1) % cpus, .start = start};

	go_to(cpu);
	check(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0,
	      "membarrier");
	start_echo(&worker);
	clocks_sleep_until(start);
	start_alarms();
	start_timer(&worker);
	while (worker.expirations < (uint64_t)seconds * PER_SECOND) {
		await_timer(&worker);
		if (worker.expirations % PER_SECOND == PER_SECOND / 2)
			do_work_of_a_second(&worker);
	}
	report(&worker);
	end_echo(&worker);
	exit(EXIT_SUCCESS);
}

static void start_workers(int cpus, uint64_t start, unsigned int seconds)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		pid_t child = fork();

		check(child >= 0, "fork");
		if (child == 0)
			work(cpu, cpus, start, seconds);
	}
}

static void await_workers(int cpus)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		int status = -1;

		check(wait(&status) > 0 && status == 0, "a worker failed");
	}
}

/* Interrupts of the local APIC's timer so far, by processor. */
static void read_ticks(unsigned long ticks[CPUS_MAX])
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[256];

	check(file != NULL, "/proc/interrupts");
	while (fgets(line, sizeof(line), file)) {
		char *at = strstr(line, "LOC:");

		for (int cpu = 0; at && cpu < CPUS_MAX; cpu++)
			ticks[cpu] = strtoul(cpu ? at : at + strlen("LOC:"), &at, 10);
	}
	fclose(file);
}

static void compare_clocks(const struct moment *from, const struct moment *to)
{
	printf("CLOCKS {\"seconds\":%" PRIu64 ",\"monotonic_ns\":%" PRIu64 ",\"tsc\":%" PRIu64
	       ",\"jiffies\":%" PRIu64 "}\n",
	       to->rtc - from->rtc, to->monotonic - from->monotonic, to->tsc - from->tsc,
	       to->jiffies - from->jiffies);
}

static void report_ticks(const unsigned long from[], const unsigned long to[], int cpus)
{
	printf("TICKS [");
	for (int cpu = 0; cpu < cpus; cpu++)
		printf("%s%lu", cpu ? "," : "", to[cpu] - from[cpu]);
	printf("]\n");
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : 60;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long ticks_from[CPUS_MAX] = {0}, ticks_to[CPUS_MAX] = {0};
	struct moment from, to;

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	check(clocks_open(), "ports are not allowed (CONFIG_X86_IOPL_IOPERM)");
	from = clocks_at_next_second();
	read_ticks(ticks_from);
	start_workers(cpus, clocks_monotonic() + NS_PER_SECOND / 10, seconds);
	await_workers(cpus);
	to = clocks_at_next_second();
	read_ticks(ticks_to);
	compare_clocks(&from, &to);
	report_ticks(ticks_from, ticks_to, cpus);
	printf("soak: done\n");
	return EXIT_SUCCESS;
}
