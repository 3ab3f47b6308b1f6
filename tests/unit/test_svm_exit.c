// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the processor's exit code to the neutral handler: which one is called, as what it
 * is counted, and what the VMCB holds when the guest goes on.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "core/exit.h"
#include "fake_debugger.h"
#include "mm/guest_memory.h"
#include "svm/svm.h"

#define APIC_PAGE 0xfee00000

static struct vmcb vmcb;
static struct vcpu vcpu;

/* What the handler that was called is, and what it was given. */
static const char *called;
static unsigned int called_vector, called_error;
static struct port_access port;
static gpa_t wanted;
static bool can_map;
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

void exit_cpuid(struct vcpu *v)
{
	note(v, "cpuid");
	svm_skip_instruction(v);
}

void exit_rdmsr(struct vcpu *v)
{
	note(v, "rdmsr");
}

void exit_wrmsr(struct vcpu *v)
{
	note(v, "wrmsr");
}

void exit_port(struct vcpu *v, const struct port_access *access)
{
	note(v, "port");
	port = *access;
	if (!access->string)
		svm_skip_instruction(v);
}

void exit_hypercall(struct vcpu *v)
{
	note(v, "hypercall");
}

void exit_undefined_instruction(struct vcpu *v)
{
	note(v, "undefined");
}

void exit_invd(struct vcpu *v)
{
	note(v, "invd");
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
}

void exit_init(struct vcpu *v)
{
	note(v, "init");
}

void exit_triple_fault(struct vcpu *v)
{
	stop(v, "triple fault");
}

void exit_unhandled(struct vcpu *v)
{
	stop(v, "unhandled");
}

bool svm_map_more(struct vcpu *guest_vcpu, gpa_t address)
{
	(void)guest_vcpu;
	wanted = address;
	return can_map;
}

bool svm_catches_apic(gpa_t address)
{
	return align_down(address.raw, PAGE_SIZE) == APIC_PAGE;
}

void svm_apic_exit(struct vcpu *v, gpa_t address)
{
	note(v, "apic");
	wanted = address;
}

void svm_cr_read_exit(struct vcpu *v)
{
	note(v, "cr read");
}

void svm_cr_write_exit(struct vcpu *v)
{
	note(v, "cr write");
}

void svm_page_fault_exit(struct vcpu *v)
{
	vcpu_count_exit(v, EXIT_HIDDEN_FAULT);
	note(v, "page fault");
}

void svm_invlpg_exit(struct vcpu *v)
{
	note(v, "invlpg");
}

void svm_breakpoint_exit(struct vcpu *v)
{
	note(v, "breakpoint");
}

void svm_software_interrupt_exit(struct vcpu *v)
{
	note(v, "software interrupt");
}

void svm_interrupt_exit(struct vcpu *v)
{
	note(v, "interrupt");
}

void svm_interrupt_window_exit(struct vcpu *v)
{
	note(v, "interrupt window");
}

void svm_halt_exit(struct vcpu *v)
{
	note(v, "halt");
}

void svm_pause_exit(struct vcpu *v)
{
	note(v, "pause");
}

void svm_debug_register_exit(struct vcpu *v)
{
	note(v, "debug register");
}

void svm_iret_exit(struct vcpu *v)
{
	note(v, "iret");
}

void svm_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	(void)v;
	(void)vector;
	(void)error_code;
	fail();
}

/* No memory that can be read: every instruction is without prefixes then. */
static int make_guest(void **state)
{
	static const struct e820_map no_memory;

	(void)state;
	guest_memory_init(&no_memory);
	console_clear();
	memset(&vmcb, 0, sizeof(vmcb));
	vmcb.save.rip = 0x1000;
	vmcb.control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	vcpu = (struct vcpu){.arch = &vmcb};
	called = NULL;
	return 0;
}

static void exit_with(uint64_t exit_code)
{
	called = NULL;
	vmcb.control.exit_code = exit_code;
	if (setjmp(stopped) == 0)
		svm_exit(&vcpu);
}

static void assert_handled(uint64_t exit_code, const char *handler, enum exit_reason reason)
{
	make_guest(NULL);
	exit_with(exit_code);
	assert_non_null(called);
	assert_string_equal(called, handler);
	assert_ptr_equal(vcpu.counter, &vcpu.exits[reason]);
	for (enum exit_reason other = 0; other < EXIT_REASONS; other++)
		assert_int_equal(vcpu.exits[other].count, other == reason);
}

static void each_exit_has_its_handler_and_its_counter(void **state)
{
	(void)state;
	assert_handled(0x72, "cpuid", EXIT_CPUID);
	assert_handled(0x7c, "rdmsr", EXIT_RDMSR);
	assert_handled(0x7b, "port", EXIT_PORT);
	assert_handled(0x81, "hypercall", EXIT_HYPERCALL);
	assert_handled(0x74, "iret", EXIT_NMI);
	assert_handled(0x76, "invd", EXIT_CACHE);
	assert_handled(0x89, "invd", EXIT_CACHE);
	assert_handled(0x63, "init", EXIT_INIT);
	assert_handled(0x7f, "triple fault", EXIT_TRIPLE_FAULT);
}

static void exits_for_the_debugger_are_told_from_others(void **state)
{
	(void)state;
	assert_handled(0x43, "breakpoint", EXIT_EXCEPTION);
	assert_handled(0x75, "software interrupt", EXIT_EXCEPTION);
	assert_handled(0x60, "interrupt", EXIT_ATTENTION);
	assert_handled(0x64, "interrupt window", EXIT_ATTENTION);
	assert_handled(0x78, "halt", EXIT_ATTENTION);
	assert_handled(0x77, "pause", EXIT_ATTENTION);
	assert_handled(0x20, "debug register", EXIT_DEBUG_REGISTER);
	assert_handled(0x37, "debug register", EXIT_DEBUG_REGISTER);
}

static void exits_of_shadow_paging_are_told_apart(void **state)
{
	(void)state;
	assert_handled(0x00, "cr read", EXIT_CONTROL_REGISTER);
	assert_handled(0x04, "cr read", EXIT_CONTROL_REGISTER);
	assert_handled(0x13, "cr write", EXIT_CONTROL_REGISTER);
	assert_handled(0x4e, "page fault", EXIT_HIDDEN_FAULT);
	assert_handled(0x79, "invlpg", EXIT_INVLPG);
	assert_handled(0x7d, "unhandled", EXIT_TASK_SWITCH);
	assert_console(LOG_ERROR, "hardware task switch");
}

/* A #DB goes to the guest unless a debugger is there and wants it. */
static void a_debug_exception_may_be_the_debuggers(void **state)
{
	(void)state;
	assert_handled(0x41, "exception", EXIT_EXCEPTION);
	assert_int_equal(debugger.exceptions, 0);
	debugger_is_on = true;
	assert_handled(0x41, "exception", EXIT_EXCEPTION);
	debugger.takes = true;
	vmcb.save.dr6 = 0xffff4ff1;
	exit_with(0x41);
	assert_null(called);
	assert_int_equal(debugger.causes, 0xffff4ff1);
	reset_debugger();
}

/* VMRUN, VMLOAD, VMSAVE, STGI, CLGI, SKINIT, INVLPGA: this guest's processor has none. */
static void the_instructions_of_svm_are_undefined(void **state)
{
	static const uint64_t codes[] = {0x80, 0x82, 0x83, 0x84, 0x85, 0x86, 0x7a};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++)
		assert_handled(codes[i], "undefined", EXIT_VIRT_INSN);
}

static void a_written_msr_is_told_from_a_read_one(void **state)
{
	(void)state;
	vmcb.control.exit_info1 = 1;
	exit_with(0x7c);
	assert_string_equal(called, "wrmsr");
	assert_int_equal(vcpu.exits[EXIT_WRMSR].count, 1);
}

static void exceptions_keep_their_vector(void **state)
{
	(void)state;
	assert_handled(0x41, "exception", EXIT_EXCEPTION);
	assert_int_equal(called_vector, 1);
	assert_handled(0x51, "exception", EXIT_EXCEPTION);
	assert_int_equal(called_vector, 17);
	for (unsigned int vector = VECTOR_TS; vector <= VECTOR_GP; vector++) {
		vmcb.control.exit_info1 = 0xffff0000 | vector;
		exit_with(0x40 + vector);
		assert_string_equal(called, "segment");
		assert_int_equal(called_vector, vector);
		assert_int_equal(called_error, 0xffff0000 | vector);
	}
}

static void general_detect_ends_in_the_handler(void **state)
{
	(void)state;
	vmcb.save.dr7 = 0x2401;
	exit_with(0x41);
	assert_int_equal(vmcb.save.dr7, 0x401);
	assert_int_equal(vmcb.control.clean, ~0x40u); /* DRx are loaded only then */
	vmcb.save.dr7 = 0x2401;
	exit_with(0x51);
	assert_int_equal(vmcb.save.dr7, 0x2401);
}

static void what_nobody_knows_ends_the_guest(void **state)
{
	(void)state;
	assert_handled(0x61, "unhandled", EXIT_UNKNOWN);
	assert_handled(0x400 + 1, "unhandled", EXIT_UNKNOWN);
	assert_handled(UINT64_MAX, "unhandled", EXIT_UNKNOWN);
	assert_console(LOG_ERROR, "VMRUN refused the VMCB");
	assert_handled(UINT32_MAX, "unhandled", EXIT_UNKNOWN); /* as QEMU has it */
	assert_console(LOG_ERROR, "VMRUN refused the VMCB");
}

static void an_unmapped_address_is_mapped_or_the_end(void **state)
{
	(void)state;
	can_map = true;
	vmcb.control.exit_info2 = 0x123456789000;
	exit_with(0x400);
	assert_null(called);
	assert_int_equal(wanted.raw, 0x123456789000);
	assert_int_equal(vmcb.save.rip, 0x1000); /* and tried again */
	can_map = false;
	exit_with(0x400);
	assert_string_equal(called, "unhandled");
	assert_console(LOG_ERROR, "guest-physical address 123456789000 is not mapped");
	assert_int_equal(vcpu.exits[EXIT_NESTED_FAULT].count, 2);
}

static void a_write_to_a_caught_apic_is_no_unmapped_address(void **state)
{
	(void)state;
	can_map = true;
	vmcb.control.exit_info2 = APIC_PAGE + 0x300;
	exit_with(0x400);
	assert_string_equal(called, "apic");
	assert_int_equal(wanted.raw, APIC_PAGE + 0x300);
	assert_int_equal(vcpu.exits[EXIT_APIC].count, 1);
	assert_int_equal(vcpu.exits[EXIT_NESTED_FAULT].count, 0);
	vmcb.control.exit_info2 = APIC_PAGE + PAGE_SIZE;
	exit_with(0x400);
	assert_null(called);
	assert_int_equal(vcpu.exits[EXIT_NESTED_FAULT].count, 1);
}

static void a_port_access_is_decoded(void **state)
{
	(void)state;
	vmcb.control.exit_info1 = 0x0cf90010; /* OUT, 1 byte */
	vmcb.control.exit_info2 = 0x1001;
	exit_with(0x7b);
	assert_int_equal(port.port, 0xcf9);
	assert_int_equal(port.size, 1);
	assert_false(port.in);
	assert_false(port.string);
	assert_int_equal(vmcb.save.rip, 0x1001);
	vmcb.control.exit_info1 = 0xffff0041; /* IN, 4 bytes */
	vmcb.control.exit_info2 = 0x1003;
	exit_with(0x7b);
	assert_int_equal(port.port, 0xffff);
	assert_int_equal(port.size, 4);
	assert_true(port.in);
	assert_int_equal(vmcb.save.rip, 0x1003);
	vmcb.control.exit_info1 = 0x0064002c; /* REP OUTSW */
	exit_with(0x7b);
	assert_int_equal(port.size, 2);
	assert_true(port.string);
}

/* Nothing but port exits says where the next instruction is, on a processor without NRIPS. */
static void string_io_leaves_no_next_rip_to_the_exit_after_it(void **state)
{
	(void)state;
	vmcb.control.exit_info1 = 0x00640014; /* OUTSB */
	vmcb.control.exit_info2 = 0x1001;
	exit_with(0x7b);
	assert_int_equal(vmcb.save.rip, 0x1000);
	vmcb.save.rip = 0x2000;
	exit_with(0x72);
	assert_int_equal(vmcb.save.rip, 0x2002);
}

static void rax_travels_through_the_vmcb(void **state)
{
	(void)state;
	vmcb.save.rax = 0x1122334455667788;
	exit_with(0x81);
	assert_int_equal(vcpu.regs.rax, 0x1122334455667788);
	assert_int_equal(vmcb.save.rax, 0x1122334455667788);
}

static void the_vmcb_is_clean_and_flushes_nothing(void **state)
{
	(void)state;
	exit_with(0x81);
	assert_int_equal(vmcb.control.clean, UINT32_MAX);
	assert_int_equal(vmcb.control.tlb_control, TLB_CONTROL_NOTHING);
}

static void an_event_that_was_under_way_comes_again(void **state)
{
	(void)state;
	can_map = true;
	vmcb.control.exit_interrupt_info = 0x80000020;
	exit_with(0x400);
	assert_int_equal(vmcb.control.event_injection, 0x80000020);
	make_guest(state);
	vmcb.control.exit_interrupt_info = 0xdead00000b0e | BIT(31);
	exit_with(0x400);
	assert_int_equal(vmcb.control.event_injection, 0xdead00000b0e | BIT(31));
}

/* QEMU calls them exceptions, and VMRUN refuses exceptions of such numbers. */
static void an_interrupt_is_delivered_again_as_one(void **state)
{
	(void)state;
	can_map = true;
	vmcb.control.exit_interrupt_info = 0x80000320;
	exit_with(0x400);
	assert_int_equal(vmcb.control.event_injection, 0x80000020);
	vmcb.control.exit_interrupt_info = 0x80000302;
	exit_with(0x400);
	assert_int_equal(vmcb.control.event_injection, 0x80000202);
	vmcb.control.exit_interrupt_info = 0x8000031f;
	exit_with(0x400);
	assert_int_equal(vmcb.control.event_injection, 0x8000031f);
}

/* QEMU leaves old bits there, without the one that makes them count. */
static void no_event_comes_of_old_bits(void **state)
{
	(void)state;
	vmcb.control.exit_interrupt_info = 0xdead00000b0e;
	exit_with(0x81);
	assert_int_equal(vmcb.control.event_injection, 0);
}

static void cycles_are_counted_where_the_exit_is(void **state)
{
	(void)state;
	exit_with(0x72);
	assert_int_not_equal(vcpu.exits[EXIT_CPUID].cycles, 0);
	assert_true(vcpu.exits[EXIT_CPUID].cycles < BIT(40));
	assert_int_equal(vcpu.exits[EXIT_PORT].cycles, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(each_exit_has_its_handler_and_its_counter),
		T(exits_for_the_debugger_are_told_from_others),
		T(exits_of_shadow_paging_are_told_apart),
		T(a_debug_exception_may_be_the_debuggers),
		T(the_instructions_of_svm_are_undefined),
		T(a_written_msr_is_told_from_a_read_one),
		T(exceptions_keep_their_vector),
		T(general_detect_ends_in_the_handler),
		T(what_nobody_knows_ends_the_guest),
		T(an_unmapped_address_is_mapped_or_the_end),
		T(a_write_to_a_caught_apic_is_no_unmapped_address),
		T(a_port_access_is_decoded),
		T(string_io_leaves_no_next_rip_to_the_exit_after_it),
		T(rax_travels_through_the_vmcb),
		T(the_vmcb_is_clean_and_flushes_nothing),
		T(an_event_that_was_under_way_comes_again),
		T(an_interrupt_is_delivered_again_as_one),
		T(no_event_comes_of_old_bits),
		T(cycles_are_counted_where_the_exit_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
