// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of exits, and where the assembly and the processor look for members of the
 * structs: entry.asm's numbers and APM volume 2, appendix B, written out a second time.
 */
#include "support.h"

#include <string.h>

#include "core/vcpu.h"
#include "debug/record.h"
#include "svm/vmcb.h"
#include "vmi/vmi.h"

const struct vendor *vendor;

void record_attach(const struct vcpu *vcpu)
{
	(void)vcpu;
}

void panic_set_activity(const char *activity)
{
	(void)activity;
}

static struct vcpu vcpu;

static int reset(void **state)
{
	(void)state;
	memset(&vcpu, 0, sizeof(vcpu));
	return 0;
}

static void an_exit_counts_where_it_belongs(void **state)
{
	(void)state;
	vcpu_count_exit(&vcpu, EXIT_PORT);
	vcpu_count_exit(&vcpu, EXIT_PORT);
	vcpu_count_exit(&vcpu, EXIT_CPUID);
	assert_ptr_equal(vcpu.counter, &vcpu.exits[EXIT_CPUID]);
	assert_int_equal(vcpu_exit_counter(&vcpu, EXIT_PORT).count, 2);
	assert_int_equal(vcpu_exit_counter(&vcpu, EXIT_CPUID).count, 1);
	assert_int_equal(vcpu_exit_counter(&vcpu, EXIT_RDMSR).count, 0);
}

static void the_sum_is_of_all_reasons(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < EXIT_REASONS; i++)
		vcpu.exits[i] = (struct exit_counter){1ull << i, 3ull << 2 * i};
	assert_int_equal(vcpu_exit_counter(&vcpu, VELLUM_CPUID_EXITS_ALL).count,
			 (1ull << EXIT_REASONS) - 1);
	assert_int_equal(vcpu_exit_counter(&vcpu, VELLUM_CPUID_EXITS_ALL).cycles,
			 (1ull << 2 * EXIT_REASONS) - 1);
}

/* A guest gives this number, by CPUID. */
static void a_number_that_is_no_reason_reads_as_zero(void **state)
{
	static const uint32_t numbers[] = {EXIT_REASONS, EXIT_REASONS + 1, 0x7fffffff, 0x80000000,
					   UINT32_MAX - 1};

	(void)state;
	memset(vcpu.exits, 0xff, sizeof(vcpu.exits));
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct exit_counter counter = vcpu_exit_counter(&vcpu, numbers[i]);

		assert_int_equal(counter.count, 0);
		assert_int_equal(counter.cycles, 0);
	}
}

static void every_reason_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (enum exit_reason i = 0; i < EXIT_REASONS; i++) {
		assert_non_null(exit_reason_name(i));
		for (enum exit_reason other = 0; other < i; other++)
			assert_string_not_equal(exit_reason_name(i), exit_reason_name(other));
	}
}

static void registers_lie_where_the_entry_stub_stores_them(void **state)
{
	const struct guest_registers *r = &vcpu.regs;
	const uint64_t *in_order[] = {&r->rax, &r->rcx, &r->rdx, &r->rbx, &r->rsp, &r->rbp,
				      &r->rsi, &r->rdi, &r->r8,	 &r->r9,  &r->r10, &r->r11,
				      &r->r12, &r->r13, &r->r14, &r->r15};

	(void)state;
	assert_ptr_equal(r, &vcpu);
	for (unsigned int i = 0; i < ARRAY_SIZE(in_order); i++)
		assert_ptr_equal(in_order[i], (uint64_t *)&vcpu + i);
}

#define ASSERT_CONTROL(member, offset) \
	assert_int_equal(offsetof(struct vmcb, control.member), offset)
#define ASSERT_SAVE(member, offset) \
	assert_int_equal(offsetof(struct vmcb, save.member), 0x400 + (offset))

static void the_control_area_is_as_in_table_b_1(void **state)
{
	(void)state;
	ASSERT_CONTROL(intercept_cr_reads, 0x000);
	ASSERT_CONTROL(intercept_cr_writes, 0x002);
	ASSERT_CONTROL(intercept_dr_reads, 0x004);
	ASSERT_CONTROL(intercept_dr_writes, 0x006);
	ASSERT_CONTROL(intercept_exceptions, 0x008);
	ASSERT_CONTROL(intercept3, 0x00c);
	ASSERT_CONTROL(intercept4, 0x010);
	ASSERT_CONTROL(intercept5, 0x014);
	ASSERT_CONTROL(iopm_base, 0x040);
	ASSERT_CONTROL(msrpm_base, 0x048);
	ASSERT_CONTROL(tsc_offset, 0x050);
	ASSERT_CONTROL(asid, 0x058);
	ASSERT_CONTROL(tlb_control, 0x05c);
	ASSERT_CONTROL(virtual_interrupt, 0x060);
	ASSERT_CONTROL(interrupt_state, 0x068);
	ASSERT_CONTROL(exit_code, 0x070);
	ASSERT_CONTROL(exit_info1, 0x078);
	ASSERT_CONTROL(exit_info2, 0x080);
	ASSERT_CONTROL(exit_interrupt_info, 0x088);
	ASSERT_CONTROL(nested_control, 0x090);
	ASSERT_CONTROL(event_injection, 0x0a8);
	ASSERT_CONTROL(nested_cr3, 0x0b0);
	ASSERT_CONTROL(virtualization_extra, 0x0b8);
	ASSERT_CONTROL(clean, 0x0c0);
	ASSERT_CONTROL(next_rip, 0x0c8);
	ASSERT_CONTROL(instruction_length, 0x0d0);
	ASSERT_CONTROL(instruction_bytes, 0x0d1);
}

static void the_save_area_is_as_in_table_b_2(void **state)
{
	(void)state;
	ASSERT_SAVE(es, 0x000);
	ASSERT_SAVE(cs, 0x010);
	ASSERT_SAVE(ss, 0x020);
	ASSERT_SAVE(ds, 0x030);
	ASSERT_SAVE(fs, 0x040);
	ASSERT_SAVE(gs, 0x050);
	ASSERT_SAVE(gdtr, 0x060);
	ASSERT_SAVE(ldtr, 0x070);
	ASSERT_SAVE(idtr, 0x080);
	ASSERT_SAVE(tr, 0x090);
	ASSERT_SAVE(cpl, 0x0cb);
	ASSERT_SAVE(efer, 0x0d0);
	ASSERT_SAVE(cr4, 0x148);
	ASSERT_SAVE(cr3, 0x150);
	ASSERT_SAVE(cr0, 0x158);
	ASSERT_SAVE(dr7, 0x160);
	ASSERT_SAVE(dr6, 0x168);
	ASSERT_SAVE(rflags, 0x170);
	ASSERT_SAVE(rip, 0x178);
	ASSERT_SAVE(rsp, 0x1d8);
	ASSERT_SAVE(rax, 0x1f8);
	ASSERT_SAVE(star, 0x200);
	ASSERT_SAVE(lstar, 0x208);
	ASSERT_SAVE(cstar, 0x210);
	ASSERT_SAVE(sfmask, 0x218);
	ASSERT_SAVE(kernel_gs_base, 0x220);
	ASSERT_SAVE(sysenter_cs, 0x228);
	ASSERT_SAVE(sysenter_esp, 0x230);
	ASSERT_SAVE(sysenter_eip, 0x238);
	ASSERT_SAVE(cr2, 0x240);
	ASSERT_SAVE(g_pat, 0x268);
	assert_int_equal(offsetof(struct vmcb_segment, attributes), 2);
	assert_int_equal(offsetof(struct vmcb_segment, limit), 4);
	assert_int_equal(offsetof(struct vmcb_segment, base), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_exit_counts_where_it_belongs, reset),
		cmocka_unit_test_setup(the_sum_is_of_all_reasons, reset),
		cmocka_unit_test_setup(a_number_that_is_no_reason_reads_as_zero, reset),
		cmocka_unit_test_setup(every_reason_has_a_name_of_its_own, reset),
		cmocka_unit_test_setup(registers_lie_where_the_entry_stub_stores_them, reset),
		cmocka_unit_test_setup(the_control_area_is_as_in_table_b_1, reset),
		cmocka_unit_test_setup(the_save_area_is_as_in_table_b_2, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
