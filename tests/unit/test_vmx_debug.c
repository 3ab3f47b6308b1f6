// SPDX-License-Identifier: GPL-2.0-only
/* What a debugger changes of a VMCS can still be entered, and the guest's own INT3 stays its own.
 */
#include "support.h"

#include <string.h>

#include "debug/debugger.h"
#include "vm_entry.h"
#include "vmx/vmx.h"

static uint64_t dr6;

#define read_cr2()	 UINT64_C(0xc2c2)
#define read_dr6()	 dr6
#define write_dr6(value) (dr6 = (value))
#include "vmx/debug.c"

static struct vcpu vcpu;
static bool takes;
static unsigned int moved, general;
static bool to_dr;

struct guest_paging vmx_guest_paging(const struct vcpu *v)
{
	(void)v;
	return (struct guest_paging){.cr0 = 0x11, .cr3 = 0x3000, .cr4 = 0x10, .efer = 0x800};
}

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

static int reset(void **state)
{
	(void)state;
	make_enterable_guest();
	memset(&vcpu, 0, sizeof(vcpu));
	takes = false;
	return 0;
}

static void what_is_read_is_what_the_guest_has(void **state)
{
	struct guest_state guest;

	(void)state;
	vcpu.regs.rax = 0xa;
	vcpu.regs.rsp = 0xbad;
	vmwrite(VMCS_GUEST_RSP, 0x9000);
	vmwrite(VMCS_GUEST_RIP, 0x8000);
	vmx_read_state(&vcpu, &guest);
	assert_int_equal(guest.regs.rax, 0xa);
	assert_int_equal(guest.regs.rsp, 0x9000);
	assert_int_equal(guest.rip, 0x8000);
	assert_int_equal(guest.cr0, 0x11);
	assert_int_equal(guest.cr2, 0xc2c2);
}

/* With TF and a shadow an entry would want a trap that is pending (27.3.1.5). */
static void a_step_can_be_entered(void **state)
{
	struct guest_state guest;

	(void)state;
	vmwrite(VMCS_GUEST_RFLAGS, 0x202);
	vmwrite(VMCS_GUEST_INTERRUPTIBILITY, 1); /* by STI */
	vmx_read_state(&vcpu, &guest);
	guest.rflags |= RFLAGS_TF;
	vmx_write_state(&vcpu, &guest);
	assert_int_equal(vmread(VMCS_GUEST_INTERRUPTIBILITY), 0);
	assert_true(vmread(VMCS_GUEST_RFLAGS) & RFLAGS_TF);
	vmwrite(VMCS_GUEST_PENDING_DEBUG, BIT(14));
	guest.rflags &= ~RFLAGS_TF;
	vmx_write_state(&vcpu, &guest);
	assert_int_equal(vmread(VMCS_GUEST_PENDING_DEBUG), 0);
}

static void int3_and_debug_registers_exit_only_when_asked_to(void **state)
{
	uint64_t exceptions = vmread(VMCS_EXCEPTION_BITMAP);
	uint64_t controls = vmread(VMCS_PROCESSOR_CONTROLS);

	(void)state;
	vmx_guard_breakpoints(&vcpu, true);
	assert_int_equal(vmread(VMCS_EXCEPTION_BITMAP), exceptions | BIT(3));
	vmx_guard_breakpoints(&vcpu, false);
	assert_int_equal(vmread(VMCS_EXCEPTION_BITMAP), exceptions & ~BIT(3));
	vmx_guard_debug_registers(&vcpu, true);
	assert_int_equal(vmread(VMCS_PROCESSOR_CONTROLS), controls | BIT(23));
	vmx_guard_debug_registers(&vcpu, false);
	assert_int_equal(vmread(VMCS_PROCESSOR_CONTROLS), controls & ~BIT(23));
}

static void the_guests_own_int3_is_delivered_behind_it(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 1;
	vmx_breakpoint_exit(&vcpu);
	assert_int_equal(vmread(VMCS_ENTRY_INTERRUPTION), 0x80000603); /* a software exception */
	assert_int_equal(vmread(VMCS_ENTRY_INSTRUCTION_LENGTH), 1);
	vmwrite(VMCS_ENTRY_INTERRUPTION, 0);
	takes = true;
	vmx_breakpoint_exit(&vcpu);
	assert_int_equal(vmread(VMCS_ENTRY_INTERRUPTION), 0);
}

/* SDM volume 3C, table 28-4: register 6, from RCX; register 7, to R9. */
static void a_move_is_decoded(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_QUALIFICATION] = 6 | 1 << 8;
	vmx_debug_register_exit(&vcpu);
	assert_true(moved == 6 && general == 1 && to_dr);
	vmcs[VMCS_EXIT_QUALIFICATION] = 7 | 1 << 4 | 9 << 8;
	vmx_debug_register_exit(&vcpu);
	assert_true(moved == 7 && general == 9 && !to_dr);
}

static void dr6_keeps_its_fixed_bits(void **state)
{
	(void)state;
	vmx_write_dr6(&vcpu, 0x1);
	assert_int_equal(dr6, 0xffff0ff1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		TEST(what_is_read_is_what_the_guest_has),
		TEST(a_step_can_be_entered),
		TEST(int3_and_debug_registers_exit_only_when_asked_to),
		TEST(the_guests_own_int3_is_delivered_behind_it),
		TEST(a_move_is_decoded),
		TEST(dr6_keeps_its_fixed_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
