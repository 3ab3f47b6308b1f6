// SPDX-License-Identifier: GPL-2.0-only
/*
 * Past the instruction that exited, in every mode, and what else its end does to the guest.
 * After each step the guest must be one that VT-x lets in.
 */
#include "support.h"

#include <string.h>

#include "vm_entry.h"
#include "vmx/instruction.c"

static struct vcpu vcpu;

static int make_guest(void **state)
{
	(void)state;
	make_enterable_guest();
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 2;
	return 0;
}

static void enter_long_mode(void)
{
	vmcs[VMCS_ENTRY_CONTROLS] = ENTRY_IA32E;
	vmcs[VMCS_GUEST_EFER] = EFER_LME | EFER_LMA;
	vmcs[VMCS_GUEST_CR0] |= CR0_PG;
	vmcs[VMCS_GUEST_CR4] |= CR4_PAE;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) = 0xa09b;
}

static void skip_leads(uint64_t from, uint64_t length, uint64_t to)
{
	vmcs[VMCS_GUEST_RIP] = from;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = length;
	vmx_skip_instruction(&vcpu);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], to);
	assert_can_enter();
}

static void every_length_is_skipped(void **state)
{
	(void)state;
	for (unsigned int length = 1; length <= 15; length++)
		skip_leads(0x1000, length, 0x1000 + length);
}

static void nothing_else_is_written_without_need(void **state)
{
	(void)state;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs_writes, 1);
}

/* What lies behind a segment's end is for the processor to find out. */
static void ip_does_not_wrap_at_64_kib(void **state)
{
	(void)state;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) = 0x9b;
	*vmcs_segment(VMCS_GUEST_ES_LIMIT, SEGMENT_CS) = 0xffff;
	skip_leads(0xfffe, 2, 0x10000);
}

static void eip_wraps_at_4_gib(void **state)
{
	(void)state;
	skip_leads(0xfffffffd, 2, 0xffffffff);
	skip_leads(0xfffffffe, 2, 0);
	skip_leads(0xffffffff, 3, 2);
}

static void so_does_the_eip_of_compatibility_mode(void **state)
{
	(void)state;
	enter_long_mode();
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) = 0xc09b;
	skip_leads(0xfffffffe, 3, 1);
}

/* A descriptor's L bit is kept by the processor whatever the mode. */
static void the_l_bit_alone_makes_no_64_bit_code(void **state)
{
	(void)state;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) |= ACCESS_LONG;
	skip_leads(0xfffffffe, 2, 0);
	*vmcs_segment(VMCS_GUEST_ES_BASE, SEGMENT_CS) = 0xf0000000;
	vmcs[VMCS_GUEST_RIP] = 0x20000000;
	assert_int_equal(vmx_instruction_address().raw, 0x10000000);
}

static void rip_wraps_at_the_end_of_64_bits_only(void **state)
{
	(void)state;
	enter_long_mode();
	skip_leads(0xfffffffe, 2, 0x100000000);
	skip_leads(0xffffffff81000000, 2, 0xffffffff81000002);
	skip_leads(0x7ffffffffffe, 2, 0x800000000000);
	skip_leads(0xfffffffffffffffe, 3, 1);
}

static void the_address_counts_from_the_segments_base(void **state)
{
	(void)state;
	*vmcs_segment(VMCS_GUEST_ES_BASE, SEGMENT_CS) = 0xffff0000;
	vmcs[VMCS_GUEST_RIP] = 0xfff0;
	assert_int_equal(vmx_instruction_address().raw, 0xfffffff0);
	vmcs[VMCS_GUEST_RIP] = 0x10010;
	assert_int_equal(vmx_instruction_address().raw, 0x10);
	enter_long_mode();
	vmcs[VMCS_GUEST_RIP] = 0xffffffff81000000;
	assert_int_equal(vmx_instruction_address().raw, 0xffffffff81000000);
}

static void sti_and_mov_ss_block_for_one_instruction(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_IF;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 1;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 2;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
}

static void nmis_stay_blocked(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_IF;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8 | 4 | 1;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 8 | 4);
}

static void a_single_step_stays_pending(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_TF;
	vmcs[VMCS_GUEST_PENDING_DEBUG] = 1;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_PENDING_DEBUG], 1u << 14 | 1);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 2 | RFLAGS_TF);
}

static void without_tf_there_is_none(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_RF;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_PENDING_DEBUG], 0);
}

/* IA32_DEBUGCTL.BTF: the instructions that are skipped are no branches. */
static void stepping_on_branches_does_not_step_here(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_TF;
	vmcs[VMCS_GUEST_DEBUGCTL] = 2;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_PENDING_DEBUG], 0);
}

static void rf_ends_with_the_instruction(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] = 2 | RFLAGS_RF | RFLAGS_IF;
	skip_leads(0x1000, 2, 0x1002);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 2 | RFLAGS_IF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(every_length_is_skipped),
		T(nothing_else_is_written_without_need),
		T(ip_does_not_wrap_at_64_kib),
		T(eip_wraps_at_4_gib),
		T(so_does_the_eip_of_compatibility_mode),
		T(the_l_bit_alone_makes_no_64_bit_code),
		T(rip_wraps_at_the_end_of_64_bits_only),
		T(the_address_counts_from_the_segments_base),
		T(sti_and_mov_ss_block_for_one_instruction),
		T(nmis_stay_blocked),
		T(a_single_step_stays_pending),
		T(without_tf_there_is_none),
		T(stepping_on_branches_does_not_step_here),
		T(rf_ends_with_the_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
