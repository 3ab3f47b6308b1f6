// SPDX-License-Identifier: GPL-2.0-only
/*
 * User frames that no kernel would make: every selector of a range in every segment register,
 * odd EIPs, ESPs and flags, handed to the kernel through sigreturn and through ptrace. Each
 * return to user mode then faults at the kernel's IRET or at its POP of a segment register, or
 * user mode goes on with what it was given. Prints one line for each row of equal outcomes:
 *
 *   SAME sigreturn cs 0000-0062: signal 11 trap 32 error 0063
 *
 * All lines are to be the same natively and under Vellum. A signal that kills this program, or
 * a last line that is missing, is a failure.
 */
#define _GNU_SOURCE /* the names of registers */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <asm/ldt.h>

enum {
	SELECTORS = 0x140, /* all of Linux' GDT, and as much of an LDT, with each RPL */
	STACK = 64 * 1024,
	OUTCOME = 80,
	RPL_USER = 3,
	FLAGS_NT = 1 << 14,
	FLAGS_AC = 1 << 18,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What became of a frame, as text: equal texts are equal outcomes. */
typedef char outcome_t[OUTCOME];

struct frame_register {
	const char *name;
	int gregs;	  /* its index in a signal frame */
	size_t in_ptrace; /* its offset in struct user */
};

#define IN_USER(reg) offsetof(struct user, regs.reg)

static const struct frame_register segments[] = {
	{"cs", REG_CS, IN_USER(xcs)}, {"ss", REG_SS, IN_USER(xss)}, {"ds", REG_DS, IN_USER(xds)},
	{"es", REG_ES, IN_USER(xes)}, {"fs", REG_FS, IN_USER(xfs)}, {"gs", REG_GS, IN_USER(xgs)},
};
static const struct frame_register others[] = {
	{"eip", REG_EIP, IN_USER(eip)},
	{"esp", REG_ESP, IN_USER(esp)},
	{"eflags", REG_EFL, IN_USER(eflags)},
};
static const uint32_t values[] = {
	0,	     1,		  0xfffu,      0x7ffffffeu, 0x80000000u, 0xbffffffeu, 0xc0000000u,
	0xc0100000u, 0xc00c0000u, 0xfee00000u, 0xfffff000u, 0xfffffffcu, 0xffffffffu, 0x00000100u,
	0x00004000u, 0x00003000u, 0x00020000u, 0x00004202u, 0x00010002u, 0x00240cd5u,
};

static uint8_t stack[STACK] __attribute__((aligned(16)));
static sigjmp_buf next_case;
static outcome_t outcome;
static uint16_t own_gs;
static const struct frame_register *bad_register;
static uint32_t bad_value;

/* Where frames with a good EIP lead: to an end that can be seen, whatever the segments are. */
void landing(void);
__asm__(".pushsection .text\n"
	"landing: ud2\n"
	".popsection\n");

/*
 * The thread's data, which libc finds through GS, may be out of reach until this is done; and
 * with AC set, which the kernel lets a handler have, libc's unaligned accesses fault.
 */
static inline void restore_own(void)
{
	__asm__ volatile("mov %0, %%gs\n\tpushf\n\tandl %1, (%%esp)\n\tpopf"
			 :
			 : "r"(own_gs), "i"(~FLAGS_AC)
			 : "memory", "cc");
}

/* ---- through sigreturn ---- */

/* The kernel gives CS and SS the RPL that they have to have. */
static bool is_kept(uint32_t value)
{
	return value == bad_value || value == (bad_value | RPL_USER);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	bool kept = is_kept((uint32_t)regs[bad_register->gregs]);

	restore_own();
	snprintf(outcome, OUTCOME, "signal %d code %d trap %d error %04x, %s", number,
		 info->si_code, regs[REG_TRAPNO], regs[REG_ERR], kept ? "kept" : "changed");
	siglongjmp(next_case, 1);
}

static void on_usr1(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	regs[REG_EIP] = (greg_t)(uintptr_t)landing;
	regs[bad_register->gregs] = (greg_t)bad_value;
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	sigaction(number, &action, NULL);
}

static void prepare_signals(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
	stack_t alternate = {.ss_sp = stack, .ss_size = STACK};

	__asm__("mov %%gs, %0" : "=r"(own_gs));
	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < COUNT(faults); i++)
		handle(faults[i], on_fault);
	handle(SIGUSR1, on_usr1);
}

static void by_sigreturn(const struct frame_register *reg, uint32_t value)
{
	bad_register = reg;
	bad_value = value;
	if (!sigsetjmp(next_case, 1))
		raise(SIGUSR1);
}

/* ---- through ptrace ---- */

static pid_t start_tracee(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		signal(SIGUSR1, SIG_IGN);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return child;
}

static void end_tracee(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void note_stop(pid_t child)
{
	siginfo_t info = {0};
	int status;

	waitpid(child, &status, 0);
	if (!WIFSTOPPED(status)) {
		snprintf(outcome, OUTCOME, "ended with status %x", status);
		return;
	}
	ptrace(PTRACE_GETSIGINFO, child, 0, &info);
	snprintf(outcome, OUTCOME, "signal %d code %d", WSTOPSIG(status), info.si_code);
}

/* The tracee goes on with what it is given until a signal stops it, and is of no use after. */
static void by_ptrace(const struct frame_register *reg, uint32_t value)
{
	pid_t child = start_tracee();

	ptrace(PTRACE_POKEUSER, child, IN_USER(eip), landing);
	if (ptrace(PTRACE_POKEUSER, child, reg->in_ptrace, value))
		snprintf(outcome, OUTCOME, "refused with %d", errno);
	else if (ptrace(PTRACE_CONT, child, 0, 0) == 0)
		note_stop(child);
	end_tracee(child);
}

/* ---- rows of equal outcomes ---- */

/* A register, what it is given, and the way there. */
struct row {
	const char *way;
	void (*take)(const struct frame_register *reg, uint32_t value);
	const struct frame_register *reg;
	uint32_t first, last; /* values that had the same outcome so far */
	outcome_t outcome;    /* none yet if it is empty */
};

static void print_row(const struct row *row)
{
	printf("SAME %s %s %04x-%04x: %s\n", row->way, row->reg->name, row->first, row->last,
	       row->outcome);
}

static void try_value(struct row *row, uint32_t value)
{
	row->take(row->reg, value);
	if (strcmp(row->outcome, outcome)) {
		if (row->outcome[0])
			print_row(row);
		row->first = value;
		memcpy(row->outcome, outcome, OUTCOME);
	}
	row->last = value;
}

static void sweep(struct row row, uint32_t first, uint32_t step)
{
	for (uint32_t value = first; value < SELECTORS; value += step)
		try_value(&row, value);
	print_row(&row);
}

static void try_values(struct row row)
{
	for (size_t i = 0; i < COUNT(values); i++)
		try_value(&row, values[i]);
	print_row(&row);
}

/* Selectors from the first one on, in steps. */
static void try_all(struct row row, uint32_t first, uint32_t step)
{
	for (size_t i = 0; i < COUNT(segments); i++) {
		row.reg = &segments[i];
		sweep(row, first, step);
	}
	for (size_t i = 0; i < COUNT(others); i++) {
		row.reg = &others[i];
		try_values(row);
	}
}

/* ---- descriptors of its own ---- */

/* Entries of the LDT by number; the sweeps above meet them at selectors 4 + 8 n. */
static const struct user_desc descriptors[] = {
	{.entry_number = 0, .limit = 0xfffff, .seg_32bit = 1, .limit_in_pages = 1, .useable = 1},
	{.entry_number = 1, .limit = 0xfffff, .limit_in_pages = 1, .useable = 1}, /* 16-bit */
	{.entry_number = 2,
	 .limit = 0xfffff,
	 .seg_32bit = 1,
	 .limit_in_pages = 1,
	 .seg_not_present = 1},
	{.entry_number = 3,
	 .limit = 0xfffff,
	 .seg_32bit = 1,
	 .limit_in_pages = 1,
	 .read_exec_only = 1},
	{.entry_number = 4, .limit = 0xfff, .seg_32bit = 1}, /* ends early */
	{.entry_number = 5,
	 .contents = MODIFY_LDT_CONTENTS_STACK,
	 .seg_32bit = 1,
	 .limit_in_pages = 1}, /* grows down, and is almost all of memory */
	{.entry_number = 6,
	 .contents = MODIFY_LDT_CONTENTS_CODE,
	 .limit = 0xfffff,
	 .seg_32bit = 1,
	 .limit_in_pages = 1,
	 .useable = 1},
	{.entry_number = 7, .contents = MODIFY_LDT_CONTENTS_CODE, .limit = 0xfff, .seg_32bit = 1},
	{.entry_number = 8,
	 .contents = MODIFY_LDT_CONTENTS_CODE,
	 .limit = 0xfffff,
	 .limit_in_pages = 1,
	 .seg_not_present = 1},
	{.entry_number = 9,
	 .contents = MODIFY_LDT_CONTENTS_CODE,
	 .limit = 0xfffff,
	 .seg_32bit = 1,
	 .limit_in_pages = 1,
	 .read_exec_only = 1},
};

static void make_descriptors(void)
{
	for (size_t i = 0; i < COUNT(descriptors); i++) {
		long made = syscall(SYS_modify_ldt, 1, &descriptors[i], sizeof(descriptors[i]));

		printf("SAME descriptor %zu: %ld\n", i, made ? -(long)errno : 0);
	}
}

/* Nested task: an IRET with it would be a task switch, were the kernel to leave it set. */
static void call_with_nt(void)
{
	uint32_t flags;

	__asm__ volatile("pushf\n\torl %1, (%%esp)\n\tpopf\n\tint $0x80\n\tpushf\n\tpop %0"
			 : "=r"(flags)
			 : "i"(FLAGS_NT), "a"(SYS_getppid)
			 : "memory", "cc");
	printf("SAME system call with NT: flags %x\n", flags & FLAGS_NT);
	__asm__ volatile("pushf\n\tandl %0, (%%esp)\n\tpopf" : : "i"(~FLAGS_NT) : "memory", "cc");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	prepare_signals();
	make_descriptors();
	call_with_nt();
	try_all((struct row){.way = "sigreturn", .take = by_sigreturn}, 0, 1);
	try_all((struct row){.way = "ptrace", .take = by_ptrace}, RPL_USER, RPL_USER + 1);
	printf("SAME frames done\n");
	return EXIT_SUCCESS;
}
