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

enum { ROM_SIZE = 2048 };

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
	size_t target = offset + 5 + u32_at(offset + 1);

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

static void private_header_leads_to_the_hypercall(void **state)
{
	static const uint8_t vmmcall[] = {0x0f, 0x01, 0xd9};
	size_t list = u16_at(0x6a);

	(void)state;
	assert_memory_equal(rom + 0x60, "VVRM", 4);
	assert_int_equal(u16_at(0x64), 1);  /* version */
	assert_int_equal(u16_at(0x68), 74); /* answers */
	assert_int_equal(u16_at(0x6c), 1);  /* hypercalls */
	assert_memory_equal(rom + u16_at(list), vmmcall, sizeof(vmmcall));
	assert_in_range(u16_at(list), jump_target(0x80), jump_target(0x88));
}

/* Each routine's whole code, so that nothing unwanted has crept in. */
struct routine {
	unsigned int call;
	size_t size;
	uint8_t code[8];
};

static const struct routine routines[] = {
	{29, 2, {0xfb, 0xc3}},		   /* sti; ret */
	{30, 2, {0xfa, 0xc3}},		   /* cli; ret */
	{31, 3, {0x9c, 0x58, 0xc3}},	   /* pushf; pop eax; ret */
	{32, 3, {0xf6, 0xc4, 0x02}},	   /* test ah, 2; then a jump, tested by running it */
	{33, 4, {0x83, 0xc4, 0x04, 0xcf}}, /* add esp, 4; iret */
	{34, 3, {0xfb, 0x0f, 0x35}},	   /* sti; sysexit */
};

static const struct routine *routine_of(unsigned int call)
{
	for (size_t i = 0; i < ARRAY_SIZE(routines); i++)
		if (routines[i].call == call)
			return &routines[i];
	return NULL;
}

static void check_answer(unsigned int call, size_t answer)
{
	const struct routine *routine = routine_of(call);

	if (!routine) {
		assert_int_equal(u32_at(answer), call == 65 ? 3u << 16 : 0); /* NOP or NONE */
		return;
	}
	assert_int_equal(rom[answer + 2], 1); /* CALL_REL */
	assert_int_equal(rom[answer + 3], 1); /* native is equivalent */
	assert_memory_equal(rom + u16_at(answer), routine->code, routine->size);
}

static void answers_are_those_for_nested_paging(void **state)
{
	size_t answers = u16_at(0x66);

	(void)state;
	for (unsigned int call = 0; call < 74; call++)
		check_answer(call, answers + call * 4);
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
		cmocka_unit_test(private_header_leads_to_the_hypercall),
		cmocka_unit_test(answers_are_those_for_nested_paging),
		cmocka_unit_test(c_and_rom_agree),
		cmocka_unit_test(every_call_has_a_name),
		cmocka_unit_test(cpuid_signature_spells_vellum),
	};

	return cmocka_run_group_tests(tests, read_rom, NULL);
}
