// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hypercalls: who may make them, what a wild one gets, and that no guest can flood the
 * console. The tests run in this order in one process: only the third announces a guest.
 */
#include "support.h"

#include <setjmp.h>

#include "core/cpu.h"
#include "core/options.h"
#include "core/vcpu.h"
#include "core/vendor.h"
#include "debug/trace.h"
#include "lib/errno.h"
#include "vmi/calls.h"
#include "vmi/hypercall.h"

enum { ROM = 0xc00c9000, MARK_EDX = 0x11223344, MARK_ECX = 0x55667788 };

struct options options;

static uint64_t read_rip(const struct vcpu *v)
{
	(void)v;
	return 0xc00c9123;
}

static const struct vendor fake_vendor = {.read_rip = read_rip};
const struct vendor *vendor = &fake_vendor;

static struct vcpu vcpu;
static jmp_buf end; /* where a call that ends the machine goes */
enum { REBOOT = 1, SHUTDOWN };

void record_attach(const struct vcpu *v)
{
	(void)v;
}

void panic_set_activity(const char *text)
{
	(void)text;
}

void vmi_reboot(void)
{
	longjmp(end, REBOOT);
}

void vmi_shutdown(void)
{
	longjmp(end, SHUTDOWN);
}

/* What paging.c does with shadow page tables, if there are any. */
static bool is_shadow;
static uint32_t mmu_called, mmu_argument;

bool paging_fill_wanted(struct vcpu *v)
{
	(void)v;
	mmu_called = 38;
	return is_shadow;
}

bool paging_invalidate(struct vcpu *v, gva_t address)
{
	(void)v;
	mmu_called = 46;
	mmu_argument = (uint32_t)address.raw;
	return is_shadow;
}

bool paging_flush(struct vcpu *v)
{
	(void)v;
	mmu_called = 47;
	return is_shadow;
}

/* The machine's other processors, as smp.c would have them. */
static struct vmi_ap_state guest_state; /* what the guest has at GUEST_STATE */
static struct vmi_ap_state set_state;
static uint32_t set_id, sent;
enum { GUEST_STATE = 0xc0345ff0 };

int vmi_read_ap_state(const struct vcpu *v, gva_t address, struct vmi_ap_state *state)
{
	assert_ptr_equal(v, &vcpu);
	*state = guest_state;
	return address.raw == GUEST_STATE ? 0 : -EFAULT;
}

int vmi_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state)
{
	set_id = apic_id;
	set_state = *state;
	return apic_id == 1 ? 0 : -ENODEV;
}

bool vmi_is_start_command(uint32_t offset, uint32_t value)
{
	return offset == 0x300 && value == 0x4500;
}

void vmi_write_start_command(uint32_t value)
{
	sent = value;
}

static int start_anew(void **state)
{
	(void)state;
	console_clear();
	vcpu = (struct vcpu){0};
	options.vmi = VMI_ON;
	return 0;
}

static bool handle(struct hypercall_frame *frame)
{
	return hypercall_handle(&vcpu, frame);
}

static uint64_t all_counts(void)
{
	uint64_t sum = 0;

	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++)
		sum += vcpu.vmi_calls[call].count;
	return sum;
}

static struct hypercall_frame init_frame(unsigned int cpl, uint32_t rom)
{
	return (struct hypercall_frame){
		.eax = VMI_HYPERCALL_INIT, .edx = rom, .ecx = MARK_ECX, .cpl = cpl};
}

static void user_code_gets_ud_and_no_message(void **state)
{
	(void)state;
	for (unsigned int cpl = 1; cpl <= 3; cpl++) {
		struct hypercall_frame frame = init_frame(cpl, ROM);
		struct hypercall_frame before = frame;
		struct hypercall call;

		assert_int_equal(hypercall_decode(&vcpu, &frame, &call), -EPERM);
		assert_false(handle(&frame));
		assert_memory_equal(&frame, &before, sizeof(frame));
	}
	assert_console_quiet();
}

static void init_at_an_impossible_address_is_refused(void **state)
{
	struct hypercall_frame frame = init_frame(0, ROM + 1);
	struct hypercall call;
	gva_t rom;

	(void)state;
	assert_int_equal(hypercall_decode(&vcpu, &frame, &call), -EINVAL);
	assert_true(handle(&frame));
	assert_int_equal((int32_t)frame.eax, -EINVAL);
	assert_false(hypercall_guest_rom(&rom));
	assert_console(LOG_WARN, "0x56000000");
}

static void init_announces_the_guest_once(void **state)
{
	gva_t rom = gva(0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct hypercall_frame frame = init_frame(0, ROM);

		assert_true(handle(&frame));
		assert_int_equal(frame.eax, 0);
		assert_int_equal(frame.edx, ROM);
		assert_int_equal(frame.ecx, MARK_ECX);
	}
	assert_true(hypercall_guest_rom(&rom));
	assert_int_equal(rom.raw, ROM);
	assert_console(LOG_INFO, "guest announced itself: VMI ROM at 0xc00c9000");
	assert_int_equal(console_count(LOG_INFO), 1);
}

static void the_null_call_answers_0_at_cpl_0_only(void **state)
{
	struct hypercall_frame frame = {
		.eax = VMI_HYPERCALL_NULL, .edx = MARK_EDX, .ecx = MARK_ECX, .cpl = 0};

	(void)state;
	assert_true(handle(&frame));
	assert_int_equal(frame.eax, 0);
	assert_int_equal(frame.edx, MARK_EDX);
	assert_int_equal(frame.ecx, MARK_ECX);
	frame.eax = VMI_HYPERCALL_NULL;
	frame.cpl = 3;
	assert_false(handle(&frame));
	assert_int_equal(frame.eax, VMI_HYPERCALL_NULL);
	assert_console_quiet();
}

static void init_decodes_to_what_invoke_needs(void **state)
{
	struct hypercall_frame frame = init_frame(0, ROM);
	struct hypercall call = {0};

	(void)state;
	assert_int_equal(hypercall_decode(&vcpu, &frame, &call), 0);
	assert_int_equal(call.number, VMI_HYPERCALL_INIT);
	assert_int_equal(call.init.rom.raw, ROM);
}

static void expect_enosys(uint32_t number)
{
	struct hypercall_frame frame = {.eax = number, .edx = MARK_EDX, .ecx = MARK_ECX};

	assert_true(handle(&frame));
	assert_int_equal((int32_t)frame.eax, -ENOSYS);
	assert_int_equal(frame.edx, MARK_EDX);
	assert_int_equal(frame.ecx, MARK_ECX);
}

static bool is_answered(uint32_t call)
{
	return call == VMI_CALL_Reboot || call == VMI_CALL_Shutdown ||
	       call == VMI_CALL_SetInitialAPState || call == VMI_CALL_APICWrite;
}

/* The refused INIT has used the one warning up, so all these are silent. */
static void wild_numbers_are_harmless_and_silent(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint32_t call = 0; call < VMI_CALL_COUNT; call++)
		if (!is_answered(call))
			expect_enosys(call);
	expect_enosys(VMI_CALL_COUNT);
	expect_enosys(VMI_HYPERCALL_INIT - 1);
	expect_enosys(VMI_HYPERCALL_NULL + 1);
	expect_enosys(VMI_HYPERCALL_TRACE - 1);
	expect_enosys(VMI_HYPERCALL_TRACE + VMI_CALL_COUNT);
	expect_enosys(UINT32_MAX);
	for (int i = 0; i < 100000; i++)
		expect_enosys(VMI_CALL_COUNT +
			      (uint32_t)random_below(&random, VMI_HYPERCALL_INIT - VMI_CALL_COUNT));
	assert_console_quiet();
	assert_int_equal(all_counts(), 0);
}

static void a_traced_call_is_counted_and_changes_nothing(void **state)
{
	(void)state;
	options.vmi = VMI_TRACE;
	for (uint32_t call = 0; call < VMI_CALL_COUNT; call++) {
		struct hypercall_frame frame = {
			.eax = VMI_HYPERCALL_TRACE + call, .edx = MARK_EDX, .ecx = MARK_ECX};
		struct hypercall_frame before = frame;

		vcpu.exit_start = rdtsc();
		assert_true(handle(&frame));
		assert_memory_equal(&frame, &before, sizeof(frame));
		assert_int_equal(vcpu.vmi_calls[call].count, 1);
		assert_in_range(vcpu.vmi_calls[call].cycles, 1, UINT32_MAX);
	}
	assert_int_equal(all_counts(), VMI_CALL_COUNT);
	assert_console_quiet();
}

static int end_of(uint32_t call)
{
	struct hypercall_frame frame = {.eax = call};
	int how = setjmp(end);

	if (!how)
		handle(&frame);
	return how;
}

static void reboot_and_shutdown_are_counted_and_done(void **state)
{
	(void)state;
	assert_int_equal(end_of(VMI_CALL_Reboot), REBOOT);
	assert_int_equal(end_of(VMI_CALL_Shutdown), SHUTDOWN);
	assert_int_equal(vcpu.vmi_calls[VMI_CALL_Reboot].count, 1);
	assert_int_equal(vcpu.vmi_calls[VMI_CALL_Shutdown].count, 1);
}

static uint32_t result_of(uint32_t call, uint32_t ecx, uint32_t edx)
{
	struct hypercall_frame frame = {.eax = call, .edx = edx, .ecx = ecx};

	assert_true(handle(&frame));
	assert_int_equal(frame.edx, edx);
	assert_int_equal(frame.ecx, ecx);
	return frame.eax;
}

static void an_ap_state_is_copied_and_set(void **state)
{
	(void)state;
	guest_state.eip = 0xc0100000;
	assert_int_equal(result_of(VMI_CALL_SetInitialAPState, GUEST_STATE, 1), 0);
	assert_int_equal(set_id, 1);
	assert_memory_equal(&set_state, &guest_state, sizeof(set_state));
	assert_int_equal((int32_t)result_of(VMI_CALL_SetInitialAPState, GUEST_STATE, 2), -ENODEV);
	set_id = 0;
	assert_int_equal((int32_t)result_of(VMI_CALL_SetInitialAPState, 0, 1), -EFAULT);
	assert_int_equal(set_id, 0);
	assert_int_equal(vcpu.vmi_calls[VMI_CALL_SetInitialAPState].count, 2);
}

static void apic_write_takes_init_and_startup_only(void **state)
{
	(void)state;
	sent = 0;
	assert_int_equal((int32_t)result_of(VMI_CALL_APICWrite, 0x300, 0x41), -EINVAL);
	assert_int_equal((int32_t)result_of(VMI_CALL_APICWrite, 0x310, 0x4500), -EINVAL);
	assert_int_equal(sent, 0);
	assert_int_equal(result_of(VMI_CALL_APICWrite, 0x300, 0x4500), 0);
	assert_int_equal(sent, 0x4500);
}

/* With nested paging they are wild numbers, as wild_numbers_are_harmless_and_silent() has it. */
static void flushes_and_fills_go_to_shadow_paging(void **state)
{
	static const uint32_t numbers[] = {38, 46, 47};

	(void)state;
	is_shadow = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct hypercall_frame frame = {
			.eax = numbers[i], .edx = MARK_EDX, .ecx = MARK_ECX};

		mmu_called = 0;
		assert_true(hypercall_handle(&vcpu, &frame));
		assert_int_equal(frame.eax, 0);
		assert_int_equal(mmu_called, numbers[i]);
		assert_int_equal(vcpu.vmi_calls[numbers[i]].count, 1);
	}
	assert_int_equal(mmu_argument, MARK_ECX);
	is_shadow = false;
}

static void with_vmi_trace_only_the_stub_counts(void **state)
{
	(void)state;
	options.vmi = VMI_TRACE;
	assert_int_equal(end_of(VMI_CALL_Reboot), REBOOT);
	assert_int_equal(all_counts(), 0);
}

static void calls_are_traced_when_asked_for(void **state)
{
	struct hypercall_frame frame = {.eax = VMI_HYPERCALL_TRACE + VMI_CALL_SetCR3, .edx = 7};
	struct trace_entry entry;
	char detail[TRACE_DETAIL_MAX];

	(void)state;
	trace_clear();
	handle(&frame);
	assert_int_equal(trace_count(), 0);
	trace_is_on = true;
	frame.eax = VMI_HYPERCALL_TRACE + VMI_CALL_SetCR3;
	handle(&frame);
	trace_is_on = false;
	assert_int_equal(trace_count(), 1);
	assert_true(trace_read(0, &entry));
	assert_string_equal(trace_name(&entry), "SetCR3");
	assert_string_equal(trace_detail(&entry, detail), "");
	assert_int_equal(entry.rip, 0xc00c9123);
	assert_int_equal(entry.edx, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(user_code_gets_ud_and_no_message, start_anew),
		cmocka_unit_test_setup(init_at_an_impossible_address_is_refused, start_anew),
		cmocka_unit_test_setup(init_announces_the_guest_once, start_anew),
		cmocka_unit_test_setup(the_null_call_answers_0_at_cpl_0_only, start_anew),
		cmocka_unit_test_setup(init_decodes_to_what_invoke_needs, start_anew),
		cmocka_unit_test_setup(a_traced_call_is_counted_and_changes_nothing, start_anew),
		cmocka_unit_test_setup(reboot_and_shutdown_are_counted_and_done, start_anew),
		cmocka_unit_test_setup(flushes_and_fills_go_to_shadow_paging, start_anew),
		cmocka_unit_test_setup(with_vmi_trace_only_the_stub_counts, start_anew),
		cmocka_unit_test_setup(an_ap_state_is_copied_and_set, start_anew),
		cmocka_unit_test_setup(apic_write_takes_init_and_startup_only, start_anew),
		cmocka_unit_test_setup(wild_numbers_are_harmless_and_silent, start_anew),
		cmocka_unit_test_setup(calls_are_traced_when_asked_for, start_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
