// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Vellum asks of AMD-V before it says yes, and how it turns it on: which pages the
 * processor gets, and that INIT costs it none of them.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"

static struct {
	uint64_t vm_cr, efer, hsave;
	uint32_t last_leaf, ecx, svm_edx;
	bool gif;
} machine;

static uint64_t fake_rdmsr(uint32_t msr)
{
	switch (msr) {
	case 0xc0000080:
		return machine.efer;
	case 0xc0010114:
		return machine.vm_cr;
	default:
		fail_msg("RDMSR %x", msr);
		return 0;
	}
}

/* VM_HSAVE_PA is #GP without EFER.SVME. */
static void fake_wrmsr(uint32_t msr, uint64_t value)
{
	if (msr == 0xc0000080) {
		machine.efer = value;
		return;
	}
	assert_int_equal(msr, 0xc0010117);
	assert_true(machine.efer & BIT(12));
	machine.hsave = value;
}

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	switch (leaf) {
	case 0x80000000:
		return (struct cpuid_result){.eax = machine.last_leaf};
	case 0x80000001:
		return (struct cpuid_result){.ecx = machine.ecx};
	case 0x8000000a:
		return (struct cpuid_result){.edx = machine.svm_edx};
	default:
		fail_msg("CPUID %x", leaf);
		return (struct cpuid_result){0};
	}
}

#include "svm/svm.h"
#define rdmsr(msr)	     fake_rdmsr(msr)
#define wrmsr(msr, value)    fake_wrmsr(msr, value)
#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#define clgi()		     ((void)(machine.gif = false))
#include "svm/svm.c"

/* Only the table of hooks, or what is not reached here, names these. */
#pragma weak svm_await_init
#pragma weak svm_bitmaps_init
#pragma weak svm_dump
#pragma weak svm_read_state
#pragma weak svm_write_state
#pragma weak svm_attend
#pragma weak svm_guard_breakpoints
#pragma weak svm_nested_rights
#pragma weak svm_guard_debug_registers
#pragma weak svm_write_dr6
#pragma weak svm_write_dr7
#pragma weak svm_hides_msr
#pragma weak svm_inject_exception
#pragma weak svm_keeps_msr
#pragma weak svm_memory_init
#pragma weak svm_privilege_level
#pragma weak svm_read_cr0
#pragma weak svm_read_cr4
#pragma weak svm_read_efer
#pragma weak svm_read_fault_state
#pragma weak svm_read_rip
#pragma weak svm_release_apic
#pragma weak svm_release_cpuid
#pragma weak svm_release_port
#pragma weak svm_run
#pragma weak svm_with_shadow_paging
#pragma weak svm_set_state
#pragma weak svm_skip_instruction
#pragma weak svm_vcpu_init
#pragma weak svm_write_efer
#pragma weak svm_write_rip

static char why[300];
static struct vcpu vcpu;

static int make_machine(void **state)
{
	(void)state;
	console_clear();
	arena_create(8 * PAGE_SIZE);
	memset(arena_at(0), 0xa5, 8 * PAGE_SIZE);
	frames_init(hpa(PAGE_SIZE), hpa(4 * PAGE_SIZE));
	memset(&machine, 0, sizeof(machine));
	machine.last_leaf = 0x8000000a;
	machine.ecx = 1u << 2;
	machine.svm_edx = 1;
	machine.efer = 0x500;
	machine.gif = true;
	memset(&vcpu, 0, sizeof(vcpu));
	memset(why, 0, sizeof(why));
	return 0;
}

static void cpuid_says_whether_svm_is_there(void **state)
{
	(void)state;
	assert_true(svm_is_present());
	machine.ecx = ~(1u << 2);
	assert_false(svm_is_present());
	machine.ecx = 1u << 2;
	machine.last_leaf = 0x80000008;
	assert_false(svm_is_present());
}

static void assert_lacks(const char *what)
{
	assert_int_equal(svm_probe(why, sizeof(why)), -ENODEV);
	if (!strstr(why, what))
		fail_msg("\"%s\" does not say \"%s\"", why, what);
	make_machine(NULL);
}

static void each_capability_is_needed(void **state)
{
	(void)state;
	assert_int_equal(svm_probe(why, sizeof(why)), 0);
	assert_string_equal(why, "");
	machine.vm_cr = 1u << 4;
	assert_lacks("switched AMD-V off (VM_CR is 10h)");
	machine.vm_cr = 1u << 4 | 1u << 3;
	assert_lacks("and locked it");
}

static void nested_paging_is_asked_for(void **state)
{
	(void)state;
	assert_null(svm_missing_for_nested());
	machine.svm_edx = ~1u;
	assert_string_equal(svm_missing_for_nested(), "nested paging");
	assert_int_equal(svm_probe(why, sizeof(why)), 0);
}

static void the_vmcb_and_the_hosts_area_are_pages_of_their_own(void **state)
{
	static const uint8_t zero[4096];

	(void)state;
	assert_int_equal(svm_enable(&vcpu), 0);
	assert_ptr_equal(vcpu.arch, arena_at(PAGE_SIZE));
	assert_memory_equal(vcpu.arch, zero, sizeof(zero));
	assert_int_equal(machine.hsave, 2 * PAGE_SIZE);
	assert_int_equal(machine.efer, 0x500 | 1u << 12);
	assert_false(machine.gif);
	assert_int_equal(frames_free_count(), 1);
}

static void init_and_startup_take_no_more_pages(void **state)
{
	void *arch;

	(void)state;
	assert_int_equal(svm_enable(&vcpu), 0);
	arch = vcpu.arch;
	machine.efer = 0x500;
	machine.hsave = 0;
	machine.gif = true;
	assert_int_equal(svm_enable(&vcpu), 0);
	assert_ptr_equal(vcpu.arch, arch);
	assert_int_equal(machine.hsave, 2 * PAGE_SIZE);
	assert_false(machine.gif);
	assert_int_equal(frames_free_count(), 1);
}

static void without_frames_it_stays_off(void **state)
{
	(void)state;
	frames_init(hpa(PAGE_SIZE), hpa(2 * PAGE_SIZE));
	assert_int_equal(svm_enable(&vcpu), -ENOMEM);
	assert_int_equal(machine.efer, 0x500);
	assert_true(machine.gif);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_machine)
		T(cpuid_says_whether_svm_is_there),
		T(each_capability_is_needed),
		T(nested_paging_is_asked_for),
		T(the_vmcb_and_the_hosts_area_are_pages_of_their_own),
		T(init_and_startup_take_no_more_pages),
		T(without_frames_it_stays_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
