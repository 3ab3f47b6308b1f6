// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of vmirom.bin, as a guest and a BIOS read them. The numbers here are those
 * of the VMI 3.0 ABI, written down a second time on purpose: a slip in vmirom/ or in
 * vmi.h cannot hide behind itself. That the code runs is for tests/system/test_option_rom_bios.py.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "vmi/vmi.h"

enum { ROM_SIZE = 4096, TRACE_STUB = 12 };

static uint8_t rom[ROM_SIZE + 1]; /* one more, to see if the file is too long */

static uint16_t u16_at(size_t offset)
{
	assert_in_range(offset, 0, ROM_SIZE - 2);
	return (uint16_t)(rom[offset] | rom[offset + 1] << 8);
}

static uint32_t u32_at(size_t offset)
{
	return u16_at(offset) | (uint32_t)u16_at(offset + 2) << 16;
}

static uint8_t sum(size_t start, size_t length)
{
	uint8_t total = 0;

	for (size_t i = start; i < start + length; i++)
		total = (uint8_t)(total + rom[i]);
	return total;
}

/* The NUL-terminated text at the offset that the header has at pointer. */
static const char *text_behind(size_t pointer)
{
	size_t offset = u16_at(pointer);

	assert_in_range(offset, 0x90, ROM_SIZE - 1);
	assert_non_null(memchr(rom + offset, 0, ROM_SIZE - offset));
	return (const char *)rom + offset;
}

/* Where the JMP rel32 at offset leads. */
static size_t jump_target(size_t offset)
{
	size_t target = (uint32_t)(offset + 5 + u32_at(offset + 1));

	assert_int_equal(rom[offset], 0xe9);
	assert_in_range(target, 0x90, ROM_SIZE - 1);
	return target;
}

static int read_rom(void **state)
{
	FILE *file = fopen(VMIROM, "rb");
	size_t size;

	(void)state;
	if (!file)
		return -1;
	size = fread(rom, 1, sizeof(rom), file);
	fclose(file);
	return size == ROM_SIZE ? 0 : -1;
}

static void a_bios_takes_it_for_an_option_rom(void **state)
{
	static const uint8_t xor_ax_retf[] = {0x31, 0xc0, 0xcb};

	(void)state;
	assert_int_equal(u16_at(0x00), 0xaa55);
	assert_int_equal(rom[0x02] * 512, ROM_SIZE);
	assert_memory_equal(rom + 0x03, xor_ax_retf, sizeof(xor_ax_retf));
	assert_int_equal(sum(0, ROM_SIZE), 0);
}

static void linux_takes_it_for_a_vmi_rom(void **state)
{
	(void)state;
	assert_memory_equal(rom + 0x08, "cVmi", 4);
	assert_int_equal(rom[0x0c], 0);	   /* minor */
	assert_int_equal(rom[0x0d], 3);	   /* major */
	assert_int_equal(u32_at(0x10), 0); /* virtual_top: keeps nothing */
	assert_string_equal(text_behind(0x16), "GPL v2");
}

static void pci_header_is_vmwares(void **state)
{
	size_t pci = u16_at(0x18);

	(void)state;
	assert_int_equal(pci, 0x20);
	assert_memory_equal(rom + pci, "PCIR", 4);
	assert_int_equal(u16_at(pci + 4), 0x15ad);
	assert_int_equal(u16_at(pci + 6), 0x0801);
	assert_int_equal(u16_at(pci + 8), 0);	  /* vital product data */
	assert_int_equal(u16_at(pci + 10), 0x18); /* length */
	assert_int_equal(rom[pci + 15], 0x08);	  /* base class: system peripheral */
	assert_int_equal(rom[pci + 14], 0x80);	  /* other */
	assert_int_equal(u16_at(pci + 16) * 512, ROM_SIZE);
	assert_int_equal(rom[pci + 18], 0); /* version, minor */
	assert_int_equal(rom[pci + 19], 1); /* and major */
	assert_int_equal(rom[pci + 20], 0); /* code type x86 */
	assert_int_equal(rom[pci + 21], 0x80);
}

static void pnp_header_names_us_and_boots_nothing(void **state)
{
	size_t pnp = u16_at(0x1a);

	(void)state;
	assert_int_equal(pnp, 0x40);
	assert_memory_equal(rom + pnp, "$PnP", 4);
	assert_int_equal(rom[pnp + 4], 1);	 /* revision */
	assert_int_equal(rom[pnp + 5] * 16, 32); /* length */
	assert_int_equal(u16_at(pnp + 6), 0);	 /* next header */
	assert_int_equal(sum(pnp, 32), 0);
	assert_string_equal(text_behind(pnp + 14), "Vellum");
	assert_string_equal(text_behind(pnp + 16), "VMI 3.0 option ROM");
	assert_int_equal(u16_at(pnp + 22), 0); /* BCV */
	assert_int_equal(u16_at(pnp + 24), 0); /* disconnect vector */
	assert_int_equal(u16_at(pnp + 26), 0); /* BEV */
}

static void entry_points_lead_to_code(void **state)
{
	size_t init = jump_target(0x80), get_reloc = jump_target(0x88);

	(void)state;
	assert_int_equal(rom[init], 0x53);	/* push ebx */
	assert_int_equal(rom[get_reloc], 0x83); /* cmp eax, */
	assert_int_equal(rom[get_reloc + 1], 0xf8);
	assert_int_equal(rom[get_reloc + 2], 74);
}

static void private_header_leads_to_the_hypercalls(void **state)
{
	static const uint8_t vmmcall[] = {0x0f, 0x01, 0xd9};
	size_t list = u16_at(0x6a), listed = u16_at(0x6c), found = 0;

	(void)state;
	assert_memory_equal(rom + 0x60, "VVRM", 4);
	assert_int_equal(u16_at(0x64), 3);				     /* version */
	assert_int_equal(u16_at(0x68), 74);				     /* answers */
	assert_in_range(u16_at(list), jump_target(0x80), jump_target(0x88)); /* vmi_init's */
	for (size_t i = 0; i < listed; i++)
		assert_memory_equal(rom + u16_at(list + 2 * i), vmmcall, sizeof(vmmcall));
	for (size_t i = 0x90; i < ROM_SIZE - sizeof(vmmcall); i++)
		found += !memcmp(rom + i, vmmcall, sizeof(vmmcall));
	assert_int_equal(found, listed); /* else one would be VMMCALL on Intel */
}

/* Answers, as EDX of get_reloc has them */
enum { NONE = 0, NOP = 3, NATIVE = 0x101, CALL = 1 };

/* A call's answer and how its routine begins; where that is short, all of it. */
struct call {
	uint32_t answer;
	size_t size;
	uint8_t code[8];
};

#define CODE(...)                         \
	sizeof((uint8_t[]){__VA_ARGS__}), \
	{                                 \
		__VA_ARGS__               \
	}
#define NOTHING CODE(0xc3) /* ret */

static const struct call calls[74] = {
	[0] = {NONE, CODE(0x0f, 0xa2, 0xc3)},			       /* cpuid */
	[1] = {NONE, CODE(0x0f, 0x30, 0xc3)},			       /* wrmsr */
	[2] = {NONE, CODE(0x0f, 0x32, 0xc3)},			       /* rdmsr */
	[3] = {NONE, CODE(0x0f, 0x01, 0x10, 0xc3)},		       /* lgdt [eax] */
	[4] = {NONE, CODE(0x0f, 0x00, 0xd0, 0xc3)},		       /* lldt ax */
	[5] = {NONE, CODE(0x0f, 0x01, 0x18, 0xc3)},		       /* lidt [eax] */
	[6] = {NONE, CODE(0x0f, 0x00, 0xd8, 0xc3)},		       /* ltr ax */
	[7] = {NONE, CODE(0x0f, 0x01, 0x00, 0xc3)},		       /* sgdt [eax] */
	[8] = {NONE, CODE(0x31, 0xc0, 0x66, 0x0f, 0x00, 0xc0, 0xc3)},  /* sldt ax */
	[9] = {NONE, CODE(0x0f, 0x01, 0x08, 0xc3)},		       /* sidt [eax] */
	[10] = {NONE, CODE(0x31, 0xc0, 0x66, 0x0f, 0x00, 0xc8, 0xc3)}, /* str ax */
	[11] = {NONE, CODE(0x8d, 0x14, 0xd0)}, /* lea edx, [eax + edx * 8], and on */
	[12] = {NONE, CODE(0x8d, 0x14, 0xd0)},
	[13] = {NONE, CODE(0x8d, 0x14, 0xd0)},
	[14] = {NONE, NOTHING},
	[15] = {NONE, CODE(0x0f, 0x22, 0xc0, 0xc3)}, /* mov cr0, eax */
	[16] = {NONE, CODE(0x0f, 0x22, 0xd0, 0xc3)},
	[17] = {NONE, CODE(0x0f, 0x22, 0xd8, 0xc3)},
	[18] = {NONE, CODE(0x0f, 0x22, 0xe0, 0xc3)},
	[19] = {NONE, CODE(0x0f, 0x20, 0xc0, 0xc3)}, /* mov eax, cr0 */
	[20] = {NONE, CODE(0x0f, 0x20, 0xd0, 0xc3)},
	[21] = {NONE, CODE(0x0f, 0x20, 0xd8, 0xc3)},
	[22] = {NONE, CODE(0x0f, 0x20, 0xe0, 0xc3)},
	[23] = {NONE, CODE(0x0f, 0x09, 0xc3)}, /* wbinvd */
	[24] = {NONE, CODE(0x83, 0xf8, 0x08)}, /* cmp eax, 8, and on */
	[25] = {NONE, CODE(0x83, 0xf8, 0x08)},
	[26] = {NONE, CODE(0x0f, 0x33, 0xc3)},	       /* rdpmc */
	[27] = {NONE, CODE(0x0f, 0x31, 0xc3)},	       /* rdtsc */
	[28] = {NONE, CODE(0x0f, 0x06, 0xc3)},	       /* clts */
	[29] = {NATIVE, CODE(0xfb, 0xc3)},	       /* sti */
	[30] = {NATIVE, CODE(0xfa, 0xc3)},	       /* cli */
	[31] = {NATIVE, CODE(0x9c, 0x58, 0xc3)},       /* pushf; pop eax */
	[32] = {NATIVE, CODE(0xf6, 0xc4, 0x02)},       /* test ah, 2, and on */
	[33] = {NATIVE, CODE(0xfa, 0x50, 0x51, 0x52)}, /* cli; push eax, ecx, edx, and on */
	[34] = {NATIVE, CODE(0xfb, 0x0f, 0x35)},       /* sti; sysexit */
	[35] = {NONE, CODE(0xfb, 0xf4, 0xc3)},	       /* sti; hlt */
	[36] = {CALL, CODE(0xb8, 36, 0, 0, 0, 0x0f, 0x01, 0xd9)}, /* mov eax, 36; vmmcall */
	[37] = {CALL, CODE(0xb8, 37, 0, 0, 0, 0x0f, 0x01, 0xd9)},
	[38] = {NONE, CODE(0x89, 0x02, 0xc3)}, /* mov [edx], eax */
	[39] = {NONE, CODE(0x53, 0x57)},       /* push ebx; push edi, and on */
	[40] = {NONE, NOTHING},
	[41] = {NONE, NOTHING},
	[42] = {NONE, NOTHING},
	[43] = {NONE, NOTHING},
	[44] = {NONE, NOTHING},
	[45] = {NONE, NOTHING},
	[46] = {NONE, CODE(0x0f, 0x01, 0x38, 0xc3)}, /* invlpg [eax] */
	[47] = {NONE, CODE(0xa8, 0x02)},	     /* test al, 2, and on */
	[48] = {NONE, NOTHING},
	[49] = {NONE, CODE(0xed, 0xc3)},		   /* in eax, dx */
	[50] = {NONE, CODE(0xb8, 0, 0, 0, 0, 0xec, 0xc3)}, /* mov eax, 0; in al, dx */
	[51] = {NONE, CODE(0xb8, 0, 0, 0, 0, 0x66, 0xed, 0xc3)},
	[52] = {NONE, CODE(0xf3, 0x6d, 0xc3)}, /* rep insd */
	[53] = {NONE, CODE(0xf3, 0x6c, 0xc3)},
	[54] = {NONE, CODE(0xf3, 0x66, 0x6d, 0xc3)},
	[55] = {NONE, CODE(0xef, 0xc3)}, /* out dx, eax */
	[56] = {NONE, CODE(0xee, 0xc3)},
	[57] = {NONE, CODE(0x66, 0xef, 0xc3)},
	[58] = {NONE, CODE(0xf3, 0x6f, 0xc3)}, /* rep outsd */
	[59] = {NONE, CODE(0xf3, 0x6e, 0xc3)},
	[60] = {NONE, CODE(0xf3, 0x66, 0x6f, 0xc3)},
	[61] = {NONE, CODE(0x9c, 0x81, 0x24, 0x24, 0xff, 0xcf, 0xff, 0xff)}, /* and IOPL away */
	[62] = {CALL, CODE(0x89, 0xc1, 0xb8, 62, 0, 0, 0)}, /* mov ecx, eax; mov eax, 62, and on */
	[63] = {NONE,
		CODE(0x25, 0xf0, 0x0f, 0, 0, 0xf6, 0xc6, 0x04)}, /* and eax, 0xff0; test dh, 4 */
	[64] = {NONE, CODE(0x25, 0xf0, 0x0f, 0, 0, 0xe8)},	 /* and eax, 0xff0; call */
	[65] = {NOP, NOTHING},
	[66] = {NATIVE, CODE(0xe8, 0, 0, 0, 0, 0x59)}, /* call .here; pop ecx, and on */
	[67] = {NATIVE, CODE(0x83, 0xf8, 0x01)},       /* cmp eax, 1, and on */
	[68] = {NATIVE, CODE(0x3c, 0x01)},	       /* cmp al, 1, and on */
	[69] = {NATIVE, CODE(0x3c, 0x01)},
	[70] = {NATIVE, CODE(0x53, 0x56)},	 /* push ebx; push esi, and on */
	[71] = {NATIVE, CODE(0x31, 0xc0, 0xc3)}, /* xor eax, eax */
	[72] = {NONE, CODE(0x31, 0xc0, 0xc3)},	 /* xor eax, eax */
	[73] = {NONE, NOTHING},
};

static size_t routine_of(unsigned int call)
{
	return u16_at(u16_at(0x66) + call * 4u);
}

static void check_answer(unsigned int call)
{
	size_t answer = u16_at(0x66) + call * 4u;

	assert_int_equal(u16_at(answer + 2), calls[call].answer);
	assert_in_range(routine_of(call), 0x90, ROM_SIZE - 1);
	assert_memory_equal(rom + routine_of(call), calls[call].code, calls[call].size);
}

static void answers_are_those_for_nested_paging(void **state)
{
	(void)state;
	for (unsigned int call = 0; call < 74; call++)
		check_answer(call);
}

/* Behind the POP above: CMP of the hypervisor's word with 0, JNE, MOV to or from the window. */
static void check_quick_way(size_t here, unsigned int move)
{
	assert_int_equal(u16_at(here + 1), 0xb983);
	assert_int_equal((uint32_t)(here + u32_at(here + 3)),
			 VMI_ROM_DATA_PAGE * 4096 + VMI_ROM_APIC_MOVED);
	assert_int_equal(rom[here + 7], 0);
	assert_int_equal(rom[here + 8], 0x75);
	assert_int_equal(u16_at(here + 10), move);
	assert_int_equal(rom[here + 12], 0x08); /* [eax + ecx + ...] */
	assert_int_equal((uint32_t)(here + u32_at(here + 13)), VMI_ROM_APIC_PAGE * 4096);
	assert_int_equal(rom[here + 17], 0xc3);
}

static void apic_calls_look_where_the_hypervisor_tells(void **state)
{
	(void)state;
	check_quick_way(routine_of(VMI_CALL_APICWrite) + 15, 0x9489);
	check_quick_way(routine_of(VMI_CALL_APICRead) + 10, 0x848b);
}

/* PUSH number, CALL to what they all share, JMP to the call's own routine. */
static void each_call_has_its_trace_stub(void **state)
{
	size_t first = u16_at(0x6e), shared = 0;

	(void)state;
	assert_int_equal(u16_at(0x70), TRACE_STUB);
	for (unsigned int call = 0; call < 74; call++) {
		size_t stub = first + call * TRACE_STUB;

		assert_int_equal(rom[stub], 0x6a);
		assert_int_equal(rom[stub + 1], call);
		assert_int_equal(rom[stub + 2], 0xe8);
		if (!shared)
			shared = (uint32_t)(stub + 7 + u32_at(stub + 3));
		assert_int_equal((uint32_t)(stub + 7 + u32_at(stub + 3)), shared);
		if (call != 33)
			assert_int_equal(jump_target(stub + 7), routine_of(call));
	}
	assert_int_equal(rom[shared], 0x50); /* push eax */
}

/* What the calls of page tables do with shadow page tables: these seven, by number. */
static void shadow_routines_are_listed(void **state)
{
	static const uint8_t begins[7][3] = {
		{0x87, 0x02, 0x92}, /* 38: xchg [edx], eax; xchg eax, edx */
		{0xe8, 0x00, 0x00}, /* 40: call .here */
		{0xf6, 0xc2, 0x10}, /* 44: test dl, 0x10 */
		{0xc1, 0xe0, 0x0c}, /* 45: shl eax, 12 */
		{0x6a, 46, 0xeb},   /* 46: push 46; jmp */
		{0x6a, 47, 0xe8},   /* 47: push 47; call .here */
		{0x85, 0xc0, 0x75}, /* 48: test eax, eax; jnz */
	};
	size_t list = u16_at(0x76);

	(void)state;
	for (size_t i = 0; i < 7; i++)
		assert_memory_equal(rom + u16_at(list + 2 * i), begins[i], 3);
}

/* XADD of the count, MOV to the item that it counted, both in the page behind the APIC's. */
static void queue_is_where_the_hypervisor_reads_it(void **state)
{
	static const uint8_t xadd[] = {0x0f, 0xc1, 0x91};
	size_t here = u16_at(u16_at(0x76) + 2) + 5u, at = here;
	uint32_t queue = VMI_ROM_QUEUE_PAGE * 4096;

	(void)state;
	while (memcmp(rom + at, xadd, sizeof(xadd)))
		assert_in_range(++at, here, here + 32);
	assert_int_equal((uint32_t)(here + u32_at(at + 3)),
			 queue + offsetof(struct vmi_rom_queue, count));
	assert_int_equal((uint32_t)(here + u32_at(at + 10)),
			 queue + offsetof(struct vmi_rom_queue, item));
	assert_int_equal((uint32_t)(here + u32_at(here + 3)),
			 queue + offsetof(struct vmi_rom_queue, wanted));
}

/* IRET's own stays a CALL: add esp, 4; iret, at which the private header points. */
static void traced_iret_runs_in_the_rom(void **state)
{
	static const uint8_t add_esp_iret[] = {0x83, 0xc4, 0x04, 0xcf};
	size_t routine = jump_target(u16_at(0x6e) + 33u * TRACE_STUB + 7);

	(void)state;
	assert_memory_equal(rom + routine, add_esp_iret, sizeof(add_esp_iret));
	assert_int_equal(u16_at(0x74), routine + 3);
}

static void c_and_rom_agree(void **state)
{
	const struct vmi_rom_header *header = (const void *)rom;
	const struct vmi_rom_private *private = (const void *)(rom + VMI_ROM_PRIVATE_OFFSET);

	(void)state;
	assert_int_equal(header->vmi_signature, VMI_ROM_SIGNATURE);
	assert_int_equal(header->api_major, VMI_API_MAJOR);
	assert_int_equal(header->api_minor, VMI_API_MINOR);
	assert_int_equal(private->magic, VMI_ROM_PRIVATE_MAGIC);
	assert_int_equal(private->version, VMI_ROM_PRIVATE_VERSION);
	assert_int_equal(private->answer_count, VMI_CALL_COUNT);
	assert_int_equal(private->trace_stub_size, TRACE_STUB);
	assert_int_equal(VMI_CALL_EnableInterrupts, 29);
	assert_int_equal(VMI_CALL_IODelay, 65);
	assert_int_equal(VMI_CALL_SetLazyMode, 73);
}

static void every_call_has_a_name(void **state)
{
	(void)state;
	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++)
		assert_non_null(vmi_call_name(call));
	assert_string_equal(vmi_call_name(0), "CPUID");
	assert_string_equal(vmi_call_name(33), "IRET");
	assert_string_equal(vmi_call_name(73), "SetLazyMode");
	assert_null(vmi_call_name(74));
	assert_null(vmi_call_name(UINT32_MAX));
}

static void cpuid_signature_spells_vellum(void **state)
{
	const uint32_t signature[] = {VELLUM_SIGNATURE_EBX, VELLUM_SIGNATURE_ECX,
				      VELLUM_SIGNATURE_EDX};

	(void)state;
	assert_memory_equal(signature, "VellumVellum", sizeof(signature));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bios_takes_it_for_an_option_rom),
		cmocka_unit_test(linux_takes_it_for_a_vmi_rom),
		cmocka_unit_test(pci_header_is_vmwares),
		cmocka_unit_test(pnp_header_names_us_and_boots_nothing),
		cmocka_unit_test(entry_points_lead_to_code),
		cmocka_unit_test(private_header_leads_to_the_hypercalls),
		cmocka_unit_test(answers_are_those_for_nested_paging),
		cmocka_unit_test(apic_calls_look_where_the_hypervisor_tells),
		cmocka_unit_test(each_call_has_its_trace_stub),
		cmocka_unit_test(shadow_routines_are_listed),
		cmocka_unit_test(queue_is_where_the_hypervisor_reads_it),
		cmocka_unit_test(traced_iret_runs_in_the_rom),
		cmocka_unit_test(c_and_rom_agree),
		cmocka_unit_test(every_call_has_a_name),
		cmocka_unit_test(cpuid_signature_spells_vellum),
	};

	return cmocka_run_group_tests(tests, read_rom, NULL);
}
