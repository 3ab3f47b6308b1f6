// SPDX-License-Identifier: GPL-2.0-only
/*
 * An NMI that came while Vellum ran: given to the guest at once, or through the window, and
 * never overlooked between the last look and the entry. And a machine check.
 */
#include "support.h"

#include <string.h>

#include "vm_entry.h"
#include "vmx/nmi.c"

#define WINDOW		BIT(22)
#define VIRTUAL		(BIT(3) | BIT(5))
#define OTHER_PIN	0x16
#define OTHER_PROCESSOR 0x92000000u

/* In entry.asm: the stretches before VMLAUNCH and VMRESUME, not one behind the other */
asm(".data\n"
    ".globl vmx_launch, vmx_launch_end, vmx_enter, vmx_enter_end\n"
    ".byte 0\n"
    "vmx_launch: .skip 16\n"
    "vmx_launch_end: .skip 16\n"
    "vmx_enter: .skip 16\n"
    "vmx_enter_end: .byte 0\n"
    ".text\n");

static struct processor self;
static unsigned int machine_checks;
static jmp_buf stopped;

struct processor *processor_current(void)
{
	return &self;
}

_Noreturn void exit_machine_check(struct vcpu *v)
{
	assert_ptr_equal(v, &self.vcpu);
	longjmp(stopped, 1);
}

void vmx_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	assert_ptr_equal(v, &self.vcpu);
	assert_int_equal(vector, 18);
	assert_int_equal(error_code, NO_ERROR_CODE);
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0x80000312;
	machine_checks++;
}

static int make_guest(void **state)
{
	(void)state;
	make_enterable_guest();
	machine_checks = 0;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_IF;
	vmcs[VMCS_PIN_CONTROLS] = OTHER_PIN;
	vmcs[VMCS_PROCESSOR_CONTROLS] = OTHER_PROCESSOR;
	memset(&self.vcpu, 0, sizeof(self.vcpu));
	return 0;
}

static uint64_t after_nmi_at(uint64_t rip)
{
	struct exception_frame frame = {.vector = VECTOR_NMI, .rip = rip};

	self.vcpu.pending.nmi = false;
	vmx_note_event(&frame);
	assert_true(self.vcpu.pending.nmi);
	assert_false(self.vcpu.pending.machine_check);
	return frame.rip;
}

static void starts_again(const uint8_t *first, const uint8_t *behind)
{
	uint64_t start = (uintptr_t)first, end = (uintptr_t)behind;

	assert_int_equal(end - start, 16);
	for (uint64_t rip = start; rip < end; rip++)
		assert_int_equal(after_nmi_at(rip), start);
	assert_int_equal(after_nmi_at(start - 1), start - 1);
	assert_int_equal(after_nmi_at(end), end);
}

static void each_way_into_the_guest_starts_again(void **state)
{
	(void)state;
	starts_again(vmx_launch, vmx_launch_end);
	starts_again(vmx_enter, vmx_enter_end);
	assert_int_equal(after_nmi_at(0), 0);
	assert_int_equal(after_nmi_at(UINT64_MAX), UINT64_MAX);
}

static void assert_window(bool open)
{
	assert_int_equal(vmcs[VMCS_PIN_CONTROLS], OTHER_PIN | (open ? VIRTUAL : 0));
	assert_int_equal(vmcs[VMCS_PROCESSOR_CONTROLS], OTHER_PROCESSOR | (open ? WINDOW : 0));
}

static void pass_on(bool now)
{
	uint64_t event = vmcs[VMCS_ENTRY_INTERRUPTION];

	self.vcpu.pending.nmi = true;
	vmx_pass_on(&self.vcpu);
	assert_false(self.vcpu.pending.nmi);
	assert_window(!now);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], now ? 0x80000202 : event);
	assert_can_enter();
}

static void a_guest_that_can_take_it_gets_it_at_once(void **state)
{
	(void)state;
	pass_on(true);
}

static void a_guest_that_can_not_gets_a_window(void **state)
{
	static const uint64_t blocking[] = {1, 2, 8, 8 | 1, 8 | 2};

	for (unsigned int i = 0; i < ARRAY_SIZE(blocking); i++) {
		make_guest(state);
		vmcs[VMCS_GUEST_INTERRUPTIBILITY] = blocking[i];
		pass_on(false);
	}
}

/* Enclaves and SMM do not matter here. */
static void other_blocking_does_not_count(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 4 | 16;
	pass_on(true);
}

static void an_event_on_its_way_goes_first(void **state)
{
	(void)state;
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0x80000b0e;
	pass_on(false);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000b0e);
}

static void an_old_event_is_not_on_its_way(void **state)
{
	(void)state;
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0x00000b0e;
	pass_on(true);
}

static void the_open_window_injects_and_closes(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8;
	pass_on(false);
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 0; /* the guest's IRET */
	vmx_nmi_exit(&self.vcpu);
	assert_true(self.vcpu.pending.nmi);
	pass_on(true);
}

/* A second one between the look and the entry waits behind the first. */
static void two_in_a_row_are_both_delivered(void **state)
{
	(void)state;
	pass_on(true);
	self.vcpu.pending.nmi = true;
	vmx_pass_on(&self.vcpu);
	assert_window(true);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000202);
	assert_can_enter();
}

/* SDM volume 3C, 27.3.1.5: an entry into that state must not inject anything. */
static void one_that_waits_for_startup_gets_nothing(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_ACTIVITY] = 3;
	self.vcpu.pending.nmi = self.vcpu.pending.machine_check = true;
	vmx_pass_on(&self.vcpu);
	assert_false(self.vcpu.pending.nmi || self.vcpu.pending.machine_check);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0);
	assert_window(false);
	assert_int_equal(machine_checks, 0);
}

static void both_windows_close(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8;
	pass_on(false);
	vmx_delay_interrupt(&self.vcpu, 0xef);
	vmx_close_windows();
	assert_window(false);
}

/* ---- machine checks ---- */

static void note_machine_check(void)
{
	struct exception_frame frame = {.vector = VECTOR_MC, .rip = (uintptr_t)vmx_enter + 8};

	vmx_note_event(&frame);
	assert_int_equal(frame.rip, (uintptr_t)vmx_enter);
	assert_true(self.vcpu.pending.machine_check);
}

static void a_machine_check_is_the_guests(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_CR4] |= CR4_MCE;
	note_machine_check();
	assert_false(self.vcpu.pending.nmi);
	vmx_pass_on(&self.vcpu);
	assert_int_equal(machine_checks, 1);
	assert_false(self.vcpu.pending.machine_check);
	assert_can_enter();
}

static void a_guest_without_mce_shuts_down(void **state)
{
	(void)state;
	note_machine_check();
	if (setjmp(stopped) == 0)
		vmx_pass_on(&self.vcpu);
	else
		machine_checks = 100;
	assert_int_equal(machine_checks, 100);
}

/* The processor ranks them so (SDM volume 3A, table 6-2); the NMI waits for its window. */
static void an_nmi_comes_behind_a_machine_check(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_CR4] |= CR4_MCE;
	self.vcpu.pending.nmi = true;
	note_machine_check();
	vmx_pass_on(&self.vcpu);
	assert_true(self.vcpu.pending.nmi);
	vmx_pass_on(&self.vcpu);
	assert_window(true);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000312);
	assert_can_enter();
}

/* ---- interrupts ---- */

static void an_interrupt_waits_for_its_window(void **state)
{
	(void)state;
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0x80000311;
	vmx_delay_interrupt(&self.vcpu, 0xef);
	assert_int_equal(vmcs[VMCS_PROCESSOR_CONTROLS], OTHER_PROCESSOR | 1u << 2);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000311);
	assert_false(self.vcpu.pending.nmi ||
		     self.vcpu.pending.machine_check); /* entry.asm has nothing to do */
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0;
	vmx_interrupt_window_exit(&self.vcpu);
	assert_int_equal(vmcs[VMCS_PROCESSOR_CONTROLS], OTHER_PROCESSOR);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x800000ef);
	assert_can_enter();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(each_way_into_the_guest_starts_again),
		T(a_guest_that_can_take_it_gets_it_at_once),
		T(a_guest_that_can_not_gets_a_window),
		T(other_blocking_does_not_count),
		T(an_event_on_its_way_goes_first),
		T(an_old_event_is_not_on_its_way),
		T(the_open_window_injects_and_closes),
		T(two_in_a_row_are_both_delivered),
		T(one_that_waits_for_startup_gets_nothing),
		T(both_windows_close),
		T(a_machine_check_is_the_guests),
		T(a_guest_without_mce_shuts_down),
		T(an_nmi_comes_behind_a_machine_check),
		T(an_interrupt_waits_for_its_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
