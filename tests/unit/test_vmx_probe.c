// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Vellum asks of VT-x before it says yes, and the arithmetic of the capability MSRs:
 * SDM volume 3D, appendix A. A register that a processor need not have is only read where
 * another one says that it is there.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "fake_vmcs.h"

static struct {
	uint64_t feature_control, basic, pin, processor, exit, entry, secondary, ept;
	uint64_t true_processor, cr0_fixed0, cr0_fixed1, cr4_fixed0, cr4_fixed1;
} machine;
static unsigned int written;

#define MAY(bits) ((uint64_t)(bits) << 32)

static bool has_secondary_controls(void)
{
	return machine.processor >> 63;
}

static uint64_t fake_rdmsr(uint32_t msr)
{
	switch (msr) {
	case 0x3a:
		return machine.feature_control;
	case 0x480:
		return machine.basic;
	case 0x481:
		return machine.pin;
	case 0x482:
		return machine.processor;
	case 0x483:
		return machine.exit;
	case 0x484:
		return machine.entry;
	case 0x486:
		return machine.cr0_fixed0;
	case 0x487:
		return machine.cr0_fixed1;
	case 0x488:
		return machine.cr4_fixed0;
	case 0x489:
		return machine.cr4_fixed1;
	case 0x48b:
		assert_true(has_secondary_controls()); /* A.3.3: else #GP */
		return machine.secondary;
	case 0x48c:
		assert_true(has_secondary_controls()); /* A.10 */
		assert_true(machine.secondary >> 32 & (BIT(1) | BIT(5)));
		return machine.ept;
	case 0x48e:
		assert_true(machine.basic & BIT(55)); /* A.3.2 */
		return machine.true_processor;
	default:
		fail_msg("RDMSR %x", msr);
		return 0;
	}
}

static void fake_wrmsr(uint32_t msr, uint64_t value)
{
	assert_int_equal(msr, 0x3a);
	assert_false(machine.feature_control & 1); /* locked: #GP */
	machine.feature_control = value;
	written++;
}

static uint32_t features_ecx;

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	assert_int_equal(leaf, 1);
	return (struct cpuid_result){.ecx = features_ecx};
}

#define rdmsr(msr)	     fake_rdmsr(msr)
#define wrmsr(msr, value)    fake_wrmsr(msr, value)
#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "vmx/vmx.c"

/* Only the table of hooks names these. */
#pragma weak vmx_await_init
#pragma weak vmx_await_startup
#pragma weak vmx_bitmaps_init
#pragma weak vmx_dump
#pragma weak vmx_read_state
#pragma weak vmx_write_state
#pragma weak vmx_guard_breakpoints
#pragma weak vmx_nested_rights
#pragma weak vmx_guard_debug_registers
#pragma weak vmx_write_dr6
#pragma weak vmx_write_dr7
#pragma weak vmx_flush
#pragma weak vmx_has_syscall
#pragma weak vmx_hides_msr
#pragma weak vmx_inject_exception
#pragma weak vmx_keeps_msr
#pragma weak vmx_memory_init
#pragma weak vmx_memory_types_changed
#pragma weak vmx_note_event
#pragma weak vmx_privilege_level
#pragma weak vmx_read_cr0
#pragma weak vmx_read_cr4
#pragma weak vmx_read_efer
#pragma weak vmx_read_fault_state
#pragma weak vmx_read_rip
#pragma weak vmx_write_rip
#pragma weak vmx_release_port
#pragma weak vmx_run
#pragma weak vmx_set_state
#pragma weak vmx_set_timer
#pragma weak vmx_skip_instruction
#pragma weak vmx_vcpu_init
#pragma weak vmx_with_shadow_paging
#pragma weak vmx_write_efer

static char why[300];

/* A processor with all that Vellum needs, and no more. */
static int make_machine(void **state)
{
	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.feature_control = 5;
	machine.pin = MAY(BIT(3) | BIT(5));
	machine.processor = MAY(BIT(22) | BIT(25) | BIT(28) | BIT(31));
	machine.exit = MAY(15u << 18);
	machine.secondary = MAY(BIT(1) | BIT(7));
	machine.entry = MAY(BIT(14) | BIT(15));
	machine.ept = BIT(6) | BIT(14) | BIT(20) | BIT(26);
	written = 0;
	memset(why, 0, sizeof(why));
	return 0;
}

static void assert_good(void)
{
	assert_int_equal(vmx_probe(why, sizeof(why)), 0);
	assert_string_equal(why, "");
}

/* Guests run all the same, with shadow paging. */
static void assert_lacks_for_nested(const char *what)
{
	const char *missing = vmx_missing_for_nested();

	assert_good();
	assert_non_null(missing);
	if (!strstr(missing, what))
		fail_msg("\"%s\" does not say \"%s\"", missing, what);
	make_machine(NULL);
}

static void assert_lacks(const char *what)
{
	assert_int_equal(vmx_probe(why, sizeof(why)), -ENODEV);
	if (!strstr(why, what))
		fail_msg("\"%s\" does not say \"%s\"", why, what);
	make_machine(NULL);
}

static void cpuid_says_whether_vmx_is_there(void **state)
{
	(void)state;
	features_ecx = 1u << 5;
	assert_true(vmx_is_present());
	features_ecx = ~(1u << 5);
	assert_false(vmx_is_present());
}

static void the_least_processor_will_do(void **state)
{
	(void)state;
	assert_good();
	assert_null(vmx_missing_for_nested());
}

/* Bit 1 is for VMXON inside of SMX, where Vellum never is. */
static void what_the_firmware_locked_off_is_off(void **state)
{
	(void)state;
	machine.feature_control = 1;
	assert_lacks("switched VT-x off");
	machine.feature_control = 3;
	assert_lacks("FEATURE_CONTROL is 3h");
	for (uint64_t open = 0; open < 8; open += 2) {
		machine.feature_control = open;
		assert_good();
	}
	machine.feature_control = 7;
	assert_good();
}

static void each_capability_is_needed(void **state)
{
	(void)state;
	machine.processor = MAY(~BIT(25) & UINT32_MAX);
	assert_lacks("bitmaps");
	machine.processor = MAY(~BIT(28) & UINT32_MAX);
	assert_lacks("bitmaps");
	machine.processor = MAY(~BIT(22) & UINT32_MAX);
	assert_lacks("virtual NMIs");
	machine.pin = MAY(~BIT(3) & UINT32_MAX);
	assert_lacks("virtual NMIs");
	machine.pin = MAY(~BIT(5) & UINT32_MAX);
	assert_lacks("virtual NMIs");
}

static void nested_paging_takes_more(void **state)
{
	(void)state;
	machine.processor = MAY(~BIT(31) & UINT32_MAX);
	assert_lacks_for_nested("EPT");
	machine.secondary = MAY(~BIT(1) & UINT32_MAX);
	assert_lacks_for_nested("EPT");
	machine.secondary = MAY(~BIT(7) & UINT32_MAX);
	assert_lacks_for_nested("unrestricted");
	machine.entry = MAY(BIT(14));
	assert_lacks_for_nested("EFER and PAT");
	machine.entry = MAY(BIT(15));
	assert_lacks_for_nested("EFER and PAT");
	machine.ept = ~BIT(6);
	assert_lacks_for_nested("four levels");
	machine.ept = ~BIT(14);
	assert_lacks_for_nested("write-back");
	for (unsigned int bit = 18; bit <= 21; bit++) {
		machine.exit = MAY(~BIT(bit) & UINT32_MAX);
		assert_lacks_for_nested("EFER and PAT");
	}
	machine.ept = ~BIT(20);
	assert_lacks_for_nested("INVEPT");
	machine.ept = ~BIT(26);
	assert_lacks_for_nested("INVEPT");
}

/* The MSR is there with EPT or VPIDs only. */
static void a_processor_without_ept_has_no_capabilities_of_it(void **state)
{
	(void)state;
	machine.secondary = MAY(BIT(0));
	assert_int_equal(vmx_ept_capabilities(), 0);
	machine.secondary = MAY(BIT(5));
	assert_int_equal(vmx_ept_capabilities(), machine.ept);
	machine.processor = 0;
	assert_int_equal(vmx_ept_capabilities(), 0);
}

/* The low half says what must be 1, which is not what may be. */
static void what_must_be_is_not_what_may_be(void **state)
{
	(void)state;
	machine.processor |= BIT(31);
	machine.processor &= ~MAY(BIT(31));
	assert_lacks_for_nested("EPT");
	machine.entry = UINT32_MAX;
	assert_lacks_for_nested("EFER and PAT");
}

/* ---- controls ---- */

static void controls_are_wanted_insisted_on_and_possible(void **state)
{
	(void)state;
	machine.pin = MAY(0x3f) | 0x16;
	assert_int_equal(vmx_controls(0x481, 0), 0x16);
	assert_int_equal(vmx_controls(0x481, 0x28), 0x3e);
	assert_int_equal(vmx_controls(0x481, 0x88), 0x1e);
	assert_int_equal(vmx_controls(0x481, UINT64_MAX), 0x3f);
}

/* With true controls Vellum can switch off what other processors insist on: CR3 exits. */
static void the_true_controls_count_if_there_are_any(void **state)
{
	(void)state;
	machine.processor = MAY(UINT32_MAX) | 0x0401e172;
	machine.true_processor = MAY(UINT32_MAX) | 0x04006172;
	assert_int_equal(vmx_controls(0x482, BIT(31)), 0x8401e172);
	machine.basic = BIT(55);
	assert_int_equal(vmx_controls(0x482, BIT(31)), 0x84006172);
}

static void secondary_controls_have_no_true_ones(void **state)
{
	(void)state;
	machine.basic = BIT(55);
	assert_int_equal(vmx_controls(0x48b, 0xff), 1u << 1 | 1u << 7);
}

static void fixed_bits_are_fixed(void **state)
{
	(void)state;
	machine.cr0_fixed0 = 0x80000021;
	machine.cr0_fixed1 = 0xffffffff;
	assert_int_equal(vmx_fix_cr0(0x10010), 0x80010031);
	assert_int_equal(vmx_fix_cr0(BIT(32) | 1), 0x80000021);
	machine.cr4_fixed0 = 0x2000;
	machine.cr4_fixed1 = 0x3767ff;
	assert_int_equal(vmx_fix_cr4(0x20), 0x2020);
	assert_int_equal(vmx_fix_cr4(BIT(23) | 0x20), 0x2020);
}

static void an_open_lock_is_set_with_vmx_on(void **state)
{
	(void)state;
	machine.feature_control = 0x100000;
	unlock();
	assert_int_equal(machine.feature_control, 0x100005);
	unlock(); /* set now, and written no more */
	assert_int_equal(written, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_machine)
		T(cpuid_says_whether_vmx_is_there),
		T(the_least_processor_will_do),
		T(what_the_firmware_locked_off_is_off),
		T(each_capability_is_needed),
		T(nested_paging_takes_more),
		T(a_processor_without_ept_has_no_capabilities_of_it),
		T(what_must_be_is_not_what_may_be),
		T(controls_are_wanted_insisted_on_and_possible),
		T(the_true_controls_count_if_there_are_any),
		T(secondary_controls_have_no_true_ones),
		T(fixed_bits_are_fixed),
		T(an_open_lock_is_set_with_vmx_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
