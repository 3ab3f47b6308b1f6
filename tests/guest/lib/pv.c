/* SPDX-License-Identifier: GPL-2.0-only */
#include "pv.h"
#include "guest.h"
#include "irq.h"
#include "rom.h"
#include "segments.h"

/* What a caller may hold in EFLAGS and wants back: IF, IOPL 0 or 3, AC, ID. */
#define ARITHMETIC_FLAGS 0x8d5u /* CF PF AF ZF SF OF */
#define FLAG_IF		 0x200u
#define FLAG_IOPL	 0x3000u
#define FLAG_AC		 0x40000u
#define FLAG_ID		 0x200000u
#define FLAG_ONE	 0x2u

static uint32_t rom;

uint32_t pv_rom(void)
{
	return rom;
}

/*
 * What differs from call to call: the stack's alignment, IF, and all flags. Drawn, as what is
 * counted may be the same at each call of a loop.
 */
static unsigned int draw(void)
{
	static uint32_t drawn;

	drawn = drawn * 1664525 + 1013904223; /* Numerical Recipes; its upper bits are good */
	return drawn >> 24;
}

struct call pv_canaries(void)
{
	unsigned int round = draw();
	struct call call = {
		.eax = 0xa0a0a0a0,
		.ecx = 0xc0c0c0c0,
		.edx = 0xd0d0d0d0,
		.ebx = 0xb0b0b0b0,
		.ebp = 0xb9b9b9b9,
		.esi = 0x51515151,
		.edi = 0xd1d1d1d1,
		.eflags = FLAG_ONE,
		.ds = LINUX_USER_DS,
		.es = LINUX_USER_DS,
		.fs = LINUX_PERCPU,
		.skew = round >> 3 & 3,
		.stack = {0x57ac0000, 0x57ac0001, 0x57ac0002, 0x57ac0003},
	};

	if (round & 1)
		call.eflags |= FLAG_IF;
	if (round & 2)
		call.eflags |= ARITHMETIC_FLAGS | FLAG_AC;
	if (round & 4)
		call.eflags |= FLAG_ID | FLAG_IOPL;
	return call;
}

static void expect_register(const char *what, const char *name, uint32_t found, uint32_t wanted)
{
	if (found != wanted)
		fail(__FILE__, __LINE__, "%s: %s %x, expected %x", what, name, found, wanted);
}

static void expect_kept(const char *what, const struct call *after, const struct call *before,
			unsigned int may)
{
	uint32_t free_flags =
		ARITHMETIC_FLAGS | (may & PV_IF ? FLAG_IF : 0) | (may & PV_IOPL ? FLAG_IOPL : 0);

	if (!(may & PV_EAX))
		expect_register(what, "EAX", after->eax, before->eax);
	if (!(may & PV_ECX))
		expect_register(what, "ECX", after->ecx, before->ecx);
	if (!(may & PV_EDX))
		expect_register(what, "EDX", after->edx, before->edx);
	if (!(may & PV_EBX))
		expect_register(what, "EBX", after->ebx, before->ebx);
	expect_register(what, "EBP", after->ebp, before->ebp);
	if (!(may & PV_ESI))
		expect_register(what, "ESI", after->esi, before->esi);
	if (!(may & PV_EDI))
		expect_register(what, "EDI", after->edi, before->edi);
	expect_register(what, "DS", after->ds, before->ds);
	expect_register(what, "ES", after->es, before->es);
	expect_register(what, "FS", after->fs, before->fs);
	expect_register(what, "GS", after->gs, before->gs);
	expect_register(what, "bytes popped", (uint32_t)after->popped, 0);
	expect_register(what, "EFLAGS", after->eflags & ~free_flags, before->eflags & ~free_flags);
}

void pv_run(const char *what, struct call *call, unsigned int may)
{
	struct call before = *call;

	caller_run(call);
	expect_kept(what, call, &before, may);
}

/* One of the two entry points of the header. */
static uint64_t run_entry(const char *what, uint32_t offset, uint32_t eax)
{
	struct call call = pv_canaries();

	call.target = rom + offset;
	call.eax = eax;
	call.eflags &= ~FLAG_IF; /* a kernel calls both with interrupts off */
	pv_run(what, &call, PV_STD);
	return (uint64_t)call.edx << 32 | call.eax;
}

void pv_prepare(enum paging paging)
{
	segments_init();
	irq_init();
	paging_map_linear();
	paging_on(paging);
	rom = PAGE_OFFSET + rom_find();
	EXPECT(rom != PAGE_OFFSET);
	EXPECT(rom_is_at(rom));
}

void pv_init(void)
{
	EXPECT_EQ("vmi_init",
		  (uint32_t)run_entry("vmi_init", offsetof(struct vmi_rom_header, vmi_init), 0), 0);
}

void pv_start(enum paging paging)
{
	pv_prepare(paging);
	pv_init();
}

struct reloc pv_reloc(unsigned int call)
{
	uint64_t answer = run_entry("get_reloc", offsetof(struct vmi_rom_header, get_reloc), call);
	struct reloc reloc = {
		.routine = (uint32_t)answer,
		.type = (uint8_t)(answer >> 32),
		.hint = (uint8_t)(answer >> 40),
	};

	if (answer >> 48)
		fail(__FILE__, __LINE__, "get_reloc of %u: %llx", call, answer);
	return reloc;
}

bool pv_has(enum vmi_call call)
{
	return pv_reloc(call).type == VMI_RELOCATION_CALL_REL;
}

static unsigned int may_change(enum vmi_call call)
{
	switch (call) {
	case VMI_CALL_CPUID:
		return PV_STD | PV_EBX;
	case VMI_CALL_Halt:
		return PV_STD | PV_IF;
	case VMI_CALL_SetIOPLMask:
		return PV_STD | PV_IOPL;
	case VMI_CALL_RDPMC:
		return PV_EAX | PV_EDX;
	default:
		return PV_STD;
	}
}

void pv_aim(enum vmi_call number, struct call *call)
{
	struct reloc reloc = pv_reloc(number);

	if (reloc.type != VMI_RELOCATION_CALL_REL)
		fail(__FILE__, __LINE__, "%s: the ROM's answer is %u", vmi_call_name(number),
		     reloc.type);
	call->target = reloc.routine;
}

uint64_t pv_call(enum vmi_call number, const uint32_t arguments[5])
{
	struct call call = pv_canaries();

	pv_aim(number, &call);
	call.eax = arguments[0];
	call.edx = arguments[1];
	call.ecx = arguments[2];
	call.stack[0] = arguments[3];
	call.stack[1] = arguments[4];
	pv_run(vmi_call_name(number), &call, may_change(number));
	return (uint64_t)call.edx << 32 | call.eax;
}
