/* SPDX-License-Identifier: GPL-2.0-only */
/* The hypervisor's own command line: words separated by blanks, each name=value. */
#ifndef VELLUM_CORE_CMDLINE_H
#define VELLUM_CORE_CMDLINE_H

#include "lib/types.h"

enum option_mode { MODE_HV, MODE_NATIVE };
enum option_vmi {
	VMI_ON,	   /* the ROM is there */
	VMI_OFF,   /* it is not */
	VMI_CALLS, /* it is, and never says "your native instruction is equivalent" */
	VMI_TRACE, /* and has the guest make every call there is, to be counted */
};
enum option_guest {
	GUEST_AUTO, /* what the first module is */
	GUEST_LINUX,
	GUEST_MULTIBOOT,
	GUEST_MULTIBOOT2,
	GUEST_DISK, /* no module: what the BIOS finds on a disk */
};
enum option_paging { PAGING_NESTED, PAGING_SHADOW };
enum option_onfault { ONFAULT_RESET, ONFAULT_HALT, ONFAULT_PARK, ONFAULT_MONITOR };
enum option_console {
	CONSOLE_AUTO,
	CONSOLE_COM1,
	CONSOLE_COM2,
	CONSOLE_COM3,
	CONSOLE_COM4,
	CONSOLE_PCI, /* the first serial card */
	CONSOLE_NONE,
};
enum option_cpuid {
	CPUID_EXITS,	     /* always */
	CPUID_EXITS_IN_BOOT, /* until a program asks, on each processor */
};
enum option_gdb { GDB_OFF, GDB_COM1, GDB_COM2 };
enum option_monitor { MONITOR_OFF, MONITOR_COM1, MONITOR_COM2 };
enum option_wait { WAIT_OFF, WAIT_ON };
enum option_trace {
	TRACE_OFF, /* the ring holds exits that take the long way */
	TRACE_ON,  /* all */
	TRACE_END, /* all, and records of them before the last line */
};
enum option_stats { STATS_OFF, STATS_END };

struct options {
	enum option_mode mode;
	enum option_vmi vmi;
	enum option_paging paging;
	enum option_onfault onfault; /* what follows a guest's triple fault */
	enum option_console console; /* auto: COM2 if it answers, else COM1 */
	unsigned int baud;	     /* of Vellum's serial lines */
	enum option_stats stats;     /* end: a record of the exits before the last line */
	enum option_cpuid cpuid;
	enum option_gdb gdb; /* where the gdb stub listens */
	enum option_trace trace;
	enum option_monitor monitor; /* where the monitor is */
	enum option_wait wait;	     /* for the monitor at the guest's first instruction */
	enum option_guest guest;
	unsigned int disk;     /* for GUEST_DISK, by the BIOS's number */
	unsigned int cpus;     /* 0: all there are */
	unsigned int log;      /* enum log_level */
	unsigned int watchdog; /* seconds; 0: none */
};

/*
 * Fills options from line, starting from the defaults. An unknown word or value is
 * named on the console, and the default stands. A first word without '=' is the
 * boot loader's own (the image's path or URL) and is skipped. Later words win.
 */
void cmdline_parse(const char *line, struct options *options);

#endif
