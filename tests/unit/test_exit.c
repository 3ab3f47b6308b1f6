// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of each exit, without vendors: ports, hypercalls, exceptions, the last words. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "fake_debugger.h"
#include "fake_vendor.h"
#include "core/cpu.h"
#include "core/paging.h"
#include "lib/errno.h"
#include "vmi/vmi.h"

void report_guest(struct vcpu *vcpu, const char *what_next)
{
	(void)vcpu;
	assert_non_null(what_next);
}

/* With nested paging these calls are none. */
bool paging_fill_wanted(struct vcpu *vcpu)
{
	(void)vcpu;
	return false;
}

bool paging_invalidate(struct vcpu *vcpu, gva_t address)
{
	(void)vcpu;
	(void)address;
	return false;
}

bool paging_flush(struct vcpu *vcpu)
{
	(void)vcpu;
	return false;
}

/* The machine's ports, and the order of what was done to it. */
static char done[64];
static uint64_t in_value, out_value, cr4;
static unsigned int wbinvds;

static void do_at(const char *what, uint64_t port, unsigned int size)
{
	snprintf(done + strlen(done), sizeof(done) - strlen(done), "%s %x/%u;", what,
		 (unsigned int)port, size);
}

static uint32_t fake_in(uint16_t port, unsigned int size)
{
	do_at("in", port, size);
	return (uint32_t)in_value;
}

static void fake_out(uint16_t port, uint64_t value, unsigned int size)
{
	do_at("out", port, size);
	out_value = value;
}

#define inb(port)	  ((uint8_t)fake_in(port, 1))
#define inw(port)	  ((uint16_t)fake_in(port, 2))
#define inl(port)	  fake_in(port, 4)
#define outb(port, value) fake_out(port, value, 1)
#define outw(port, value) fake_out(port, value, 2)
#define outl(port, value) fake_out(port, value, 4)
#define wbinvd()	  ((void)wbinvds++)
#define read_cr4()	  cr4
#define write_cr4(value)  ((void)(cr4 = (value)))
#include "core/exit.c"

#define HIDDEN_PORT 0x2fd

struct options options;

static struct vcpu vcpu;
static const char *power_event;
static int xsetbv_result;
static uint64_t xcr0;

const char *policy_power_event(uint16_t port, uint32_t value, unsigned int size)
{
	(void)port;
	(void)value;
	(void)size;
	return power_event;
}

bool policy_hides_port(uint16_t port, unsigned int size)
{
	(void)size;
	return port == HIDDEN_PORT;
}

void record_end(const char *why)
{
	do_at(why, 0, 0);
}

int xsetbv_checked(uint32_t index, uint64_t value)
{
	assert_int_equal(index, 0);
	xcr0 = value;
	return xsetbv_result;
}

void triple_fault_explain(const struct vcpu *v)
{
	(void)v;
}

void power_reset(void)
{
	fail();
	__builtin_unreachable();
}

/* What VMI calls do is tested elsewhere. */
static unsigned int moved_irets;

void vmi_move_iret_fault(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	moved_irets++;
}

int vmi_read_ap_state(const struct vcpu *v, gva_t address, struct vmi_ap_state *state)
{
	(void)v, (void)address, (void)state;
	return -EFAULT;
}

int vmi_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state)
{
	(void)apic_id, (void)state;
	return -ENODEV;
}

bool vmi_is_start_command(uint32_t offset, uint32_t value)
{
	(void)offset, (void)value;
	return false;
}

void vmi_write_start_command(uint32_t value)
{
	(void)value;
}

void power_off(void)
{
	fail();
}

void panic(const char *format, ...)
{
	fail_msg("%s", format);
	__builtin_unreachable();
}

static int reset(void **state)
{
	(void)state;
	console_clear();
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&guest, 0, sizeof(guest));
	memset(done, 0, sizeof(done));
	power_event = NULL;
	xsetbv_result = 0;
	cr4 = 0;
	wbinvds = 0;
	return 0;
}

static void access_port(uint16_t port, unsigned int size, bool in)
{
	struct port_access access = {.port = port, .size = size, .in = in};

	done[0] = '\0';
	guest.skips = 0;
	exit_port(&vcpu, &access);
	assert_int_equal(guest.skips, 1);
}

static void assert_input(unsigned int size, uint64_t rax)
{
	in_value = 0x8899aabb;
	vcpu.regs.rax = 0x1122334455667788;
	access_port(0x64, size, true);
	assert_int_equal(vcpu.regs.rax, rax);
}

static void input_leaves_what_it_does_not_fill(void **state)
{
	(void)state;
	assert_input(1, 0x11223344556677bb);
	assert_string_equal(done, "in 64/1;");
	assert_input(2, 0x112233445566aabb);
	assert_string_equal(done, "in 64/2;");
	assert_input(4, 0x000000008899aabb); /* as every 32-bit write to a register */
	assert_string_equal(done, "in 64/4;");
}

static void output_goes_to_the_machine(void **state)
{
	(void)state;
	vcpu.regs.rax = 0x1122334455667788;
	access_port(0xcf9, 1, false);
	assert_string_equal(done, "out cf9/1;");
	assert_int_equal(out_value, 0x88);
	access_port(0x64, 2, false);
	assert_string_equal(done, "out 64/2;");
	assert_int_equal(out_value, 0x7788);
	access_port(0xcf8, 4, false);
	assert_string_equal(done, "out cf8/4;");
	assert_int_equal(out_value, 0x55667788);
	assert_int_equal(vcpu.regs.rax, 0x1122334455667788);
}

/* The chipset may be slow, or ignore it; the record must be out before, and once. */
static void the_last_words_come_before_the_end_and_once(void **state)
{
	(void)state;
	power_event = "reset";
	access_port(0xcf9, 1, false);
	assert_string_equal(done, "reset 0/0;out cf9/1;");
	access_port(0xcf9, 1, false);
	assert_string_equal(done, "out cf9/1;");
	access_port(0xcf9, 1, true);
	assert_string_equal(done, "in cf9/1;");
}

static void string_io_runs_again_without_a_guard(void **state)
{
	struct port_access access = {.port = 0xcf8, .size = 4, .string = true};

	(void)state;
	exit_port(&vcpu, &access);
	assert_int_equal(guest.skips, 0);
	assert_string_equal(done, "");
	assert_int_equal(guest.releases, 4);
	for (uint16_t i = 0; i < 4; i++)
		assert_int_equal(guest.released[i], 0xcf8 + i);
	assert_console(LOG_WARN, "string I/O on port cf8h");
}

/* VT-x makes it exit again and again, guard or not. */
static void string_io_around_the_last_port_faults(void **state)
{
	struct port_access access = {.port = 0xffff, .size = 2, .string = true};

	(void)state;
	exit_port(&vcpu, &access);
	assert_int_equal(guest.vector, VECTOR_GP);
	assert_int_equal(guest.releases, 0);
	assert_console_quiet();
}

static void at_a_hidden_port_there_is_no_device(void **state)
{
	struct port_access string = {.port = HIDDEN_PORT, .size = 1, .string = true};

	(void)state;
	vcpu.regs.rax = 0x1122334455667700;
	access_port(HIDDEN_PORT, 1, true);
	assert_int_equal(vcpu.regs.rax, 0x11223344556677ff);
	access_port(HIDDEN_PORT, 2, true);
	assert_int_equal(vcpu.regs.rax, 0x112233445566ffff);
	access_port(HIDDEN_PORT, 4, true);
	assert_int_equal(vcpu.regs.rax, UINT32_MAX);
	access_port(HIDDEN_PORT, 1, false);
	assert_string_equal(done, "");
	exit_port(&vcpu, &string);
	assert_int_equal(guest.vector, VECTOR_GP);
	assert_int_equal(guest.releases, 0);
}

static void a_hypercall_answers_in_eax_and_goes_on(void **state)
{
	struct guest_registers before;

	(void)state;
	memset(&vcpu.regs, 0xa5, sizeof(vcpu.regs));
	vcpu.regs.rax = 0xdead00000000 | VMI_HYPERCALL_INIT;
	vcpu.regs.rdx = 0xdead00000000 | 0xc8000;
	before = vcpu.regs;
	exit_hypercall(&vcpu);
	assert_int_equal(guest.skips, 1);
	assert_int_equal(vcpu.regs.rax, 0);
	before.rax = 0;
	assert_memory_equal(&vcpu.regs, &before, sizeof(before));
}

static void a_hypercall_of_user_code_is_undefined(void **state)
{
	(void)state;
	guest.cpl = 3;
	vcpu.regs.rax = VMI_HYPERCALL_INIT;
	exit_hypercall(&vcpu);
	assert_int_equal(guest.skips, 0);
	assert_int_equal(guest.vector, VECTOR_UD);
	assert_int_equal(guest.error_code, NO_ERROR_CODE);
	assert_int_equal(vcpu.regs.rax, VMI_HYPERCALL_INIT);
}

static void exceptions_go_on_to_the_guest(void **state)
{
	(void)state;
	exit_exception(&vcpu, VECTOR_DB);
	assert_int_equal(guest.vector, VECTOR_DB);
	assert_int_equal(guest.error_code, NO_ERROR_CODE);
	exit_exception(&vcpu, VECTOR_AC);
	assert_int_equal(guest.vector, VECTOR_AC);
	assert_int_equal(guest.error_code, 0); /* has one, and it is always 0 */
	assert_int_equal(guest.skips, 0);
}

static void segment_exceptions_exit_for_vmi_trace_only(void **state)
{
	(void)state;
	options.vmi = VMI_ON;
	assert_int_equal(exit_exceptions(), 1 << 1 | 1 << 17);
	options.vmi = VMI_TRACE;
	assert_int_equal(exit_exceptions(), 1 << 1 | 1 << 17 | 0xf << 10);
	moved_irets = 0;
	exit_segment_exception(&vcpu, VECTOR_SS, 0x60);
	assert_int_equal(moved_irets, 1);
	assert_int_equal(guest.vector, VECTOR_SS);
	assert_int_equal(guest.error_code, 0x60);
	options.vmi = VMI_ON;
}

static void invd_writes_the_caches_back(void **state)
{
	(void)state;
	exit_invd(&vcpu);
	assert_int_equal(wbinvds, 1);
	assert_int_equal(guest.skips, 1);
}

static void xsetbv_is_done_if_the_processor_agrees(void **state)
{
	(void)state;
	vcpu.regs.rax = 0xdead00000007;
	vcpu.regs.rcx = 0xdead00000000;
	vcpu.regs.rdx = 0x12;
	exit_xsetbv(&vcpu);
	assert_int_equal(xcr0, 0x1200000007);
	assert_int_equal(cr4, CR4_OSXSAVE);
	assert_int_equal(guest.skips, 1);
	xsetbv_result = -EINVAL;
	exit_xsetbv(&vcpu);
	assert_int_equal(guest.skips, 1);
	assert_int_equal(guest.vector, VECTOR_GP);
	assert_int_equal(guest.error_code, 0);
}

static void xsetbv_of_user_code_changes_nothing(void **state)
{
	(void)state;
	guest.cpl = 3;
	xcr0 = 1;
	exit_xsetbv(&vcpu);
	assert_int_equal(xcr0, 1);
	assert_int_equal(guest.vector, VECTOR_GP);
	assert_int_equal(guest.skips, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(input_leaves_what_it_does_not_fill, reset),
		cmocka_unit_test_setup(output_goes_to_the_machine, reset),
		cmocka_unit_test_setup(the_last_words_come_before_the_end_and_once, reset),
		cmocka_unit_test_setup(string_io_runs_again_without_a_guard, reset),
		cmocka_unit_test_setup(string_io_around_the_last_port_faults, reset),
		cmocka_unit_test_setup(at_a_hidden_port_there_is_no_device, reset),
		cmocka_unit_test_setup(a_hypercall_answers_in_eax_and_goes_on, reset),
		cmocka_unit_test_setup(a_hypercall_of_user_code_is_undefined, reset),
		cmocka_unit_test_setup(exceptions_go_on_to_the_guest, reset),
		cmocka_unit_test_setup(segment_exceptions_exit_for_vmi_trace_only, reset),
		cmocka_unit_test_setup(invd_writes_the_caches_back, reset),
		cmocka_unit_test_setup(xsetbv_is_done_if_the_processor_agrees, reset),
		cmocka_unit_test_setup(xsetbv_of_user_code_changes_nothing, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
