// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exits that take the short way: what they do to the guest, and that one which has more
 * to it goes on to svm_exit() with nothing changed.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "mm/guest_memory.h"

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	return (struct cpuid_result){leaf + 1, leaf + 2, subleaf + 3, leaf + 4};
}

#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "svm/quick_exit.c"

uint32_t exit_cpuid_filtered = FILTERED_BASIC_LEAVES;

#define ARENA	   (4 * MIB)
#define CODE	   0x5000
#define TABLE(n)   (1 * MIB + (n)*PAGE_SIZE)
#define PRESENT_RW 3

static struct e820_map map;
static struct vmcb vmcb, before;
static struct vcpu vcpu, vcpu_before;
static unsigned int passed_on;
static uint32_t dirty; /* what a hypercall changes in the VMCB */

bool hypercall_handle(struct vcpu *v, struct hypercall_frame *frame)
{
	assert_ptr_equal(v, &vcpu);
	assert_int_equal(v->exits[EXIT_HYPERCALL].count, 1); /* itself, for a record of it */
	assert_int_equal(frame->cpl, 0);
	vmcb.control.clean &= ~dirty;
	frame->eax = frame->eax + frame->edx * 2 + frame->ecx * 3;
	return true;
}

void svm_exit_with_all_registers(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	passed_on++;
}

void svm_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	(void)v;
	(void)vector;
	(void)error_code;
	fail();
}

static void set64(uint64_t table, unsigned int index, uint64_t entry)
{
	((uint64_t *)arena_at(table))[index] = entry;
}

/* A kernel with 32-bit paging that is at a CPUID of leaf 0, in a page of main RAM. */
static int make_guest(void **state)
{
	(void)state;
	arena_create(ARENA);
	memset(&map, 0, sizeof(map));
	e820_add(&map, 1 * MIB, ARENA - 1 * MIB, E820_RAM);
	guest_memory_init(&map);
	((uint32_t *)arena_at(TABLE(0)))[0] = (uint32_t)TABLE(1) | PRESENT_RW;
	((uint32_t *)arena_at(TABLE(1)))[CODE / PAGE_SIZE] = (2 * MIB) | PRESENT_RW;
	memcpy(arena_at(2 * MIB), "\x0f\xa2\x66\x0f\xa2", 5);
	memset(&vmcb, 0, sizeof(vmcb));
	vmcb.control.exit_code = SVM_EXIT_CPUID;
	vmcb.control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	vmcb.control.interrupt_state = INTERRUPT_SHADOW | BIT(1);
	vmcb.save.cr0 = CR0_PE | CR0_PG;
	vmcb.save.cr3 = TABLE(0);
	vmcb.save.rflags = RFLAGS_RESERVED | RFLAGS_IF;
	vmcb.save.rip = CODE;
	vcpu = (struct vcpu){.arch = &vmcb};
	passed_on = 0;
	dirty = 0;
	return 0;
}

static void run(void)
{
	before = vmcb;
	vcpu_before = vcpu;
	svm_quick_exit(&vcpu);
}

static void assert_goes_on_at(uint64_t rip)
{
	assert_int_equal(passed_on, 0);
	before.save.rip = rip;
	before.save.rax = vmcb.save.rax;
	before.control.interrupt_state = BIT(1);
	before.control.clean = CLEAN_ALL;
	before.control.tlb_control = TLB_CONTROL_NOTHING;
	assert_memory_equal(&vmcb, &before, sizeof(vmcb));
}

static void assert_passed_on(void)
{
	assert_int_equal(passed_on, 1);
	assert_memory_equal(&vmcb, &before, sizeof(vmcb));
	assert_memory_equal(&vcpu.regs, &vcpu_before.regs, sizeof(vcpu.regs));
	assert_memory_equal(vcpu.exits, vcpu_before.exits, sizeof(vcpu.exits));
}

static void cpuid_gets_the_processors_answer(void **state)
{
	(void)state;
	vmcb.save.rax = 0xffffffff00000004;
	vcpu.regs.rcx = 0xffffffff00000010;
	vcpu.regs.rdx = UINT64_MAX;
	run();
	assert_goes_on_at(CODE + 2);
	assert_int_equal(vmcb.save.rax, 5);
	assert_int_equal(vcpu.regs.rbx, 6);
	assert_int_equal(vcpu.regs.rcx, 0x13);
	assert_int_equal(vcpu.regs.rdx, 8);
	assert_int_equal(vcpu.exits[EXIT_CPUID].count, 1);
	assert_in_range(vcpu.exits[EXIT_CPUID].cycles, 1, UINT32_MAX);
}

static void leaves_with_something_to_hide_are_passed_on(void **state)
{
	static const uint32_t leaves[] = {1, 7, 0x14, 32, 0x40000000, 0x80000001, UINT32_MAX};

	for (unsigned int i = 0; i < ARRAY_SIZE(leaves); i++) {
		make_guest(state);
		vmcb.save.rax = leaves[i];
		run();
		assert_passed_on();
	}
}

static void an_end_that_is_not_plain_is_passed_on(void **state)
{
	static const uint64_t flags[] = {RFLAGS_TF, RFLAGS_RF};
	static const uint64_t exits[] = {SVM_EXIT_CPUID, SVM_EXIT_VMMCALL};

	for (unsigned int i = 0; i < 4; i++) {
		make_guest(state);
		vmcb.control.exit_code = exits[i / 2];
		vmcb.save.rflags |= flags[i % 2];
		run();
		assert_passed_on();
	}
}

static void prefixes_are_passed_on(void **state)
{
	(void)state;
	vmcb.save.rip = CODE + 2;
	run();
	assert_passed_on();
}

static void code_that_is_not_behind_paging_is_passed_on(void **state)
{
	static const uint64_t cr4[] = {0, CR4_PAE};

	for (unsigned int i = 0; i < 2; i++) {
		make_guest(state);
		set64(TABLE(2), 0, TABLE(3) | PRESENT_RW);
		set64(TABLE(3), 0, (2 * MIB) | BIT(7) | PRESENT_RW);
		vmcb.save.cr3 = i ? TABLE(2) : TABLE(0);
		vmcb.save.cr4 = cr4[i];
		vmcb.save.cr0 = CR0_PE;
		vmcb.save.rip = i ? 0 : CODE;
		run();
		assert_passed_on();
	}
}

/* Code at CODE in a page of 2 MiB, behind tables of 8-byte entries. */
static void page_pae(uint64_t cr4, uint64_t efer, uint16_t attributes)
{
	set64(TABLE(2), 0, TABLE(3) | PRESENT_RW);
	set64(TABLE(3), 0, TABLE(4) | PRESENT_RW);
	set64(TABLE(4), 0, (2 * MIB) | BIT(7) | PRESENT_RW);
	memcpy(arena_at(2 * MIB + CODE), "\x0f\xa2\x66\x0f\xa2", 5);
	vmcb.save.cr3 = efer ? TABLE(2) : TABLE(3);
	vmcb.save.cr4 = cr4;
	vmcb.save.efer = efer | EFER_SVME;
	vmcb.save.cs.attributes = attributes;
}

static void pae_and_long_mode_are_as_quick(void **state)
{
	static const struct {
		uint64_t cr4, efer;
		uint16_t attributes;
		uint64_t base;
	} modes[] = {
		{CR4_PAE, 0, 0, 0},
		{CR4_PAE, 0, SEGMENT_CODE_LONG, 0x1000},
		{CR4_PAE, EFER_LMA, SEGMENT_CODE_LONG, 0},
		{CR4_PAE, EFER_LMA, 0, 0x1000},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		make_guest(state);
		page_pae(modes[i].cr4, modes[i].efer, modes[i].attributes);
		vmcb.save.cs.base = modes[i].base;
		vmcb.save.rip = CODE - modes[i].base;
		run();
		assert_goes_on_at(CODE - modes[i].base + 2);
		run(); /* the one with a prefix that follows */
		assert_passed_on();
	}
}

static void five_levels_are_passed_on(void **state)
{
	(void)state;
	page_pae(CR4_PAE | CR4_LA57, EFER_LMA, SEGMENT_CODE_LONG);
	run();
	assert_passed_on();
}

/* It knows of prefixes, too, so the code is not looked at. */
static void the_processors_next_rip_is_believed(void **state)
{
	(void)state;
	vmcb.control.next_rip = CODE + 7;
	vmcb.save.cr0 = 0;
	run();
	assert_goes_on_at(CODE + 7);
}

static void a_hypercall_of_the_kernel_is_answered(void **state)
{
	(void)state;
	vmcb.control.exit_code = SVM_EXIT_VMMCALL;
	vmcb.save.rax = 0xffffffff00000005;
	vcpu.regs.rdx = 0xffffffff00000010;
	vcpu.regs.rcx = 0xffffffff00000100;
	run();
	assert_goes_on_at(CODE + 3);
	assert_int_equal(vmcb.save.rax, 0x325);
	assert_int_equal(vcpu.regs.rdx, 0xffffffff00000010);
	assert_int_equal(vcpu.regs.rcx, 0xffffffff00000100);
	assert_in_range(vcpu.exits[EXIT_HYPERCALL].cycles, 1, UINT32_MAX);
}

static void what_a_hypercall_changes_is_loaded(void **state)
{
	(void)state;
	vmcb.control.exit_code = SVM_EXIT_VMMCALL;
	dirty = CLEAN_INTERCEPTS;
	run();
	assert_int_equal(passed_on, 0);
	assert_int_equal(vmcb.control.clean, CLEAN_ALL & ~CLEAN_INTERCEPTS);
}

static void only_64_bit_code_goes_on_above_4_gib(void **state)
{
	(void)state;
	vmcb.control.exit_code = SVM_EXIT_VMMCALL;
	vmcb.save.rip = 0xfffffffe;
	run();
	assert_goes_on_at(1);
	make_guest(state);
	vmcb.control.exit_code = SVM_EXIT_VMMCALL;
	vmcb.save.efer = EFER_LMA;
	vmcb.save.cs.attributes = SEGMENT_CODE_LONG;
	vmcb.save.rip = 0xfffffffe;
	run();
	assert_goes_on_at(0x100000001);
}

static void a_hypercall_of_other_code_is_passed_on(void **state)
{
	(void)state;
	vmcb.control.exit_code = SVM_EXIT_VMMCALL;
	vmcb.save.cpl = 3;
	run();
	assert_passed_on();
}

static void all_else_is_passed_on(void **state)
{
	static const uint64_t codes[] = {0x41, 0x63, 0x71,  0x73,	 0x7b,	     0x7c,
					 0x80, 0x82, 0x400, 0x100000072, UINT32_MAX, UINT64_MAX};

	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++) {
		make_guest(state);
		vmcb.control.exit_code = codes[i];
		run();
		assert_passed_on();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(cpuid_gets_the_processors_answer),
		T(leaves_with_something_to_hide_are_passed_on),
		T(an_end_that_is_not_plain_is_passed_on),
		T(prefixes_are_passed_on),
		T(code_that_is_not_behind_paging_is_passed_on),
		T(pae_and_long_mode_are_as_quick),
		T(five_levels_are_passed_on),
		T(the_processors_next_rip_is_believed),
		T(a_hypercall_of_the_kernel_is_answered),
		T(what_a_hypercall_changes_is_loaded),
		T(only_64_bit_code_goes_on_above_4_gib),
		T(a_hypercall_of_other_code_is_passed_on),
		T(all_else_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
