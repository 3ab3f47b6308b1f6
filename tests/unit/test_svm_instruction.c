// SPDX-License-Identifier: GPL-2.0-only
/*
 * Past the instruction that exited: how long it is, in every mode and with every number of
 * prefixes, and what else its end does to the guest.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "fake_debugger.h"
#include "mm/guest_memory.h"
#include "svm/svm.h"

#define ARENA	   (4 * MIB)
#define CODE	   0x5000
#define TABLE(n)   (1 * MIB + (n)*PAGE_SIZE)
#define LONG_CODE  BIT(9) /* attribute of a code segment */
#define PRESENT_RW 3

static struct e820_map map;
static struct vmcb vmcb;
static struct vcpu vcpu;
static unsigned int injected; /* vector, 0: none */

void svm_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	assert_ptr_equal(v, &vcpu);
	assert_int_equal(error_code, NO_ERROR_CODE);
	assert_int_equal(injected, 0);
	injected = vector;
}

/* A guest without paging that exits at CODE, in main RAM or in low RAM. */
static int make_guest(void **state)
{
	(void)state;
	arena_create(ARENA);
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, 0x9f000, E820_RAM);
	e820_add(&map, 1 * MIB, ARENA - 1 * MIB, E820_RAM);
	guest_memory_init(&map);
	memset(&vmcb, 0, sizeof(vmcb));
	vmcb.control.clean = CLEAN_ALL;
	vmcb.control.exit_code = SVM_EXIT_CPUID;
	vmcb.save.rflags = RFLAGS_RESERVED;
	vmcb.save.rip = CODE;
	vmcb.save.dr6 = DR6_INITIAL;
	vcpu = (struct vcpu){.arch = &vmcb};
	injected = 0;
	return 0;
}

static void put_instruction(uint64_t address, unsigned int prefixes)
{
	uint8_t *code = arena_at(address);

	memset(code, 0x66, prefixes);
	memcpy(code + prefixes, "\x0f\xa2", 2);
}

static void set32(uint64_t table, unsigned int index, uint64_t entry)
{
	((uint32_t *)arena_at(table))[index] = (uint32_t)entry;
}

static void set64(uint64_t table, unsigned int index, uint64_t entry)
{
	((uint64_t *)arena_at(table))[index] = entry;
}

/* address, in the first 4 MiB of the last GiB, leads to main RAM at 2 MiB + its offset. */
static void page_32bit(uint32_t address, uint64_t to)
{
	vmcb.save.cr0 = CR0_PE | CR0_PG;
	vmcb.save.cr3 = TABLE(0);
	set32(TABLE(0), address >> 22, TABLE(1) | PRESENT_RW);
	set32(TABLE(1), address >> 12 & 0x3ff, to | PRESENT_RW);
}

static void page_64bit(uint64_t address, uint64_t to)
{
	vmcb.save.cr0 = CR0_PE | CR0_PG;
	vmcb.save.cr4 = CR4_PAE;
	vmcb.save.efer = EFER_LMA | EFER_LME | EFER_SVME;
	vmcb.save.cs.attributes |= LONG_CODE;
	vmcb.save.cr3 = TABLE(0);
	for (unsigned int level = 0; level < 3; level++)
		set64(TABLE(level), address >> (39 - 9 * level) & 0x1ff,
		      TABLE(level + 1) | PRESENT_RW);
	set64(TABLE(3), address >> 12 & 0x1ff, to | PRESENT_RW);
}

static void skip_leads_to(uint64_t rip)
{
	svm_skip_instruction(&vcpu);
	assert_int_equal(vmcb.save.rip, rip);
}

/* ---- how long it is ---- */

static void the_processors_next_rip_is_taken_and_used_up(void **state)
{
	(void)state;
	vmcb.control.next_rip = 0x123456789;
	skip_leads_to(0x123456789);
	assert_int_equal(vmcb.control.next_rip, 0);
}

static void every_number_of_prefixes_is_counted(void **state)
{
	for (unsigned int prefixes = 0; prefixes <= 13; prefixes++) {
		make_guest(state);
		put_instruction(CODE, prefixes);
		skip_leads_to(CODE + prefixes + 2);
	}
}

static void prefixes_are_counted_behind_paging_too(void **state)
{
	for (unsigned int prefixes = 0; prefixes <= 13; prefixes++) {
		make_guest(state);
		page_32bit(CODE, 2 * MIB);
		put_instruction(2 * MIB, prefixes);
		skip_leads_to(CODE + prefixes + 2);
	}
}

/* Vellum's hypercall has no prefixes, so nobody looks for them. */
static void vmmcall_has_three_bytes(void **state)
{
	(void)state;
	vmcb.control.exit_code = SVM_EXIT_VMMCALL;
	put_instruction(CODE, 0);
	skip_leads_to(CODE + 3);
	vmcb.save.rip = CODE;
	put_instruction(CODE, 12);
	skip_leads_to(CODE + 3);
}

static void all_others_have_two_bytes(void **state)
{
	static const uint64_t codes[] = {SVM_EXIT_CPUID, SVM_EXIT_MSR, SVM_EXIT_INVD,
					 SVM_EXIT_WBINVD};

	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++) {
		make_guest(state);
		vmcb.control.exit_code = codes[i];
		put_instruction(CODE, 1);
		skip_leads_to(CODE + 3);
	}
}

static void prefixes_may_lie_on_the_page_before(void **state)
{
	(void)state;
	page_32bit(CODE, 2 * MIB);
	page_32bit(CODE + 0x1000, 3 * MIB);
	vmcb.save.rip = CODE + 0xffe;
	memset(arena_at(2 * MIB + 0xffe), 0xf3, 2);
	put_instruction(3 * MIB, 1);
	skip_leads_to(CODE + 0x1003);
}

/* Another processor may have changed code or tables: go on behind the bare instruction. */
static void what_cannot_be_read_counts_as_no_prefix(void **state)
{
	(void)state;
	vmcb.save.rip = 0xa0000;
	skip_leads_to(0xa0002);
	vmcb.save.rip = 0x9effe; /* prefixes up to the end of RAM */
	memset(arena_at(0x9effe), 0x66, 2);
	skip_leads_to(0x9f000);
	page_32bit(CODE, 2 * MIB);
	vmcb.save.rip = CODE + 0x1000;
	skip_leads_to(CODE + 0x1002);
}

static void code_without_the_opcode_counts_as_no_prefix(void **state)
{
	(void)state;
	memset(arena_at(CODE), 0x66, 32);
	skip_leads_to(CODE + 2);
}

/* ---- where it is ---- */

static void the_code_segments_base_counts_outside_of_64_bit_code(void **state)
{
	(void)state;
	vmcb.save.cs.base = 0x1000;
	put_instruction(CODE, 0);
	put_instruction(CODE + 0x1000, 4);
	skip_leads_to(CODE + 6);
}

static void base_and_rip_wrap_at_4_gib(void **state)
{
	(void)state;
	vmcb.save.cs.base = 0xffff0000;
	vmcb.save.rip = 0x10000 + CODE;
	put_instruction(CODE, 3);
	skip_leads_to(0x10000 + CODE + 5);
	page_32bit(CODE, 2 * MIB);
	put_instruction(2 * MIB, 0);
	vmcb.save.rip = 0x10000 + CODE;
	skip_leads_to(0x10000 + CODE + 2);
}

static void the_base_does_not_count_in_64_bit_code(void **state)
{
	uint64_t address = 0xffffffff80005000;

	(void)state;
	page_64bit(address, 2 * MIB);
	vmcb.save.cs.base = 0x1000;
	vmcb.save.rip = address + 8;
	put_instruction(2 * MIB + 8, 2);
	skip_leads_to(address + 12);
}

static void compatibility_mode_has_a_base_again(void **state)
{
	(void)state;
	page_64bit(0x7000, 2 * MIB);
	vmcb.save.cs.attributes &= (uint16_t)~LONG_CODE;
	vmcb.save.cs.base = 0x2000;
	put_instruction(2 * MIB, 2);
	skip_leads_to(CODE + 4);
}

static void base_and_rip_wrap_in_compatibility_mode(void **state)
{
	(void)state;
	page_64bit(0x7000, 2 * MIB);
	vmcb.save.cs.attributes = 0;
	vmcb.save.cs.base = 0xffff0000;
	vmcb.save.rip = 0x17000;
	put_instruction(2 * MIB, 2);
	skip_leads_to(0x17004);
}

/* What would be 32-bit page tables holds the bare opcode; the guest has others, or none. */
static void the_short_cut_is_for_32_bit_paging_only(void **state)
{
	(void)state;
	page_32bit(CODE, 2 * MIB);
	put_instruction(2 * MIB, 0);
	put_instruction(CODE, 3);
	vmcb.save.cr0 = CR0_PE;
	skip_leads_to(CODE + 5);

	make_guest(state);
	vmcb.save.cr0 = CR0_PE | CR0_PG;
	vmcb.save.cr4 = CR4_PAE;
	vmcb.save.cr3 = TABLE(0);
	set64(TABLE(0), 0, TABLE(1) | PRESENT_RW);
	set64(TABLE(1), 0, TABLE(2) | PRESENT_RW);
	set64(TABLE(2), CODE / PAGE_SIZE, (3 * MIB) | PRESENT_RW);
	set32(TABLE(1), CODE / PAGE_SIZE, (2 * MIB) | PRESENT_RW);
	put_instruction(2 * MIB, 0);
	put_instruction(3 * MIB, 3);
	skip_leads_to(CODE + 5);
}

/* The L bit of a code segment has no meaning outside of long mode. */
static void only_long_mode_has_64_bit_code(void **state)
{
	(void)state;
	vmcb.save.cs.attributes = LONG_CODE;
	vmcb.save.cs.base = 0x1000;
	put_instruction(CODE + 0x1000, 4);
	skip_leads_to(CODE + 6);
}

/* ---- where it goes on ---- */

static void rip_wraps_at_4_gib_outside_of_64_bit_code(void **state)
{
	(void)state;
	vmcb.save.rip = 0xfffffffe;
	skip_leads_to(0);
	page_32bit(0xfffff000, 2 * MIB);
	put_instruction(2 * MIB + 0xffe, 0);
	vmcb.save.rip = 0xfffffffe;
	skip_leads_to(0);
	page_64bit(0xfffff000, 2 * MIB);
	vmcb.save.cs.attributes = 0;
	vmcb.save.rip = 0xffffffff;
	skip_leads_to(1);
}

/* IP is not cut to 16 bits: the segment's limit catches it, with #GP as without Vellum. */
static void rip_leaves_a_16_bit_segment(void **state)
{
	(void)state;
	vmcb.save.rip = 0xfffe;
	put_instruction(0xfffe, 0);
	skip_leads_to(0x10000);
}

static void rip_does_not_wrap_at_4_gib_in_64_bit_code(void **state)
{
	(void)state;
	page_64bit(0xfffff000, 2 * MIB);
	put_instruction(2 * MIB + 0xffe, 0);
	vmcb.save.rip = 0xfffffffe;
	skip_leads_to(0x100000000);
	page_64bit(0xfffffffffffff000, 2 * MIB);
	vmcb.save.rip = UINT64_MAX - 1;
	skip_leads_to(0);
}

/* ---- what ends with it ---- */

static void nothing_else_changes(void **state)
{
	struct vmcb before;

	(void)state;
	put_instruction(CODE, 1);
	before = vmcb;
	skip_leads_to(CODE + 3);
	before.save.rip = CODE + 3;
	assert_memory_equal(&vmcb, &before, sizeof(vmcb));
	assert_int_equal(injected, 0);
}

static void the_interrupt_shadow_ends(void **state)
{
	(void)state;
	vmcb.control.interrupt_state = INTERRUPT_SHADOW | BIT(1);
	put_instruction(CODE, 0);
	skip_leads_to(CODE + 2);
	assert_int_equal(vmcb.control.interrupt_state, BIT(1));
}

static void the_resume_flag_ends(void **state)
{
	(void)state;
	vmcb.save.rflags = RFLAGS_RESERVED | RFLAGS_RF | RFLAGS_IF;
	vmcb.control.next_rip = 0x1000;
	skip_leads_to(0x1000);
	assert_int_equal(vmcb.save.rflags, RFLAGS_RESERVED | RFLAGS_IF);
	assert_int_equal(injected, 0);
	assert_int_equal(vmcb.control.clean, CLEAN_ALL);
}

static void a_single_step_ends_in_its_trap(void **state)
{
	(void)state;
	vmcb.save.rflags = RFLAGS_RESERVED | RFLAGS_TF | RFLAGS_RF;
	put_instruction(CODE, 0);
	skip_leads_to(CODE + 2);
	assert_int_equal(injected, VECTOR_DB);
	assert_int_equal(vmcb.save.dr6, DR6_INITIAL | DR6_BS);
	assert_int_equal(vmcb.save.rflags, RFLAGS_RESERVED | RFLAGS_TF);
	assert_int_equal(vmcb.control.clean, CLEAN_ALL & ~CLEAN_DRX); /* DR6 is loaded only then */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(the_processors_next_rip_is_taken_and_used_up),
		T(every_number_of_prefixes_is_counted),
		T(prefixes_are_counted_behind_paging_too),
		T(vmmcall_has_three_bytes),
		T(all_others_have_two_bytes),
		T(prefixes_may_lie_on_the_page_before),
		T(what_cannot_be_read_counts_as_no_prefix),
		T(code_without_the_opcode_counts_as_no_prefix),
		T(the_code_segments_base_counts_outside_of_64_bit_code),
		T(base_and_rip_wrap_at_4_gib),
		T(the_base_does_not_count_in_64_bit_code),
		T(compatibility_mode_has_a_base_again),
		T(base_and_rip_wrap_in_compatibility_mode),
		T(the_short_cut_is_for_32_bit_paging_only),
		T(only_long_mode_has_64_bit_code),
		T(rip_wraps_at_4_gib_outside_of_64_bit_code),
		T(rip_leaves_a_16_bit_segment),
		T(rip_does_not_wrap_at_4_gib_in_64_bit_code),
		T(nothing_else_changes),
		T(the_interrupt_shadow_ends),
		T(the_resume_flag_ends),
		T(a_single_step_ends_in_its_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
