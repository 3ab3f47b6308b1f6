// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUID as the guest sees it, against a processor that sets every bit of every leaf: what
 * is hidden is then seen to be missing, and all else to be passed on.
 */
#include "support.h"

#include <string.h>

#include "fake_vendor.h"
#include "core/cpu.h"

static uint32_t asked_leaf, asked_subleaf;
static uint32_t answer_bits;

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	asked_leaf = leaf;
	asked_subleaf = subleaf;
	return (struct cpuid_result){answer_bits, answer_bits, answer_bits, answer_bits};
}

#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "core/exit_cpuid.c"

#define ALL 0xffffffffu

struct options options;
static struct vcpu vcpu;
static unsigned int releases;

void record_attach(const struct vcpu *v)
{
	(void)v;
}

void panic_set_activity(const char *text)
{
	(void)text;
}

static int reset(void **state)
{
	(void)state;
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&guest, 0, sizeof(guest));
	asked_leaf = asked_subleaf = 0x12345;
	answer_bits = ALL;
	return 0;
}

static void ask(uint64_t leaf, uint64_t subleaf)
{
	unsigned int skips = guest.skips;

	vcpu.regs.rax = leaf;
	vcpu.regs.rcx = subleaf;
	exit_cpuid(&vcpu);
	assert_int_equal(guest.skips, skips + 1);
	assert_int_equal(guest.injections, 0);
}

static void assert_answer(uint64_t eax, uint64_t ebx, uint64_t ecx, uint64_t edx)
{
	assert_int_equal(vcpu.regs.rax, eax);
	assert_int_equal(vcpu.regs.rbx, ebx);
	assert_int_equal(vcpu.regs.rcx, ecx);
	assert_int_equal(vcpu.regs.rdx, edx);
}

static void an_answer_fills_four_registers_and_no_more(void **state)
{
	struct guest_registers before;

	(void)state;
	memset(&vcpu.regs, 0xa5, sizeof(vcpu.regs));
	before = vcpu.regs;
	ask(0, 0);
	assert_answer(ALL, ALL, ALL, ALL); /* upper halves 0, as in 64-bit mode */
	assert_int_equal(vcpu.regs.rsp, before.rsp);
	assert_memory_equal(&vcpu.regs.rbp, &before.rbp,
			    sizeof(before) - offsetof(struct guest_registers, rbp));
}

static void only_the_low_halves_are_the_question(void **state)
{
	(void)state;
	ask(0xdeadbeef00000004, 0xdeadbeef00000003);
	assert_int_equal(asked_leaf, 4);
	assert_int_equal(asked_subleaf, 3);
	ask(0xdeadbeef00000001, 0);
	assert_int_equal(vcpu.regs.rcx & CPUID_1_ECX_VMX, 0);
	ask(0xdeadbeef8000000a, 0);
	assert_answer(0, 0, 0, 0);
}

static void leaf_1_has_no_vmx_and_a_hypervisor(void **state)
{
	(void)state;
	ask(1, 7);
	assert_int_equal(asked_subleaf, 7);
	assert_answer(ALL, ALL, ALL & ~(BIT(2) | BIT(4) | BIT(5) | BIT(6) | BIT(27)),
		      ALL & ~BIT(21));
	answer_bits = 0;
	ask(1, 0);
	assert_answer(0, 0, BIT(31), 0);
}

static void osxsave_follows_the_guests_cr4(void **state)
{
	(void)state;
	answer_bits = 0;
	guest.cr4 = BIT(18);
	ask(1, 0);
	assert_answer(0, 0, BIT(31) | BIT(27), 0);
	guest.cr4 = ~BIT(18);
	answer_bits = ALL;
	ask(1, 0);
	assert_int_equal(vcpu.regs.rcx & BIT(27), 0);
}

static void ospke_follows_the_guests_cr4(void **state)
{
	(void)state;
	ask(7, 0);
	assert_answer(ALL, ALL & ~BIT(25), ALL & ~BIT(4), ALL & ~BIT(18));
	guest.cr4 = BIT(22);
	answer_bits = 0;
	ask(7, 0);
	assert_answer(0, 0, BIT(4), 0);
}

static void what_needs_a_control_or_an_exit_is_hidden(void **state)
{
	(void)state;
	guest.cr4 = BIT(22); /* of subleaf 0 only */
	ask(7, 1);
	assert_answer(ALL & ~(BIT(17) | BIT(27)), ALL, ALL & ~BIT(5), ALL & ~BIT(15));
	ask(7, 2);
	assert_answer(ALL, ALL, ALL, ALL);
	ask(0x80000008, 0);
	assert_int_equal(vcpu.regs.rbx, ALL & ~BIT(3)); /* INVLPGB */
}

static void hardware_feedback_is_hidden(void **state)
{
	(void)state;
	ask(6, 0);
	assert_answer(ALL & ~(BIT(19) | BIT(23)), ALL, ALL, ALL);
}

static void svm_is_hidden(void **state)
{
	(void)state;
	ask(0x80000001, 0);
	assert_answer(ALL, ALL, ALL & ~(BIT(2) | BIT(12)), ALL);
	ask(0x8000000a, 0);
	assert_answer(0, 0, 0, 0);
}

static void processor_trace_is_hidden(void **state)
{
	(void)state;
	ask(0x14, 0);
	assert_answer(0, 0, 0, 0);
}

static void physical_addresses_have_as_many_bits_as_the_nested_tables(void **state)
{
	(void)state;
	answer_bits = 0x3934;
	ask(0x80000008, 0);
	assert_answer(0x3930, 0x3934, 0x3934, 0x3934);
	answer_bits = 0x3027;
	ask(0x80000008, 0);
	assert_int_equal(vcpu.regs.rax, 0x3027);
}

static void all_other_leaves_are_the_processors(void **state)
{
	static const uint32_t leaves[] = {
		0,	    2,		4,	    5,		8,	    0xb,	0xd,
		31,	    32,		33,	    39,		63,	    64,		65,
		0x3fffffff, 0x50000000, 0x80000000, 0x80000002, 0x80000009, 0x8000000b, 0xffffffff};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(leaves); i++) {
		ask(leaves[i], 5);
		assert_int_equal(asked_leaf, leaves[i]);
		assert_int_equal(asked_subleaf, 5);
		assert_answer(ALL, ALL, ALL, ALL);
	}
}

static void vellum_says_its_name(void **state)
{
	char name[13] = {0};

	(void)state;
	ask(0x40000000, 0);
	memcpy(name, &vcpu.regs.rbx, 4);
	memcpy(name + 4, &vcpu.regs.rcx, 4);
	memcpy(name + 8, &vcpu.regs.rdx, 4);
	assert_string_equal(name, "VellumVellum");
	assert_int_equal(vcpu.regs.rax, 0x40000002);
	assert_int_equal(vcpu.regs.rbx >> 32 | vcpu.regs.rcx >> 32 | vcpu.regs.rdx >> 32, 0);
	ask(0x40000001, 0);
	assert_answer(1, 0, 0, 0);
}

/* The machine may itself be one of a hypervisor's, whose leaves are not this guest's. */
static void the_hypervisor_leaves_beyond_are_empty(void **state)
{
	static const uint32_t leaves[] = {0x40000003, 0x40000010, 0x40000100, 0x4fffffff};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(leaves); i++) {
		ask(leaves[i], 0);
		assert_answer(0, 0, 0, 0);
		assert_int_equal(asked_leaf, 0x12345); /* the processor was not asked */
	}
}

static void exits_can_be_read_by_reason(void **state)
{
	(void)state;
	vcpu.exits[EXIT_PORT] = (struct exit_counter){0x1122334455667788, 0x99aabbccddeeff00};
	vcpu.exits[EXIT_CPUID] = (struct exit_counter){1, 2};
	ask(0x40000002, EXIT_PORT);
	assert_answer(0x55667788, 0xddeeff00, 0x99aabbcc, 0x11223344);
	ask(0x40000002, 0xffffffff);
	assert_answer(0x55667789, 0xddeeff02, 0x99aabbcc, 0x11223344);
	ask(0x40000002, EXIT_REASONS);
	assert_answer(0, 0, 0, 0);
	ask(0x40000002, 0xfffffffe);
	assert_answer(0, 0, 0, 0);
}

static void note_release(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	releases++;
}

/* vendor can let CPUID go, and cpuid= asks for what it asks for. */
static void init_with(enum option_cpuid wish, void (*release)(struct vcpu *vcpu))
{
	static struct vendor chosen;

	chosen = fake_vendor;
	chosen.name = "a vendor";
	chosen.release_cpuid = release;
	vendor = &chosen;
	options.cpuid = wish;
	exit_cpuid_init();
}

static void cpuid_exit_never_lets_it_go(void **state)
{
	(void)state;
	init_with(CPUID_EXITS, note_release);
	guest.cpl = 3;
	ask(0x80000000, 0);
	assert_int_equal(releases, 0);
	assert_true(exit_cpuid_is_plain(0));
	assert_false(exit_cpuid_is_plain(1));
}

static void cpuid_boot_is_refused_where_cpuid_always_exits(void **state)
{
	(void)state;
	console_clear();
	init_with(CPUID_EXITS_IN_BOOT, NULL);
	assert_console(LOG_WARN, "CPUID always exits on a vendor");
	guest.cpl = 3;
	ask(0x80000000, 0);
	assert_true(exit_cpuid_is_plain(0));
}

/* The last of the tests: nothing takes it back. */
static void cpuid_boot_lets_it_go_at_the_first_program(void **state)
{
	struct guest_registers before;

	(void)state;
	init_with(CPUID_EXITS_IN_BOOT, note_release);
	for (uint32_t leaf = 0; leaf < 64; leaf++)
		assert_false(exit_cpuid_is_plain(leaf));
	ask(0, 0);
	assert_int_equal(releases, 0);
	guest.cpl = 3;
	guest.skips = 0;
	vcpu.regs.rax = 1;
	before = vcpu.regs;
	exit_cpuid(&vcpu);
	assert_int_equal(releases, 1);
	assert_int_equal(guest.skips, 0); /* it runs again, on the processor */
	assert_memory_equal(&vcpu.regs, &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_answer_fills_four_registers_and_no_more, reset),
		cmocka_unit_test_setup(only_the_low_halves_are_the_question, reset),
		cmocka_unit_test_setup(leaf_1_has_no_vmx_and_a_hypervisor, reset),
		cmocka_unit_test_setup(osxsave_follows_the_guests_cr4, reset),
		cmocka_unit_test_setup(ospke_follows_the_guests_cr4, reset),
		cmocka_unit_test_setup(what_needs_a_control_or_an_exit_is_hidden, reset),
		cmocka_unit_test_setup(hardware_feedback_is_hidden, reset),
		cmocka_unit_test_setup(svm_is_hidden, reset),
		cmocka_unit_test_setup(processor_trace_is_hidden, reset),
		cmocka_unit_test_setup(physical_addresses_have_as_many_bits_as_the_nested_tables,
				       reset),
		cmocka_unit_test_setup(all_other_leaves_are_the_processors, reset),
		cmocka_unit_test_setup(vellum_says_its_name, reset),
		cmocka_unit_test_setup(the_hypervisor_leaves_beyond_are_empty, reset),
		cmocka_unit_test_setup(exits_can_be_read_by_reason, reset),
		cmocka_unit_test_setup(cpuid_exit_never_lets_it_go, reset),
		cmocka_unit_test_setup(cpuid_boot_is_refused_where_cpuid_always_exits, reset),
		cmocka_unit_test_setup(cpuid_boot_lets_it_go_at_the_first_program, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
