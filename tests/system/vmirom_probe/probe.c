// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest kernel reduced to what touches the VMI ROM: finds it, asks get_reloc for every
 * call, runs the routines and vmi_init, and writes what came back to the debug console,
 * a line each. test_option_rom_bios.py judges. Runs on QEMU alone, without Vellum.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINEAR_MAP	  0xc0000000u
#define SCAN_START	  0xc0000u
#define SCAN_END	  0xe0000u
#define SCAN_STEP	  2048u
#define OPTION_ROM	  0xaa55u
#define VMI_SIGNATURE	  0x696d5663u
#define VMI_INIT	  0x80u
#define GET_RELOC	  0x88u
#define DEBUG_PORT	  0x402 /* SeaBIOS writes there, too */
#define EXIT_PORT	  0xf4
#define EXIT_STATUS	  1 /* QEMU makes 3 of it */
#define EFLAGS_FIXED	  0x002u
#define EFLAGS_IF	  0x200u
#define EFLAGS_ALL_BUT_IF 0x8d7u /* OF, SF, ZF, AF, PF, CF */
#define KERNEL_DATA	  0x10u
#define NOWHERE		  0x28u /* a data segment that leads to no memory */

struct registers {
	uint32_t eax, ebx, ecx, edx, esi, edi, ebp;
	uint32_t eflags;
	uint32_t segments;  /* DS and ES */
	uint32_t esp_moved; /* out: by how much the stack is off */
};

void probe_call(struct registers *registers, uint32_t function);
void via_iret(void);
void via_sysexit(void);
void user_landing(void);
extern uint32_t routine, hypercall_eax, hypercall_edx, hypercall_result;

static void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void print(const char *text)
{
	while (*text)
		out8(DEBUG_PORT, (uint8_t)*text++);
}

static void print_hex(const char *name, uint32_t value)
{
	print(" ");
	print(name);
	print("=");
	for (int shift = 28; shift >= 0; shift -= 4)
		out8(DEBUG_PORT, (uint8_t) "0123456789abcdef"[value >> shift & 0xf]);
}

static void print_registers(const char *what, const struct registers *r)
{
	print("PROBE ");
	print(what);
	print_hex("eax", r->eax);
	print_hex("ebx", r->ebx);
	print_hex("ecx", r->ecx);
	print_hex("edx", r->edx);
	print_hex("esi", r->esi);
	print_hex("edi", r->edi);
	print_hex("ebp", r->ebp);
	print_hex("eflags", r->eflags);
	print_hex("esp_moved", r->esp_moved);
}

/* Registers that no code leaves by accident. */
static struct registers marked(uint32_t eflags, uint32_t segments)
{
	return (struct registers){
		.eax = 0xa0a0a0a0,
		.ebx = 0xb0b0b0b0,
		.ecx = 0xc0c0c0c0,
		.edx = 0xd0d0d0d0,
		.esi = 0x51515151,
		.edi = 0xd1d1d1d1,
		.ebp = 0xb9b9b9b9,
		.eflags = eflags | EFLAGS_FIXED,
		.segments = segments,
	};
}

static uint32_t find_rom(void)
{
	for (uint32_t rom = LINEAR_MAP + SCAN_START; rom < LINEAR_MAP + SCAN_END; rom += SCAN_STEP)
		if (*(uint16_t *)rom == OPTION_ROM && *(uint32_t *)(rom + 8) == VMI_SIGNATURE)
			return rom;
	return 0;
}

static uint32_t relocate(uint32_t rom, uint32_t call)
{
	struct registers r = marked(0, KERNEL_DATA);

	r.eax = call;
	probe_call(&r, rom + GET_RELOC);
	print_registers("get_reloc", &r);
	print_hex("call", call);
	print("\n");
	return r.eax;
}

static void relocate_all(uint32_t rom)
{
	static const uint32_t unknown[] = {
		74,	    75,		0x7fffffff, 0x80000000, 0xffffffff,
		0x4000001d, 0x8000001d, 0xc000001d /* 29, modulo the size of an answer */};

	for (uint32_t call = 0; call < 74; call++)
		relocate(rom, call);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		relocate(rom, unknown[i]);
}

static void run(const char *what, uint32_t function, uint32_t eax, uint32_t eflags)
{
	struct registers r = marked(eflags, NOWHERE);

	r.eax = eax;
	probe_call(&r, function);
	print_registers(what, &r);
	print("\n");
}

static void run_interrupt_routines(uint32_t rom)
{
	uint32_t enable = relocate(rom, 29), disable = relocate(rom, 30);
	uint32_t get_mask = relocate(rom, 31), set_mask = relocate(rom, 32);

	run("enable", enable, 0x12345678, 0);
	run("disable", disable, 0x12345678, EFLAGS_IF);
	run("get_mask_on", get_mask, 0x12345678, EFLAGS_IF);
	run("get_mask_off", get_mask, 0x12345678, 0);
	run("set_mask_on", set_mask, EFLAGS_IF, 0);
	run("set_mask_off", set_mask, 0, EFLAGS_IF);
	run("set_mask_others_on", set_mask, 0xffffffff, 0);
	run("set_mask_others_off", set_mask, ~EFLAGS_IF, EFLAGS_IF);
}

static void run_iret(uint32_t rom)
{
	routine = relocate(rom, 33);
	run("iret", (uint32_t)via_iret, 0x12345678, EFLAGS_ALL_BUT_IF);
}

static void run_sysexit(uint32_t rom)
{
	static uint32_t user_stack[64];
	struct registers r = marked(0, NOWHERE);

	routine = relocate(rom, 34);
	r.edx = (uint32_t)user_landing;
	r.ecx = (uint32_t)&user_stack[64];
	probe_call(&r, (uint32_t)via_sysexit);
	r.esi -= (uint32_t)&user_stack[64]; /* 0: the stack that was asked for */
	print_registers("sysexit", &r);
	print("\n");
}

static void run_vmi_init(uint32_t rom)
{
	struct registers r = marked(0, KERNEL_DATA);

	hypercall_result = 0x5a5a5a5a;
	probe_call(&r, rom + VMI_INIT);
	print_registers("vmi_init", &r);
	print_hex("hypercall_eax", hypercall_eax);
	print_hex("hypercall_edx", hypercall_edx);
	print("\n");
}

void probe_main(void)
{
	uint32_t rom = find_rom();

	print("PROBE rom");
	print_hex("at", rom);
	print("\n");
	if (rom) {
		relocate_all(rom);
		run_interrupt_routines(rom);
		run_iret(rom);
		run_sysexit(rom);
		run_vmi_init(rom);
	}
	print("PROBE end\n");
	out8(EXIT_PORT, EXIT_STATUS);
}
