// SPDX-License-Identifier: GPL-2.0-only
/*
 * From VT-x's exit reason to the neutral handler: which one is called, as what it is
 * counted, and what the VMCS holds when the guest goes on.
 */
#include "support.h"

#include <string.h>

#include "fake_debugger.h"
#include "vm_entry.h"
#include "vmx/vmx.h"

static uint64_t dr6;

static uint64_t fake_read_dr6(void)
{
	return dr6;
}

static void fake_write_dr6(uint64_t value)
{
	dr6 = value;
}

#define read_dr6()	 fake_read_dr6()
#define write_dr6(value) fake_write_dr6(value)
#include "vmx/exit.c"

static struct vcpu vcpu;

/* What the handler that was called is, and what it was given. */
static const char *called;
static unsigned int called_vector, called_error, nmis;
static uint8_t called_page;
static struct port_access port;
static gpa_t wanted;
static bool can_map, is_survivable;
static jmp_buf stopped;

static void note(struct vcpu *v, const char *name)
{
	assert_ptr_equal(v, &vcpu);
	assert_null(called);
	called = name;
}

_Noreturn static void stop(struct vcpu *v, const char *name)
{
	note(v, name);
	longjmp(stopped, 1);
}

#define HANDLER(function, name)       \
	void function(struct vcpu *v) \
	{                             \
		note(v, name);        \
	}

HANDLER(exit_cpuid, "cpuid")
HANDLER(exit_rdmsr, "rdmsr")
HANDLER(exit_wrmsr, "wrmsr")
HANDLER(exit_hypercall, "hypercall")
HANDLER(exit_undefined_instruction, "undefined")
HANDLER(exit_invd, "invd")
HANDLER(exit_xsetbv, "xsetbv")
HANDLER(vmx_cr_exit, "control register")
HANDLER(vmx_invlpg_exit, "invlpg")
HANDLER(vmx_page_fault_exit, "page fault")
HANDLER(vmx_task_switch_exit, "task switch")
HANDLER(vmx_interrupt_window_exit, "interrupt window")
HANDLER(exit_init, "init")

void exit_port(struct vcpu *v, const struct port_access *access)
{
	note(v, "port");
	port = *access;
}

void exit_segment_exception(struct vcpu *v, unsigned int vector, uint32_t error_code)
{
	note(v, "segment");
	called_vector = vector;
	called_error = error_code;
}

void exit_exception(struct vcpu *v, unsigned int vector)
{
	note(v, "exception");
	called_vector = vector;
	vmwrite(VMCS_ENTRY_INTERRUPTION, vector | INTERRUPTION_EXCEPTION | INTERRUPTION_VALID);
}

void exit_startup(struct vcpu *v, uint8_t page)
{
	note(v, "startup");
	called_page = page;
}

void exit_triple_fault(struct vcpu *v)
{
	stop(v, "triple fault");
}

void exit_unhandled(struct vcpu *v)
{
	stop(v, "unhandled");
}

bool machine_check_is_survivable(void)
{
	return is_survivable;
}

void vmx_nmi_exit(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	nmis++;
}

void vmx_breakpoint_exit(struct vcpu *v)
{
	note(v, "breakpoint");
}

void vmx_debug_register_exit(struct vcpu *v)
{
	note(v, "debug register");
}

void vmx_timer_exit(struct vcpu *v)
{
	note(v, "timer");
}

bool vmx_map_more(struct vcpu *v, gpa_t address)
{
	assert_ptr_equal(v, &vcpu);
	wanted = address;
	return can_map;
}

void vmx_keep_single_step_in_shadow(void)
{
	if (!(vmcs[VMCS_GUEST_INTERRUPTIBILITY] & 3))
		return;
	if ((vmcs[VMCS_GUEST_RFLAGS] & RFLAGS_TF) && !(vmcs[VMCS_GUEST_DEBUGCTL] & 2))
		vmcs[VMCS_GUEST_PENDING_DEBUG] |= BIT(14);
}

static int make_guest(void **state)
{
	(void)state;
	console_clear();
	make_enterable_guest();
	vcpu = (struct vcpu){.id = 0};
	called = NULL;
	nmis = 0;
	can_map = true;
	dr6 = DR6_INITIAL;
	return 0;
}

static void exit_with(uint32_t reason)
{
	called = NULL;
	vmcs[VMCS_EXIT_REASON] = reason;
	if (setjmp(stopped) == 0)
		vmx_exit(&vcpu);
}

static void assert_counted(enum exit_reason reason)
{
	assert_ptr_equal(vcpu.counter, &vcpu.exits[reason]);
	for (enum exit_reason other = 0; other < EXIT_REASONS; other++)
		assert_int_equal(vcpu.exits[other].count, other == reason);
}

static void assert_handled(uint32_t exit_reason, const char *handler, enum exit_reason reason)
{
	make_guest(NULL);
	exit_with(exit_reason);
	assert_non_null(called);
	assert_string_equal(called, handler);
	assert_counted(reason);
}

static void each_exit_has_its_handler_and_its_counter(void **state)
{
	(void)state;
	assert_handled(2, "triple fault", EXIT_TRIPLE_FAULT);
	assert_handled(3, "init", EXIT_INIT);
	assert_handled(4, "startup", EXIT_STARTUP);
	assert_handled(7, "interrupt window", EXIT_NMI);
	assert_handled(9, "task switch", EXIT_TASK_SWITCH);
	assert_handled(10, "cpuid", EXIT_CPUID);
	assert_handled(13, "invd", EXIT_CACHE);
	assert_handled(14, "invlpg", EXIT_INVLPG);
	assert_handled(18, "hypercall", EXIT_HYPERCALL);
	assert_handled(28, "control register", EXIT_CONTROL_REGISTER);
	assert_handled(30, "port", EXIT_PORT);
	assert_handled(31, "rdmsr", EXIT_RDMSR);
	assert_handled(32, "wrmsr", EXIT_WRMSR);
	assert_handled(29, "debug register", EXIT_DEBUG_REGISTER);
	assert_handled(52, "timer", EXIT_TIMER);
	assert_handled(55, "xsetbv", EXIT_XSETBV);
}

/* GETSEC, VMCLEAR to VMXON, INVEPT, INVVPID: this guest's processor has none. */
static void the_instructions_of_vmx_are_undefined(void **state)
{
	static const uint32_t reasons[] = {11, 19, 20, 21, 22, 23, 24, 25, 26, 27, 50, 53, 76, 77};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(reasons); i++)
		assert_handled(reasons[i], "undefined", EXIT_VIRT_INSN);
}

/* Bits 31:16 of the reason are about something else: 27, an enclave. SDM, table 25-18. */
static void an_exit_from_an_enclave_is_the_same_exit(void **state)
{
	(void)state;
	assert_handled(0x08000000 | 31, "rdmsr", EXIT_RDMSR);
	assert_handled(0x08000000 | 10, "cpuid", EXIT_CPUID);
}

static void what_nobody_knows_ends_the_guest(void **state)
{
	static const uint32_t known[] = {0,  2,	 3,  4,	 7,  8,	 9,  10, 11, 13, 14, 18,
					 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
					 31, 32, 41, 48, 50, 52, 53, 55, 76, 77};

	(void)state;
	for (uint32_t reason = 0; reason < 200; reason++) {
		bool is_known = false;

		for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
			is_known |= known[i] == reason;
		if (!is_known)
			assert_handled(reason, "unhandled", EXIT_UNKNOWN);
	}
}

/* Counted as what it turns out to be. */
static void a_page_fault_is_shadow_pagings(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_INTERRUPTION] = 0x80000b0e;
	vcpu.counter = &vcpu.exits[EXIT_GUEST_FAULT];
	exit_with(0);
	assert_string_equal(called, "page fault");
	for (enum exit_reason reason = 0; reason < EXIT_REASONS; reason++)
		assert_int_equal(vcpu.exits[reason].count, 0);
}

static void a_failed_entry_is_explained(void **state)
{
	(void)state;
	assert_handled(0x80000021, "unhandled", EXIT_UNKNOWN);
	assert_console(LOG_ERROR, "the guest state is not allowed");
	assert_handled(0x80000022, "unhandled", EXIT_UNKNOWN);
	assert_console(LOG_ERROR, "an MSR");
	is_survivable = false;
	assert_handled(0x80000029, "unhandled", EXIT_EXCEPTION);
	assert_console(LOG_ERROR, "a machine check");
}

/* SDM volume 3C, 27.8: the guest's event still waits; the vectoring field tells of the last exit.
 */
static void a_machine_check_at_an_entry_is_the_guests(void **state)
{
	(void)state;
	is_survivable = true;
	vmcs[VMCS_VECTORING_INFO] = 0x80000b0e;
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0x80000b08;
	vcpu.pending.machine_check = false;
	exit_with(0x80000029);
	assert_null(called);
	assert_true(vcpu.pending.machine_check);
	assert_counted(EXIT_EXCEPTION);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000b08);
	assert_int_equal(vmcs_writes, 0);
	assert_can_enter();
}

/* SDM volume 3C, 28.2.1: bits 7:0; the others are undefined by name, so they do not count. */
static void a_startup_tells_its_page(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_QUALIFICATION] = 0xffffff9a;
	exit_with(4);
	assert_int_equal(called_page, 0x9a);
}

static void a_port_access_is_decoded(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_QUALIFICATION] = 0x0cf90000; /* OUT, 1 byte */
	exit_with(30);
	assert_int_equal(port.port, 0xcf9);
	assert_int_equal(port.size, 1);
	assert_false(port.in);
	assert_false(port.string);
	vmcs[VMCS_EXIT_QUALIFICATION] = 0xffff004b; /* IN with an immediate port, 4 bytes */
	exit_with(30);
	assert_int_equal(port.port, 0xffff);
	assert_int_equal(port.size, 4);
	assert_true(port.in);
	assert_false(port.string);
	vmcs[VMCS_EXIT_QUALIFICATION] = 0x00640031; /* REP OUTSW */
	exit_with(30);
	assert_int_equal(port.size, 2);
	assert_true(port.string);
}

/* ---- nested faults ---- */

static void an_unmapped_address_is_mapped_or_the_end(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_PHYSICAL] = 0x123456789000;
	exit_with(48);
	assert_null(called);
	assert_int_equal(wanted.raw, 0x123456789000);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x1000); /* and tried again */
	assert_counted(EXIT_NESTED_FAULT);
	can_map = false;
	exit_with(48);
	assert_string_equal(called, "unhandled");
	assert_console(LOG_ERROR, "guest-physical address 123456789000 is not mapped");
}

/* SDM volume 3C, 28.7.1.2: the IRET comes again, and NMIs are blocked until it is through. */
static void an_iret_that_is_tried_again_is_still_in_the_nmi_handler(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_QUALIFICATION] = 1u << 12;
	exit_with(48);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 8);
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 0;
	vmcs[VMCS_EXIT_QUALIFICATION] = ~(1ull << 12);
	exit_with(48);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
	vmcs[VMCS_EXIT_QUALIFICATION] = 1u << 12; /* of no meaning if an event was under way */
	vmcs[VMCS_VECTORING_INFO] = 0x80000306;
	exit_with(48);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
}

/* ---- events that were under way ---- */

static void requeued(uint32_t info, uint32_t expected)
{
	make_guest(NULL);
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_IF;
	vmcs[VMCS_VECTORING_INFO] = info;
	vmcs[VMCS_VECTORING_ERROR_CODE] = 0x1234;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 3;
	exit_with(48);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], expected);
	assert_int_equal(vmcs[VMCS_ENTRY_ERROR_CODE], expected & 0x800 ? 0x1234 : 0);
	assert_can_enter();
}

static void an_event_that_was_under_way_comes_again(void **state)
{
	(void)state;
	requeued(0x80000030, 0x80000030); /* interrupt */
	requeued(0x80000b0e, 0x80000b0e); /* #PF */
	requeued(0x80000306, 0x80000306); /* #UD */
	requeued(0x80000202, 0x80000202); /* NMI */
	requeued(0x80000480, 0x80000480); /* INT 80h */
	assert_int_equal(vmcs[VMCS_ENTRY_INSTRUCTION_LENGTH], 3);
	requeued(0x80000603, 0x80000603); /* INT3 */
	requeued(0x80000501, 0x80000501); /* INT1 */
	assert_int_equal(vmcs[VMCS_ENTRY_INSTRUCTION_LENGTH], 3);
}

/* Bit 12 is undefined there, the others of 30:12 may get a meaning; an entry wants 0. */
static void only_what_an_entry_takes_is_given_back(void **state)
{
	(void)state;
	requeued(0x80001b0e, 0x80000b0e);
	requeued(0xfffff306, 0x80000306);
}

static void no_event_comes_of_old_bits(void **state)
{
	(void)state;
	vmcs[VMCS_VECTORING_INFO] = 0x00000b0e;
	exit_with(18);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0);
	assert_int_equal(vmcs_writes, 0);
}

/* The delivery that exited had blocked NMIs; with virtual NMIs the next entry would fail. */
static void an_nmi_that_comes_again_finds_nmis_unblocked(void **state)
{
	(void)state;
	vmcs[VMCS_PIN_CONTROLS] = PIN_NMI_EXITING | PIN_VIRTUAL_NMIS;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8;
	vmcs[VMCS_VECTORING_INFO] = 0x80000202;
	exit_with(48);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
	assert_can_enter();
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8; /* an exception in the NMI handler */
	vmcs[VMCS_VECTORING_INFO] = 0x80000b0e;
	exit_with(48);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 8);
}

/* ---- exceptions ---- */

static void exception(uint32_t info, uint64_t qualification)
{
	vmcs[VMCS_EXIT_INTERRUPTION] = info;
	vmcs[VMCS_EXIT_QUALIFICATION] = qualification;
	exit_with(0);
}

static void an_exception_keeps_its_vector(void **state)
{
	(void)state;
	exception(0x80000311, 0);
	assert_int_equal(called_vector, 17);
	assert_counted(EXIT_EXCEPTION);
	assert_int_equal(dr6, DR6_INITIAL);
}

static void nmis_are_not_exceptions(void **state)
{
	(void)state;
	exception(0x80000202, 0);
	assert_null(called);
	assert_int_equal(nmis, 1);
	assert_counted(EXIT_NMI);
	exit_with(8);
	assert_int_equal(nmis, 2);
	assert_int_equal(vcpu.exits[EXIT_NMI].count, 2);
}

/* SDM volume 3C, table 28-1 against volume 3B, 18.2.3 */
static void dr6_is_what_the_exception_would_have_left(void **state)
{
	(void)state;
	exception(0x80000301, 1u << 14);
	assert_int_equal(called_vector, 1);
	assert_int_equal(dr6, 0xffff4ff0);
	dr6 = 0xffff4ff3; /* BS stays, the breakpoints are those of now */
	exception(0x80000301, 4);
	assert_int_equal(dr6, 0xffff4ff4);
	dr6 = DR6_INITIAL;
	exception(0x80000301, 1u << 13);
	assert_int_equal(dr6, 0xffff2ff0);
}

static void a_bus_lock_and_a_transaction_clear_their_bit(void **state)
{
	(void)state;
	dr6 = 0xffff0ff0;
	exception(0x80000301, 1u << 11);
	assert_int_equal(dr6, 0xffff07f0);
	dr6 = 0xffff0ff0;
	exception(0x80000301, 1u << 16 | 1);
	assert_int_equal(dr6, 0xfffe0ff1);
}

static void general_detect_ends_in_the_handler(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_DR7] = 0x2401;
	exception(0x80000301, 1u << 13);
	assert_int_equal(vmcs[VMCS_GUEST_DR7], 0x401);
}

static void a_step_behind_mov_ss_stays_pending(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_TF;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 2;
	exception(0x80000301, 1u << 13);
	assert_int_equal(vmcs[VMCS_GUEST_PENDING_DEBUG], 1u << 14);
	assert_can_enter();
	make_guest(state);
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_TF;
	exception(0x80000301, 1u << 14);
	assert_int_equal(vmcs[VMCS_GUEST_PENDING_DEBUG], 0);
}

/* SDM volume 3B, 18.4.1: a debugger sets LBR and BTF again when it goes on. */
static void a_debug_exception_ends_branch_stepping_and_recording(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_DEBUGCTL] = 0x1003;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_TF;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 2;
	exception(0x80000301, 1u << 14);
	assert_int_equal(vmcs[VMCS_GUEST_DEBUGCTL], 0x1000);
	assert_can_enter();
	vmcs[VMCS_GUEST_DEBUGCTL] = 0x1003;
	exception(0x80000311, 0);
	assert_int_equal(vmcs[VMCS_GUEST_DEBUGCTL], 0x1003);
}

/* It is a trap: as a hardware exception the guest would execute it again, for ever. */
static void int1_goes_back_with_its_length(void **state)
{
	(void)state;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 1;
	exception(0x80000501, 0);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000501);
	assert_int_equal(vmcs[VMCS_ENTRY_INSTRUCTION_LENGTH], 1);
	assert_counted(EXIT_EXCEPTION);
	assert_can_enter();
}

/* B0 to B3, GD, LBR and BTF are those of the last #DB that had a reason. */
static void int1_leaves_the_debug_registers_alone(void **state)
{
	(void)state;
	dr6 = 0xffff4ff5;
	vmcs[VMCS_GUEST_DR7] = 0x2401;
	vmcs[VMCS_GUEST_DEBUGCTL] = 1;
	vmcs[VMCS_GUEST_RFLAGS] |= RFLAGS_TF;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 2;
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 1;
	exception(0x80000501, 0);
	assert_int_equal(dr6, 0xffff4ff5);
	assert_int_equal(vmcs[VMCS_GUEST_DR7], 0x2401);
	assert_int_equal(vmcs[VMCS_GUEST_DEBUGCTL], 1);
	assert_int_equal(vmcs[VMCS_GUEST_PENDING_DEBUG], 1u << 14);
	assert_can_enter();
}

static void cycles_are_counted_where_the_exit_is(void **state)
{
	(void)state;
	exit_with(10);
	assert_int_not_equal(vcpu.exits[EXIT_CPUID].cycles, 0);
	assert_true(vcpu.exits[EXIT_CPUID].cycles < BIT(40));
	assert_int_equal(vcpu.exits[EXIT_PORT].cycles, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(each_exit_has_its_handler_and_its_counter),
		T(the_instructions_of_vmx_are_undefined),
		T(an_exit_from_an_enclave_is_the_same_exit),
		T(what_nobody_knows_ends_the_guest),
		T(a_page_fault_is_shadow_pagings),
		T(a_failed_entry_is_explained),
		T(a_machine_check_at_an_entry_is_the_guests),
		T(a_startup_tells_its_page),
		T(a_port_access_is_decoded),
		T(an_unmapped_address_is_mapped_or_the_end),
		T(an_iret_that_is_tried_again_is_still_in_the_nmi_handler),
		T(an_event_that_was_under_way_comes_again),
		T(only_what_an_entry_takes_is_given_back),
		T(no_event_comes_of_old_bits),
		T(an_nmi_that_comes_again_finds_nmis_unblocked),
		T(an_exception_keeps_its_vector),
		T(nmis_are_not_exceptions),
		T(dr6_is_what_the_exception_would_have_left),
		T(a_bus_lock_and_a_transaction_clear_their_bit),
		T(general_detect_ends_in_the_handler),
		T(a_step_behind_mov_ss_stays_pending),
		T(a_debug_exception_ends_branch_stepping_and_recording),
		T(int1_goes_back_with_its_length),
		T(int1_leaves_the_debug_registers_alone),
		T(cycles_are_counted_where_the_exit_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
