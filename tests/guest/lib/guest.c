/* SPDX-License-Identifier: GPL-2.0-only */
#include "guest.h"

#include "lib/printf.h"

#define COM1		  0x3f8
#define COM_DIVISOR_LATCH 0x80
#define COM_8N1		  0x03
#define COM_LINE_STATUS	  5
#define COM_HOLDING_EMPTY 0x20
#define COM_ALL_SENT	  0x40

#define PORT_KEYBOARD_COMMAND 0x64
#define KEYBOARD_PULSE_RESET  0xfe
#define PORT_DEBUG_EXIT	      0xf4   /* QEMU's isa-debug-exit */
#define PORT_SHUTDOWN	      0x8900 /* Bochs: takes the word "Shutdown" */
#define PATIENCE	      10000000
#define VENDOR_ECX_INTEL      0x6c65746eu /* "ntel" */

static const struct linux_boot_params *params;

static void com1_init(void)
{
	outb(COM1 + 3, COM_DIVISOR_LATCH);
	outb(COM1 + 0, 1); /* 115200 baud */
	outb(COM1 + 1, 0);
	outb(COM1 + 3, COM_8N1);
}

static void await_com1(uint8_t status)
{
	while (!(inb(COM1 + COM_LINE_STATUS) & status))
		;
}

/* Returns when all is sent: what a reset finds in the transmitter is lost. */
static void put(const char *text)
{
	for (; *text; text++) {
		await_com1(COM_HOLDING_EMPTY);
		outb(COM1, (uint8_t)*text);
	}
	await_com1(COM_ALL_SENT);
}

static void say_line(const char *start, const char *format, va_list args)
{
	char text[200];

	text_vformat(text, sizeof(text), format, args);
	put(start);
	put(text);
	put("\n");
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("", format, args);
	va_end(args);
}

void say_same(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("SAME ", format, args);
	va_end(args);
}

static void end_emulator(void)
{
	outb(PORT_DEBUG_EXIT, 0);
	for (const char *at = "Shutdown"; *at; at++)
		outb(PORT_SHUTDOWN, (uint8_t)*at);
}

/* A reset, so that Vellum's end record can be read; the emulator's own way, if that fails. */
_Noreturn static void end_machine(void)
{
	outb(PORT_KEYBOARD_COMMAND, KEYBOARD_PULSE_RESET);
	for (int i = 0; i < PATIENCE; i++)
		cpu_relax();
	put("the reset through the keyboard controller did nothing\n");
	end_emulator();
	cpu_stop();
}

_Noreturn void fail(const char *file, int line, const char *format, ...)
{
	char place[100];
	va_list args;

	text_format(place, sizeof(place), "FAIL %s: %s:%d: ", guest_name, file, line);
	va_start(args, format);
	say_line(place, format, args);
	va_end(args);
	end_machine();
}

_Noreturn void skip(const char *format, ...)
{
	va_list args;

	put("SKIP ");
	put(guest_name);
	va_start(args, format);
	say_line(": ", format, args);
	va_end(args);
	end_machine();
}

void say_pass(void)
{
	say("PASS %s", guest_name);
}

void expect_equal(const char *file, int line, const char *what, uint64_t found, uint64_t wanted)
{
	if (found != wanted)
		fail(file, line, "%s: %llx, expected %llx", what, found, wanted);
}

const struct linux_boot_params *boot_params(void)
{
	return params;
}

bool told(const char *word)
{
	const char *line = (const char *)params->header.cmd_line_ptr;
	size_t length = strlen(word);

	for (const char *at = line; *at; at++)
		if ((at == line || at[-1] == ' ') && !memcmp(at, word, length) &&
		    (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

bool under_vellum(void)
{
	struct leaf leaf = leaf_read(VELLUM_CPUID_BASE, 0);

	return leaf.ebx == VELLUM_SIGNATURE_EBX && leaf.ecx == VELLUM_SIGNATURE_ECX &&
	       leaf.edx == VELLUM_SIGNATURE_EDX;
}

bool is_intel(void)
{
	return leaf_read(CPUID_VENDOR, 0).ecx == VENDOR_ECX_INTEL;
}

/* Vellum's is the only reserved range between two of RAM, or between RAM and its end. */
struct e820_entry kept_memory(void)
{
	for (unsigned int i = 1; i < params->e820_entries; i++) {
		struct e820_entry entry = params->e820_table[i];
		struct e820_entry below = params->e820_table[i - 1];

		if (entry.type == E820_RESERVED && below.type == E820_RAM &&
		    below.base + below.size == entry.base && entry.base > MIB)
			return entry;
	}
	fail(__FILE__, __LINE__, "the memory map reserves nothing above RAM");
}

struct leaf leaf_read(uint32_t leaf, uint32_t subleaf)
{
	struct leaf r;

	asm volatile("cpuid"
		     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
		     : "a"(leaf), "c"(subleaf));
	return r;
}

uint64_t exits(uint32_t reason)
{
	struct leaf leaf = leaf_read(VELLUM_CPUID_EXITS, reason);

	return (uint64_t)leaf.edx << 32 | leaf.eax;
}

unsigned int msr_read(uint32_t msr, uint64_t *value)
{
	static const uint8_t code[] = {0x0f, 0x32, INT_DONE};
	struct state state = state_for(code);

	state.rcx = msr;
	run(&state);
	*value = state.rdx << 32 | state.rax;
	return (unsigned int)state.vector;
}

unsigned int msr_write(uint32_t msr, uint64_t value)
{
	static const uint8_t code[] = {0x0f, 0x30, INT_DONE};
	struct state state = state_for(code);

	state.rcx = msr;
	state.rax = (uint32_t)value;
	state.rdx = value >> 32;
	run(&state);
	return (unsigned int)state.vector;
}

/* The runner holds this against Vellum's exit record, which counts one more: the reset. */
static void say_exits(void)
{
	if (under_vellum())
		say("EXITS %llu", exits(VELLUM_CPUID_EXITS_ALL));
}

_Noreturn void guest_start(const struct linux_boot_params *boot); /* called by entry.asm */

_Noreturn void guest_start(const struct linux_boot_params *boot)
{
	params = boot;
	com1_init();
	run_init();
	guest_main();
	paging_off();
	say_pass();
	say_exits();
	end_machine();
}
