// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VMCS that a guest starts with: what must exit and what must not, the state that the
 * 32-bit boot protocols ask for, what an exit returns to, and the form of an injected event.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "core/exception.h"
#include "guest/guest_image.h"
#include "vm_entry.h"
#include "vmx/vmx.h"

static uint64_t fake_read_cr0(void)
{
	return 0x80010033;
}

static uint64_t fake_read_cr3(void)
{
	return 0x7f801000;
}

static uint64_t fake_read_cr4(void)
{
	return 0x2020;
}

static uint64_t fake_rdmsr(uint32_t msr)
{
	switch (msr) {
	case MSR_EFER:
		return 0xd00;
	case MSR_PAT:
		return 0x1122334455667788;
	default:
		fail_msg("RDMSR %x", msr);
		return 0;
	}
}

#define read_cr0() fake_read_cr0()
#define read_cr3() fake_read_cr3()
#define read_cr4() fake_read_cr4()
#define rdmsr(msr) fake_rdmsr(msr)
#include "vmx/vcpu.c"

#define OLD_BYTE 0x5a /* what a VMCS may hold before anything is written */

static struct vcpu vcpu;
static jmp_buf stopped;
static unsigned int dumps, delayed;
struct vmx_pending vmx_pending;

static const struct guest_entry entry = {
	.eip = 0x100000,
	.esi = 0x90000,
	.gdt_base = 0x91000,
	.gdt_limit = 0x1f,
	.code_selector = 0x10,
	.data_selector = 0x18,
};

const uint8_t vmx_exit_entry[1];

/* A processor that can do all that is asked for, and insists on nothing. */
uint32_t vmx_controls(uint32_t msr, uint64_t wanted)
{
	assert_true(msr >= 0x481 && msr <= 0x48b);
	return (uint32_t)wanted;
}

hpa_t vmx_msr_bitmap(void)
{
	return hpa(0x222000);
}

hpa_t vmx_port_bitmap(void)
{
	return hpa(0x111000);
}

uint64_t vmx_ept_pointer(void)
{
	return 0x33301e;
}

uint64_t exception_gdt_base(void)
{
	return 0xffffffff80001000;
}

uint64_t exception_idt_base(void)
{
	return 0xffffffff80002000;
}

uint64_t exception_tss_base(void)
{
	return 0xffffffff80003000;
}

void vmx_delay_interrupt(unsigned int vector)
{
	delayed = vector;
}

_Noreturn void exit_triple_fault(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	longjmp(stopped, 1);
}

int vmx_run_loop(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	return 0;
}

void vmx_dump(const struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	dumps++;
}

_Noreturn void panic(const char *format, ...)
{
	va_list args;
	char text[300];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	console_print(LOG_ERROR, "%s", text);
	longjmp(stopped, 1);
}

static int make_vmcs(void **state)
{
	(void)state;
	console_clear();
	memset(vmcs, OLD_BYTE, sizeof(vmcs)); /* SDM volume 3C, 25.11.3 */
	memset(&vcpu, 0, sizeof(vcpu));
	vmx_pending = (struct vmx_pending){0};
	dumps = delayed = 0;
	init_fields(&entry);
	return 0;
}

/* Interrupts, NMI, HLT, RDTSC, CR3 and CR8 accesses, INVLPG, #PF: none of them exits. */
static void exactly_the_guarded_events_exit(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x4000], 0);
	assert_int_equal(vmcs[0x4002], 1u << 25 | 1u << 28 | 1u << 31);
	/* EPT, RDTSCP, VPID, unrestricted, INVPCID, XSAVES, TPAUSE */
	assert_int_equal(vmcs[0x401e],
			 1u << 1 | 1u << 3 | 1u << 5 | 1u << 7 | 1u << 12 | 1u << 20 | 1u << 26);
	assert_int_equal(vmcs[0x4004], 1u << 1 | 1u << 17);
	assert_int_equal(vmcs[0x202c], 0);
	assert_int_equal(vmcs[0x6000], 1u << 5);
	assert_int_equal(vmcs[0x6002], 1u << 13 | 1u << 14 | BIT(32));
}

static void debug_pat_and_efer_are_switched(void **state)
{
	(void)state;
	/* save debug, host 64-bit, save and load PAT and EFER */
	assert_int_equal(vmcs[0x400c], 1u << 2 | 1u << 9 | 15u << 18);
	assert_int_equal(vmcs[0x4012], 1u << 2 | 1u << 14 | 1u << 15);
}

static void the_tables_are_where_they_are(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x2000], 0x111000);
	assert_int_equal(vmcs[0x2002], 0x112000);
	assert_int_equal(vmcs[0x2004], 0x222000);
	assert_int_equal(vmcs[0x201a], 0x33301e);
	assert_int_equal(vmcs[0x2800], UINT64_MAX);
	assert_int_not_equal(vmcs[0x0000], 0); /* the host's VPID */
}

/* SDM volume 3C, 27.2.2 and 27.2.3: CS and TR not 0, RPL and TI 0 */
static void an_exit_returns_to_vellum(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x6c00], 0x80010033);
	assert_int_equal(vmcs[0x6c02], 0x7f801000);
	assert_int_equal(vmcs[0x6c04], 0x2020);
	assert_int_equal(vmcs[0x2c00], 0x1122334455667788);
	assert_int_equal(vmcs[0x2c02], 0xd00);
	assert_int_equal(vmcs[0x0c02], CODE64_SELECTOR);
	assert_int_equal(vmcs[0x0c0c], TSS_SELECTOR);
	assert_int_equal((CODE64_SELECTOR | TSS_SELECTOR) & 7, 0);
	assert_int_equal(vmcs[0x6c0a], 0xffffffff80003000);
	assert_int_equal(vmcs[0x6c0c], 0xffffffff80001000);
	assert_int_equal(vmcs[0x6c0e], 0xffffffff80002000);
	assert_int_equal(vmcs[0x6c16], (uintptr_t)vmx_exit_entry);
}

static void the_guest_starts_in_flat_32_bit_protected_mode(void **state)
{
	(void)state;
	assert_can_enter();
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x100000);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 2);
	assert_int_equal(vmcs[VMCS_GUEST_DR7], 0x400);
	assert_int_equal(vmcs[VMCS_GUEST_PAT], 0x0007040600070406);
	assert_int_equal(vmcs[VMCS_GUEST_GDTR_BASE], 0x91000);
	assert_int_equal(vmcs[VMCS_GUEST_GDTR_LIMIT], 0x1f);
	for (enum vmcs_segment segment = SEGMENT_ES; segment <= SEGMENT_GS; segment++) {
		bool code = segment == SEGMENT_CS;

		assert_int_equal(*vmcs_segment(0x800, segment), code ? 0x10 : 0x18);
		assert_int_equal(*vmcs_segment(0x4800, segment), UINT32_MAX);
		assert_int_equal(*vmcs_segment(0x4814, segment), code ? 0xc09b : 0xc093);
		assert_int_equal(*vmcs_segment(0x6806, segment), 0);
	}
	assert_int_equal(vmx_read_cr0(&vcpu), CR0_PE | CR0_ET);
	assert_int_equal(vmx_read_cr4(&vcpu), 0);
	assert_int_equal(vmx_privilege_level(&vcpu), 0);
}

static void the_guest_sees_its_own_ne_and_vmxe(void **state)
{
	(void)state;
	vmcs[VMCS_CR0_SHADOW] = CR0_NE | CR0_CD; /* CD is not Vellum's: the shadow has no say */
	assert_int_equal(vmx_read_cr0(&vcpu), CR0_PE | CR0_ET | CR0_NE);
	vmcs[VMCS_GUEST_CR4] |= CR4_PAE;
	assert_int_equal(vmx_read_cr4(&vcpu), CR4_PAE);
}

static void cpl_is_the_dpl_of_ss(void **state)
{
	(void)state;
	*vmcs_segment(0x4814, SEGMENT_SS) = 0xc0f3;
	assert_int_equal(vmx_privilege_level(&vcpu), 3);
}

/*
 * What entries and exits look at with the controls above: SDM volume 3C, 25.4 to 25.8. But
 * HOST_RSP (6c14h), which entry.asm writes, and the four shapes of segment fields.
 */
static const uint16_t used_fields[] = {
	0x0000, 0x0c00, 0x0c02, 0x0c04, 0x0c06, 0x0c08, 0x0c0a, 0x0c0c, 0x2000, 0x2002, 0x2004,
	0x2010, 0x201a, 0x202c, 0x2800, 0x2802, 0x2804, 0x2806, 0x280a, 0x280c, 0x280e, 0x2810,
	0x2c00, 0x2c02, 0x4000, 0x4002, 0x4004, 0x4006, 0x4008, 0x400a, 0x400c, 0x400e, 0x4010,
	0x4012, 0x4014, 0x4016, 0x4018, 0x401a, 0x401e, 0x4810, 0x4812, 0x4824, 0x4826, 0x482a,
	0x4c00, 0x6000, 0x6002, 0x6004, 0x6006, 0x6800, 0x6802, 0x6804, 0x6816, 0x6818, 0x681a,
	0x681c, 0x681e, 0x6820, 0x6822, 0x6824, 0x6826, 0x6c00, 0x6c02, 0x6c04, 0x6c06, 0x6c08,
	0x6c0a, 0x6c0c, 0x6c0e, 0x6c10, 0x6c12, 0x6c16,
};

static void assert_written(uint32_t field)
{
	uint64_t old;

	memset(&old, OLD_BYTE, sizeof(old));
	if (vmcs[field] == old)
		fail_msg("VMCS field %04x is what it was", field);
}

static void no_field_is_left_as_it_was(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(used_fields); i++)
		assert_written(used_fields[i]);
	for (enum vmcs_segment segment = SEGMENT_ES; segment <= SEGMENT_TR; segment++) {
		assert_written(segment_field(0x0800, segment));
		assert_written(segment_field(0x4800, segment));
		assert_written(segment_field(0x4814, segment));
		assert_written(segment_field(0x6806, segment));
	}
}

/* Lists of MSRs, CR3 targets, #PF exits, an event, blocking, a state other than active */
static void what_is_not_used_is_off(void **state)
{
	static const uint16_t fields[] = {0x2010, 0x4006, 0x4008, 0x400a, 0x400e, 0x4010,
					  0x4014, 0x4016, 0x4824, 0x4826, 0x6822};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		assert_int_equal(vmcs[fields[i]], 0);
}

/* SDM volume 3C, 27.2.3: RPL and TI 0, no SS in 64-bit mode, canonical bases */
static void the_host_has_no_other_segments(void **state)
{
	static const uint16_t fields[] = {0x0c00, 0x0c04, 0x0c06, 0x0c08, 0x0c0a,
					  0x4c00, 0x6c06, 0x6c08, 0x6c10, 0x6c12};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		assert_int_equal(vmcs[fields[i]], 0);
}

/* ---- events ---- */

static void an_exception_has_the_manuals_form(void **state)
{
	(void)state;
	vmx_inject_exception(&vcpu, VECTOR_UD, NO_ERROR_CODE);
	assert_int_equal(vmcs[0x4016], 0x80000306);
	assert_can_enter();
	vmcs[0x4016] = 0;
	vmx_inject_exception(&vcpu, VECTOR_GP, 0x1234);
	assert_int_equal(vmcs[0x4016], 0x80000b0d);
	assert_int_equal(vmcs[0x4018], 0x1234);
	assert_can_enter();
}

/* SDM volume 3C, 27.2.1.3: an entry with an error code fails there. */
static void in_real_mode_there_are_no_error_codes(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_CR0] &= ~CR0_PE;
	vmx_inject_exception(&vcpu, VECTOR_GP, 0);
	assert_int_equal(vmcs[0x4016], 0x8000030d);
	assert_can_enter();
	vmcs[0x4016] = 0;
	vmx_inject_exception(&vcpu, VECTOR_UD, NO_ERROR_CODE);
	assert_int_equal(vmcs[0x4016], 0x80000306);
}

/* ---- an exception upon an event ---- */

static void upon(uint64_t event, unsigned int vector, uint64_t expected)
{
	vmcs[0x4016] = event;
	vmx_inject_exception(&vcpu, vector, vector < 10 || vector == 17 ? NO_ERROR_CODE : 0x50);
	assert_int_equal(vmcs[0x4016], expected);
	if (expected & 0x800)
		assert_int_equal(vmcs[0x4018], vector == (expected & 0xff) ? 0x50 : 0);
}

static void exceptions_combine_to_a_double_fault(void **state)
{
	(void)state;
	upon(0x80000306, 13, 0x80000b0d);
	upon(0x80000b0d, 10, 0x80000b08);
	upon(0x80000b0e, 13, 0x80000b08);
	upon(0x80000b0d, 1, 0x80000301);
	upon(0x80000b08, 6, 0x80000306);
	upon(0x00000b0d, 10, 0x80000b0a); /* an old event */
	assert_int_equal(delayed, 0);
	assert_false(vmx_pending.nmi);
}

static void upon_a_double_fault_it_is_a_shutdown(void **state)
{
	(void)state;
	if (setjmp(stopped))
		return;
	upon(0x80000b08, 13, 0);
	fail();
}

static void what_the_machine_sent_waits(void **state)
{
	(void)state;
	upon(0x800000ef, 1, 0x80000301);
	assert_int_equal(delayed, 0xef);
	assert_false(vmx_pending.nmi);
	upon(0x80000202, 1, 0x80000301);
	assert_true(vmx_pending.nmi);
}

static void software_interrupts_come_again_by_themselves(void **state)
{
	(void)state;
	upon(0x80000480, 10, 0x80000b0a);
	upon(0x80000603, 10, 0x80000b0a);
	upon(0x80000501, 10, 0x80000b0a);
	assert_int_equal(delayed, 0);
	assert_false(vmx_pending.nmi);
}

static void a_refused_entry_is_explained_and_dumped(void **state)
{
	(void)state;
	vmcs[0x4400] = 7;
	if (setjmp(stopped) == 0)
		vmx_run(&vcpu);
	assert_int_equal(dumps, 1);
	assert_console(LOG_ERROR, "VM entry with invalid control fields");
	assert_console(LOG_ERROR, "error 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_vmcs)
		T(exactly_the_guarded_events_exit),
		T(debug_pat_and_efer_are_switched),
		T(the_tables_are_where_they_are),
		T(an_exit_returns_to_vellum),
		T(the_guest_starts_in_flat_32_bit_protected_mode),
		T(the_guest_sees_its_own_ne_and_vmxe),
		T(cpl_is_the_dpl_of_ss),
		T(no_field_is_left_as_it_was),
		T(what_is_not_used_is_off),
		T(the_host_has_no_other_segments),
		T(an_exception_has_the_manuals_form),
		T(in_real_mode_there_are_no_error_codes),
		T(exceptions_combine_to_a_double_fault),
		T(upon_a_double_fault_it_is_a_shutdown),
		T(what_the_machine_sent_waits),
		T(software_interrupts_come_again_by_themselves),
		T(a_refused_entry_is_explained_and_dumped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
