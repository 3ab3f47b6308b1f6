// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exits that take the short way: what they do to the guest, and that one which has more
 * to it goes on to vmx_exit() with nothing changed.
 */
#include "support.h"

#include <string.h>

#include "vm_entry.h"

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	return (struct cpuid_result){leaf + 1, leaf + 2, subleaf + 3, leaf + 4};
}

#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "vmx/quick_exit.c"

uint32_t exit_cpuid_filtered = FILTERED_BASIC_LEAVES;

static struct vcpu vcpu, before;
static unsigned int passed_on;
static unsigned int cpl;

bool hypercall_handle(struct vcpu *v, struct hypercall_frame *frame)
{
	assert_ptr_equal(v, &vcpu);
	assert_int_equal(v->exits[EXIT_HYPERCALL].count, 1); /* itself, for a record of it */
	assert_int_equal(frame->cpl, 0);
	frame->eax = frame->eax + frame->edx * 2 + frame->ecx * 3;
	return true;
}

void vmx_exit_with_all_registers(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	passed_on++;
}

unsigned int vmx_privilege_level(const struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	return cpl;
}

/* A kernel that is at a CPUID of leaf 0. */
static int make_guest(void **state)
{
	(void)state;
	make_enterable_guest();
	vmcs[VMCS_EXIT_REASON] = VMX_EXIT_CPUID;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 2;
	vmcs[VMCS_GUEST_RIP] = 0x1000;
	vcpu = (struct vcpu){.id = 0};
	passed_on = cpl = 0;
	return 0;
}

static void run(void)
{
	before = vcpu;
	vmcs_writes = 0;
	vmx_quick_exit(&vcpu);
}

/* RIP is all that is written. */
static void assert_goes_on_at(uint64_t rip)
{
	assert_int_equal(passed_on, 0);
	assert_int_equal(vmcs_writes, 1);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], rip);
	assert_can_enter();
}

static void assert_passed_on(void)
{
	assert_int_equal(passed_on, 1);
	assert_int_equal(vmcs_writes, 0);
	assert_memory_equal(&vcpu.regs, &before.regs, sizeof(vcpu.regs));
	assert_memory_equal(vcpu.exits, before.exits, sizeof(vcpu.exits));
}

static void cpuid_gets_the_processors_answer(void **state)
{
	(void)state;
	vcpu.regs.rax = 0xffffffff00000004;
	vcpu.regs.rcx = 0xffffffff00000010;
	vcpu.regs.rdx = UINT64_MAX;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 5;
	run();
	assert_goes_on_at(0x1005);
	assert_int_equal(vcpu.regs.rax, 5);
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
		vcpu.regs.rax = leaves[i];
		run();
		assert_passed_on();
	}
}

static void an_end_that_is_not_plain_is_passed_on(void **state)
{
	static const struct {
		enum vmcs_field field;
		uint64_t value;
	} ends[] = {
		{VMCS_GUEST_RFLAGS, RFLAGS_RESERVED | RFLAGS_TF},
		{VMCS_GUEST_RFLAGS, RFLAGS_RESERVED | RFLAGS_RF},
		{VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_STI},
		{VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_MOV_SS},
		{VMCS_GUEST_RIP, 0xfffffffe},
		{VMCS_GUEST_RIP, 0xfffffffffffffffe},
	};

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(ends); i++) {
		make_guest(state);
		vmcs[VMCS_EXIT_REASON] = i % 2 ? VMX_EXIT_VMCALL : VMX_EXIT_CPUID;
		vmcs[ends[i / 2].field] = ends[i / 2].value;
		run();
		assert_passed_on();
	}
}

static void a_hypercall_of_the_kernel_is_answered(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_REASON] = VMX_EXIT_VMCALL;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 3;
	vcpu.regs.rax = 0xffffffff00000005;
	vcpu.regs.rdx = 0xffffffff00000010;
	vcpu.regs.rcx = 0xffffffff00000100;
	run();
	assert_goes_on_at(0x1003);
	assert_int_equal(vcpu.regs.rax, 0x325);
	assert_int_equal(vcpu.regs.rdx, 0xffffffff00000010);
	assert_int_equal(vcpu.regs.rcx, 0xffffffff00000100);
	assert_in_range(vcpu.exits[EXIT_HYPERCALL].cycles, 1, UINT32_MAX);
}

static void a_hypercall_of_other_code_is_passed_on(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_REASON] = VMX_EXIT_VMCALL;
	cpl = 3;
	run();
	assert_passed_on();
}

static void all_else_is_passed_on(void **state)
{
	static const uint32_t reasons[] = {0, 3, 9, 11, 19, 30, 48, 0x8000000a, 0x80000021};

	for (unsigned int i = 0; i < ARRAY_SIZE(reasons); i++) {
		make_guest(state);
		vmcs[VMCS_EXIT_REASON] = reasons[i];
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
		T(a_hypercall_of_the_kernel_is_answered),
		T(a_hypercall_of_other_code_is_passed_on),
		T(all_else_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
