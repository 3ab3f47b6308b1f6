// SPDX-License-Identifier: GPL-2.0-only
/* What a debugger sees of a VMCB and changes in it, and events that are the guest's own. */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "debug/debugger.h"
#include "guest/e820.h"
#include "mm/guest_memory.h"
#include "mm/image.h"
#include "mm/physmap.h"
#include "svm/svm.h"

static uint64_t dr7, dr[4];
static bool has_next_rip;

static struct cpuid_result fake_cpuid(void)
{
	return (struct cpuid_result){.edx = has_next_rip ? (uint32_t)SVM_FEATURE_NEXT_RIP : 0};
}

#define vmsave(vmcb)		  ((void)(vmcb))
#define cpuid(leaf, subleaf)	  fake_cpuid()
#define write_dr7(value)	  (dr7 = (value))
#define read_breakpoints(address) memcpy(address, dr, sizeof(dr))
#include "svm/debug.c"

#define CODE 0x3000

const char image_start[16], image_end[1];
static struct vmcb vmcb;
static struct vcpu vcpu = {.arch = &vmcb};
static bool takes;
static unsigned int injected, moved, general;
static bool to_dr;

bool debugger_takes_breakpoint(struct vcpu *v)
{
	(void)v;
	return takes;
}

void debugger_moves_register(struct vcpu *v, unsigned int number, unsigned int which,
			     bool to_debug_register)
{
	(void)v;
	moved = number;
	general = which;
	to_dr = to_debug_register;
}

void svm_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	(void)v;
	assert_int_equal(error_code, NO_ERROR_CODE);
	injected = vector;
}

static int reset(void **state)
{
	static struct e820_map map = {.count = 1, .entry = {{0, 16 * PAGE_SIZE, E820_RAM}}};

	(void)state;
	arena_create(16 * PAGE_SIZE);
	guest_memory_init(&map);
	memset(&vmcb, 0, sizeof(vmcb));
	memset(&vcpu.regs, 0, sizeof(vcpu.regs));
	memset(dr, 0xff, sizeof(dr));
	vmcb.control.clean = CLEAN_ALL;
	vmcb.save.rip = CODE;
	takes = has_next_rip = false;
	injected = 0;
	return 0;
}

static int clean_up(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static void put(const char *code, size_t size)
{
	memcpy(arena_at(CODE), code, size);
}

/* Behind CPUID, say: the VMCB's RAX is the one before it. */
static void rax_is_the_one_that_the_guest_gets(void **state)
{
	struct guest_state guest;

	(void)state;
	vmcb.save.rax = 0x01d;
	vcpu.regs.rax = 0x4e3;
	vmcb.save.rsp = 0x7000;
	vmcb.save.efer = EFER_SVME | EFER_LME;
	svm_read_state(&vcpu, &guest);
	assert_int_equal(guest.regs.rax, 0x4e3);
	assert_int_equal(guest.regs.rsp, 0x7000);
	assert_int_equal(guest.efer, EFER_LME);
	guest.regs.rax = 0x4e4;
	guest.rflags = RFLAGS_TF;
	vmcb.control.interrupt_state = INTERRUPT_SHADOW;
	svm_write_state(&vcpu, &guest);
	assert_int_equal(vmcb.save.rax, 0x4e4);
	assert_int_equal(vcpu.regs.rax, 0x4e4);
	assert_false(vmcb.control.interrupt_state & INTERRUPT_SHADOW);
}

static void int_n_exits_only_with_breakpoints_and_without_the_next_rip(void **state)
{
	(void)state;
	svm_guard_breakpoints(&vcpu, true);
	assert_true(vmcb.control.intercept3 & INTERCEPT3_SWINT);
	assert_true(vmcb.control.intercept_exceptions & INTERCEPT_EXCEPTION(VECTOR_BP));
	assert_false(vmcb.control.clean & CLEAN_INTERCEPTS);
	svm_guard_breakpoints(&vcpu, false);
	assert_false(vmcb.control.intercept3 & INTERCEPT3_SWINT);
	assert_false(vmcb.control.intercept_exceptions & INTERCEPT_EXCEPTION(VECTOR_BP));
	has_next_rip = true;
	svm_guard_breakpoints(&vcpu, true);
	assert_false(vmcb.control.intercept3 & INTERCEPT3_SWINT);
}

static void no_breakpoint_is_armed_at_vellums_addresses(void **state)
{
	(void)state;
	svm_write_dr7(&vcpu, 0x402);
	assert_int_equal(dr7, 0x402);
	dr[2] = physmap_base + 8;
	svm_write_dr7(&vcpu, 0x402);
	assert_int_equal(dr7, DR7_INITIAL);
	assert_int_equal(vmcb.save.dr7, 0x402);
	assert_false(vmcb.control.clean & CLEAN_DRX);
}

static void the_guests_own_software_interrupts_are_delivered(void **state)
{
	(void)state;
	put("\xcc", 1);
	svm_software_interrupt_exit(&vcpu);
	assert_int_equal(injected, VECTOR_BP);
	assert_int_equal(vmcb.save.rip, CODE + 1);
	vmcb.save.rip = CODE;
	takes = true;
	svm_software_interrupt_exit(&vcpu);
	assert_int_equal(vmcb.save.rip, CODE);
	put("\xcd\x80", 2);
	svm_software_interrupt_exit(&vcpu);
	assert_int_equal(vmcb.save.rip, CODE + 2);
	assert_int_equal(vmcb.control.event_injection, 0x80 | EVENT_TYPE_SOFTWARE | EVENT_VALID);
	vmcb.save.rip = CODE;
	put("\xce", 1);
	svm_software_interrupt_exit(&vcpu);
	assert_int_equal(injected, VECTOR_OF);
	assert_int_equal(vmcb.save.rip, CODE + 1);
}

static void a_move_is_decoded(void **state)
{
	(void)state;
	put("\x0f\x23\xf9", 3); /* MOV DR7, ECX */
	vmcb.control.exit_code = SVM_EXIT_DR_WRITE + 7;
	svm_debug_register_exit(&vcpu);
	assert_true(moved == 7 && general == 1 && to_dr);
	put("\x66\x0f\x21\xf6", 4); /* MOV ESI, DR6, with a prefix */
	vmcb.control.exit_code = SVM_EXIT_DR_READ + 6;
	svm_debug_register_exit(&vcpu);
	assert_true(moved == 6 && general == 6 && !to_dr);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, clean_up)
	const struct CMUnitTest tests[] = {
		TEST(rax_is_the_one_that_the_guest_gets),
		TEST(int_n_exits_only_with_breakpoints_and_without_the_next_rip),
		TEST(no_breakpoint_is_armed_at_vellums_addresses),
		TEST(the_guests_own_software_interrupts_are_delivered),
		TEST(a_move_is_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
