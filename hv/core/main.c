/* SPDX-License-Identifier: GPL-2.0-only */
/* From power-on to the guest's first instruction; each step is a call. */
#include "boot/boot.h"
#include "core/cpu.h"
#include "core/exception.h"
#include "core/exit_cpuid.h"
#include "core/guest_space.h"
#include "core/launch.h"
#include "core/options.h"
#include "core/panic.h"
#include "core/policy.h"
#include "core/power.h"
#include "core/processor.h"
#include "core/smp.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "debug/console_port.h"
#include "debug/debugger.h"
#include "debug/gdb.h"
#include "debug/guest_death.h"
#include "debug/guest_symbols.h"
#include "debug/monitor_line.h"
#include "debug/record.h"
#include "debug/trace.h"
#include "dev/acpi.h"
#include "dev/clock.h"
#include "guest/loader.h"
#include "guest/rom_install.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/guest_memory.h"
#include "mm/image.h"

struct options options;

static struct boot_info boot;
static struct e820_map guest_map; /* the machine's memory, less what Vellum keeps */
static struct kept_memory kept;
static enum option_guest guest_kind;
static uint64_t start_tsc;

#define SHADOW_MEMORY_MOST (18 * MIB)

static void open_console(void)
{
	cmdline_parse(boot.command_line, &options);
	console_set_level(options.log);
	console_set_speed(options.baud);
	console_open(options.console);
	pr_info("Vellum %s, booted by %s", VELLUM_VERSION, boot.loader[0] ? boot.loader : "?");
}

/* A sixteenth of a small machine; enough for the kernel's compile on others. */
static uint64_t shadow_memory(void)
{
	if (options.paging != PAGING_SHADOW)
		return 0;
	return max_u64(
		align_down(min_u64(e820_ram_size(&boot.memory) / 16, SHADOW_MEMORY_MOST), 2 * MIB),
		2 * MIB);
}

/* Vellum goes to the top of RAM, and out of the guest's sight. */
static int claim_memory(void)
{
	int error = image_move_to_top(&boot, IMAGE_KEEP_SIZE + shadow_memory(), &kept);

	if (error)
		return error;
	pr_info("keeping %lu MiB at %lx of %lu MiB of RAM", (kept.size / MIB), kept.base,
		(e820_ram_size(&boot.memory) / MIB));
	guest_map = boot.memory;
	error = e820_set_type(&guest_map, kept.base, kept.size, E820_RESERVED);
	smp_find_processors();
	smp_take_page(&boot, &guest_map);
	guest_memory_init(&guest_map); /* takes the largest RAM down, so Vellum's is out first */
	return error;
}

/* Without virtualization the user still gets a running machine, and the reason. */
static void choose_mode(void)
{
	char why[160];
	bool shadow = options.paging == PAGING_SHADOW;

	if (options.mode == MODE_NATIVE)
		return;
	if (vendor_select(&shadow, why, sizeof(why))) {
		pr_warn("running the guest natively: %s", why);
		options.mode = MODE_NATIVE;
		return;
	}
	options.paging = shadow ? PAGING_SHADOW : PAGING_NESTED;
}

/*
 * For Linux without ACPI: it finds processors in the MP table, which lies where BIOSes
 * write-protect it. Before 2.6.33 it knows the second word only.
 */
static void tell_kernel_processors(unsigned int count)
{
	char *line = boot.module[0].string;
	size_t used = strlen(line);

	if (guest_kind != GUEST_LINUX || !boot.module_count)
		return;
	text_format(line + used, sizeof(boot.module[0].string) - used, " nr_cpus=%u maxcpus=%u",
		    count, count);
}

static bool runs_one_processor(void)
{
	if (options.mode == MODE_NATIVE || options.paging != PAGING_SHADOW)
		return false;
	if (options.cpus != 1 && smp_present_count() > 1)
		pr_warn("paging=shadow gives the guest one processor so far");
	return true;
}

static unsigned int processors_to_give(unsigned int usable)
{
	if (runs_one_processor())
		return 1;
	return options.cpus ? (unsigned int)min_u64(options.cpus, usable) : usable;
}

/* Vellum then knows of no other processor, but the guest may, from an MP table. */
static void keep_to_boot_processor(void)
{
	smp_give(1);
	if (options.mode == MODE_NATIVE)
		return;
	pr_warn("no MADT in ACPI's tables: the guest gets one processor, and another one that it "
		"starts runs outside of Vellum");
	tell_kernel_processors(1);
}

/*
 * Takes the processors that the guest shall not have out of its ACPI tables. Those that Vellum
 * does not use are among them: it could not keep them in check.
 */
static void limit_processors(void)
{
	unsigned int listed = acpi_count_cpus();
	unsigned int usable = options.mode == MODE_NATIVE ? listed : smp_present_count();
	unsigned int keep = processors_to_give(usable);

	if (!listed) {
		keep_to_boot_processor();
		return;
	}
	smp_give(keep);
	if (keep >= listed)
		return;
	pr_info("the guest gets %u of %u processors", keep, listed);
	acpi_disable_cpus(keep, processor_boot()->apic_id);
	tell_kernel_processors(keep);
}

static void say_boot(void)
{
	static const char *const vmi_names[] = {
		[VMI_ON] = "on", [VMI_OFF] = "off", [VMI_CALLS] = "calls", [VMI_TRACE] = "trace"};
	static const char *const paging_names[] = {
		[PAGING_NESTED] = "nested", [PAGING_SHADOW] = "shadow"};
	bool native = options.mode == MODE_NATIVE;
	const struct record_boot record = {
		.vendor = vendor ? vendor->name : "none",
		.mode = native ? "native" : "hv",
		.vmi = native ? "off" : vmi_names[options.vmi],
		.paging = native ? "none" : paging_names[options.paging],
		.cpus = smp_guest_count(),
		.memory_given = e820_ram_size(&guest_map),
		.memory_kept = kept.size,
		.cycles = rdtsc() - start_tsc,
	};

	record_boot(&record);
}

/* The ROM's setup has measured it, if there is a ROM. */
static void need_tsc_rate(void)
{
	struct clock_rates rates;

	if ((trace_is_on || options.watchdog) && !clock_tsc_hz() && clock_measure(0, &rates))
		pr_warn("the TSC's rate is not known: no timer runs to measure it by");
}

/* One line can be served at a time. */
static void start_debugger(bool wide)
{
	bool deaths = guest_death_init(options.gdb == GDB_OFF, options.watchdog);

	if (options.gdb != GDB_OFF)
		gdb_init(options.gdb, wide);
	else if (options.monitor != MONITOR_OFF)
		monitor_init(options.monitor, options.wait == WAIT_ON);
	else if (deaths)
		debugger_init(NULL);
	if (options.gdb != GDB_OFF && options.monitor != MONITOR_OFF)
		pr_warn("no monitor on a line of its own while there is gdb: its \"monitor\" has "
			"the commands");
}

static int start_virtualized(const struct guest_entry *entry)
{
	int error = guest_space_init(&kept, e820_ram_end(&guest_map));

	if (!error)
		error = smp_prepare();
	if (!error)
		error = rom_install(options.vmi, vendor->hypercall);
	if (error)
		return error;
	trace_is_on = options.trace != TRACE_OFF;
	need_tsc_rate();
	start_debugger(entry->is_64bit);
	if (options.stats == STATS_END)
		policy_find_power_ports();
	exit_cpuid_init();
	power_init();
	say_boot();
	return launch_guest(entry);
}

static int start(void)
{
	struct guest_entry entry;
	int error;

	panic_set_activity("reading the boot loader's information");
	choose_mode();
	error = claim_memory();
	if (error)
		return error;
	guest_symbols_take(&boot);
	guest_kind = loader_guest_kind(&boot, options.guest);
	limit_processors();
	panic_set_activity("loading the guest");
	error = loader_load(&boot, &guest_map, options.disk, guest_kind, &entry);
	if (error)
		return error;
	panic_set_activity("starting the guest");
	if (options.mode == MODE_HV)
		return start_virtualized(&entry);
	say_boot();
	return launch_native(&entry);
}

_Noreturn void vellum_main(uint32_t magic, uint32_t info);

void vellum_main(uint32_t magic, uint32_t info)
{
	int error;

	start_tsc = rdtsc();
	exception_init();
	exception_load(&processor_boot()->tables);
	console_open(CONSOLE_AUTO);
	error = boot_read(magic, hpa(info), &boot);
	if (!error) {
		open_console();
		error = start();
	}
	pr_debug("start: error %d", error);
	stop_after_error();
}
