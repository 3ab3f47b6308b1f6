/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/panic.h"
#include "core/cpu.h"
#include "core/exception.h"
#include "core/lock.h"
#include "core/processor.h"
#include "core/smp.h"
#include "debug/console.h"
#include "debug/record.h"
#include "debug/report.h"
#include "debug/symbols.h"
#include "lib/printf.h"

#define BACKTRACE_DEPTH 16

static const char *activity = "starting";

static const char *const exception_names[EXCEPTION_COUNT] = {
	[0] = "#DE divide error",
	[1] = "#DB debug",
	[2] = "NMI",
	[3] = "#BP breakpoint",
	[6] = "#UD invalid opcode",
	[7] = "#NM no FPU",
	[8] = "#DF double fault",
	[10] = "#TS invalid TSS",
	[11] = "#NP segment not present",
	[12] = "#SS stack fault",
	[13] = "#GP general protection",
	[14] = "#PF page fault",
	[16] = "#MF x87 error",
	[17] = "#AC alignment check",
	[18] = "#MC machine check",
	[19] = "#XF SIMD error",
};

void panic_set_activity(const char *text)
{
	activity = text;
}

static bool on_stack(uint64_t frame_pointer)
{
	const struct processor *self = processor_current();

	return frame_pointer >= self->stack_bottom && frame_pointer + 16 <= self->stack_top &&
	       is_aligned(frame_pointer, 8);
}

static void print_location(const char *what, uint64_t address)
{
	uint64_t offset;
	const char *name = symbol_find(address, &offset);

	if (name)
		pr_error("  %s %016lx %s+0x%lx", what, address, name, offset);
	else
		pr_error("  %s %016lx", what, address);
}

/* Follows the frame pointers, as long as they stay on the stack and move up. */
static void print_backtrace(uint64_t frame_pointer)
{
	for (int depth = 0; depth < BACKTRACE_DEPTH && on_stack(frame_pointer); depth++) {
		const uint64_t *frame = (const uint64_t *)frame_pointer;

		print_location("from", frame[1]);
		if (frame[0] <= frame_pointer)
			return;
		frame_pointer = frame[0];
	}
}

static void print_registers(const struct exception_frame *f)
{
	pr_error("  rax %016lx rbx %016lx rcx %016lx rdx %016lx", f->rax, f->rbx, f->rcx, f->rdx);
	pr_error("  rsi %016lx rdi %016lx rbp %016lx rsp %016lx", f->rsi, f->rdi, f->rbp, f->rsp);
	pr_error("  r8  %016lx r9  %016lx r10 %016lx r11 %016lx", f->r8, f->r9, f->r10, f->r11);
	pr_error("  r12 %016lx r13 %016lx r14 %016lx r15 %016lx", f->r12, f->r13, f->r14, f->r15);
	pr_error("  cs %04lx ss %04lx rflags %08lx cr2 %016lx cr3 %016lx", f->cs, f->ss, f->rflags,
		 read_cr2(), read_cr3());
}

/* No other processor may print, nor run the guest on. */
static void begin_panic(void)
{
	lock_seize();
	smp_stop_others();
}

_Noreturn static void end_in_panic(void)
{
	report_exits();
	pr_error("  Vellum stops here. Please report the lines above, and what the machine is.");
	record_end("panic");
	cpu_stop();
}

void panic_exception(const struct exception_frame *frame)
{
	const char *name = exception_names[frame->vector];

	begin_panic();
	pr_error("panic: exception %u (%s), error code %lx, while %s", (unsigned int)frame->vector,
		 name ? name : "reserved", frame->error_code, activity);
	print_registers(frame);
	print_location("at  ", frame->rip);
	print_backtrace(frame->rbp);
	end_in_panic();
}

void panic(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	text_vformat(text, sizeof(text), format, args);
	va_end(args);
	begin_panic();
	pr_error("panic: %s, while %s", text, activity);
	print_backtrace((uintptr_t)__builtin_frame_address(0));
	end_in_panic();
}

void stop_after_error(void)
{
	pr_error("nothing was started; mend the above and reset the machine");
	record_end("error");
	cpu_stop();
}
