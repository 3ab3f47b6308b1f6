// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VMCB that a guest's processor starts with: what must exit and what must not, the state
 * that it is told, what INIT leaves and what it does not, and the form of an injected event.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "fake_debugger.h"
#include "svm/svm.h"

static struct vcpu vcpu;
static jmp_buf stopped;

/* VMSAVE, VMLOAD and STGI: this processor's LSTAR, and its global interrupt flag. */
static uint64_t lstar;
static bool gif;

static void fake_vmsave(struct vmcb *vmcb)
{
	vmcb->save.lstar = lstar;
	vmcb->save.fs.base = 0xdead;
}

static void fake_vmload(const struct vmcb *vmcb)
{
	lstar = vmcb->save.lstar;
}

static void fake_cpu_stop(void)
{
	assert_true(gif);
	longjmp(stopped, 1);
}

#define vmsave(vmcb) fake_vmsave(vmcb)
#define vmload(vmcb) fake_vmload(vmcb)
#define stgi()	     ((void)(gif = true))
#define cpu_stop()   fake_cpu_stop()
#include "svm/vcpu.c"

uint32_t exit_exceptions(void)
{
	return BIT(VECTOR_DB) | BIT(VECTOR_AC);
}

_Noreturn void exit_triple_fault(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	longjmp(stopped, 1);
}

/* No two of its values are alike. */
static const struct start_state start = {
	.cr0 = 0x80000011,
	.cr3 = 0x123000,
	.cr4 = 0x690,
	.efer = 0x800,
	.rip = 0xc0100000,
	.rsp = 0xc0200000,
	.rflags = 0x202,
	.es = {0x10, 0xc093, 0xfffff001, 0xe0000000},
	.cs = {0x18, 0xc09b, 0xfffff002, 0xc0000000},
	.ss = {0x20, 0x4097, 0xfff03, 0xa0000000},
	.ds = {0x28, 0xd0f3, 0xfffff004, 0xd0000000},
	.fs = {0x30, 0xc0b3, 0xfffff005, 0xf0000000},
	.gs = {0x3b, 0, 0, 0},
	.ldtr = {0x40, 0x8082, 0x6fff, 0x40000000},
	.tr = {0x48, 0x008b, 0x67, 0x48000000},
	.gdtr = {.limit = 0x7f, .base = 0x91000},
	.idtr = {.limit = 0x7ff, .base = 0x92000},
};

hpa_t svm_port_bitmap(void)
{
	return hpa(0x111000);
}

hpa_t svm_msr_bitmap(void)
{
	return hpa(0x222000);
}

static unsigned int catches;
static struct guest_paging started;

void svm_catch_paging(struct vmcb_control *control)
{
	assert_ptr_equal(control, &((struct vmcb *)vcpu.arch)->control);
	catches++;
}

void paging_start(struct vcpu *v, const struct guest_paging *guest)
{
	assert_ptr_equal(v, &vcpu);
	started = *guest;
}

hpa_t mmu_nested_root(void)
{
	return hpa(0x333000);
}

_Noreturn void svm_run_loop(struct vcpu *v, uint64_t vmcb_physical);

void svm_run_loop(struct vcpu *v, uint64_t vmcb_physical)
{
	assert_ptr_equal(v, &vcpu);
	assert_int_equal(vmcb_physical, PAGE_SIZE);
	longjmp(stopped, 1);
}

static struct vmcb *vmcb(void)
{
	return vcpu.arch;
}

static int make_vcpu(void **state)
{
	(void)state;
	console_clear();
	arena_create(2 * PAGE_SIZE);
	memset(&vcpu, 0, sizeof(vcpu));
	vcpu.arch = arena_at(PAGE_SIZE);
	vcpu.regs.rax = 0x1234;
	lstar = 0xabc;
	gif = false;
	assert_int_equal(svm_vcpu_init(&vcpu), 0);
	svm_set_state(&vcpu, &start);
	return 0;
}

/* Interrupts, HLT, RDTSC, CR and DR accesses, INVLPG, #PF: none of them exits. */
static void exactly_the_guarded_events_exit(void **state)
{
	const struct vmcb_control *control = &vmcb()->control;

	(void)state;
	assert_int_equal(control->intercept_cr_reads | control->intercept_cr_writes, 0);
	assert_int_equal(control->intercept_dr_reads | control->intercept_dr_writes, 0);
	assert_int_equal(control->intercept_exceptions, 1u << 1 | 1u << 17);
	/* INIT, CPUID, INVD, INVLPGA, ports, MSRs, shutdown */
	assert_int_equal(control->intercept3,
			 1u << 3 | 1u << 18 | 1u << 22 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 31);
	assert_int_equal(control->intercept4, 0x7f); /* VMRUN to SKINIT */
	assert_int_equal(control->intercept5, 0);
}

/* Without nested paging its register are the MMU's to load; paging.c says what exits more. */
static void with_shadow_paging_more_exits(void **state)
{
	struct shadow_context shadow;

	(void)state;
	assert_int_equal(catches, 0);
	vcpu.shadow = &shadow;
	assert_int_equal(svm_vcpu_init(&vcpu), 0);
	assert_int_equal(catches, 1);
	svm_set_state(&vcpu, &start);
	assert_int_equal(started.cr0, start.cr0);
	assert_int_equal(started.cr3, start.cr3);
	assert_int_equal(started.cr4, start.cr4);
	assert_int_equal(started.efer, start.efer);
	catches = 0;
}

/* The boot processor's INIT resets the machine; another one's takes it out of Vellum. */
static void only_the_boot_processors_init_exits(void **state)
{
	uint32_t intercepts = vmcb()->control.intercept3;

	(void)state;
	vcpu.id = 1;
	assert_int_equal(svm_vcpu_init(&vcpu), 0);
	assert_int_equal(vmcb()->control.intercept3, intercepts & ~(1u << 3));
}

static void the_first_run_loads_all_and_flushes_all(void **state)
{
	const struct vmcb_control *control = &vmcb()->control;

	(void)state;
	assert_int_equal(control->clean, 0);
	assert_int_equal(control->tlb_control, 1);
	assert_int_not_equal(control->asid, 0); /* the host's */
	assert_int_equal(control->iopm_base, 0x111000);
	assert_int_equal(control->msrpm_base, 0x222000);
	assert_int_equal(control->nested_control, 1);
	assert_int_equal(control->nested_cr3, 0x333000);
	assert_int_equal(control->event_injection, 0);
	assert_int_equal(control->virtual_interrupt, 0); /* RFLAGS.IF and CR8 are the machine's */
}

static void assert_segment(const struct vmcb_segment *segment, uint16_t selector,
			   uint16_t attributes, uint32_t limit, uint32_t base)
{
	assert_int_equal(segment->selector, selector);
	assert_int_equal(segment->attributes, attributes);
	assert_int_equal(segment->limit, limit);
	assert_int_equal(segment->base, base);
}

/* Attributes: bits 55:52 and 47:40 of a descriptor without the limit between them. */
static void segments_are_those_of_the_state(void **state)
{
	const struct vmcb_save *save = &vmcb()->save;

	(void)state;
	assert_segment(&save->es, 0x10, 0xc93, 0xfffff001, 0xe0000000);
	assert_segment(&save->cs, 0x18, 0xc9b, 0xfffff002, 0xc0000000);
	assert_segment(&save->ss, 0x20, 0x497, 0xfff03, 0xa0000000);
	assert_segment(&save->ds, 0x28, 0xdf3, 0xfffff004, 0xd0000000);
	assert_segment(&save->fs, 0x30, 0xcb3, 0xfffff005, 0xf0000000);
	assert_segment(&save->gs, 0x3b, 0, 0, 0);
	assert_segment(&save->ldtr, 0x40, 0x882, 0x6fff, 0x40000000);
	assert_segment(&save->tr, 0x48, 0x8b, 0x67, 0x48000000);
	assert_segment(&save->gdtr, 0, 0, 0x7f, 0x91000);
	assert_segment(&save->idtr, 0, 0, 0x7ff, 0x92000);
}

static void registers_are_those_of_the_state(void **state)
{
	const struct vmcb_save *save = &vmcb()->save;

	(void)state;
	assert_int_equal(save->cr0, 0x80000011);
	assert_int_equal(save->cr3, 0x123000);
	assert_int_equal(save->cr4, 0x690);
	assert_int_equal(svm_read_efer(&vcpu), 0x800);
	assert_int_equal(save->rip, 0xc0100000);
	assert_int_equal(save->rsp, 0xc0200000);
	assert_int_equal(save->rflags, 0x202);
	assert_int_equal(save->rax, 0x1234); /* the one register that the VMCB holds */
}

static void all_else_is_as_after_a_reset(void **state)
{
	const struct vmcb_save *save = &vmcb()->save;

	(void)state;
	assert_int_equal(save->cpl, 0);
	assert_int_equal(save->cr2, 0);
	assert_int_equal(save->dr6, 0xffff0ff0);
	assert_int_equal(save->dr7, 0x400);
	assert_int_equal(save->g_pat, 0x0007040600070406);
}

/* APM volume 2, table 14-1: INIT leaves the PAT and SYSCALL's MSRs, and nothing waits. */
static void init_leaves_what_it_has_to(void **state)
{
	struct vmcb_save *save = &vmcb()->save;

	(void)state;
	save->g_pat = 0x0605040302010006;
	save->dr7 = 0x455;
	save->cpl = 3;
	save->cr2 = 0xdeadbeef;
	vmcb()->control.event_injection = 0x800000ef;
	vmcb()->control.virtual_interrupt = 0x000000ef00100107;
	vmcb()->control.interrupt_state = 1;
	lstar = 0xdef;
	assert_int_equal(svm_vcpu_init(&vcpu), 0);
	svm_set_state(&vcpu, &start);
	assert_int_equal(save->g_pat, 0x0605040302010006);
	assert_int_equal(save->lstar, 0xdef);
	assert_int_equal(save->dr7, 0x400);
	assert_int_equal(save->cpl, 0);
	assert_int_equal(save->cr2, 0);
	assert_int_equal(vmcb()->control.event_injection, 0);
	assert_int_equal(vmcb()->control.virtual_interrupt, 0);
	assert_int_equal(vmcb()->control.interrupt_state, 0);
}

static void the_processor_has_the_guests_msrs_when_it_runs(void **state)
{
	(void)state;
	vmcb()->save.lstar = 0x77;
	if (setjmp(stopped) == 0)
		svm_run(&vcpu);
	assert_int_equal(lstar, 0x77);
}

/* With GIF clear INIT would stay pending. */
static void it_waits_for_init_with_gif_set(void **state)
{
	(void)state;
	if (setjmp(stopped) == 0)
		svm_await_init(&vcpu);
	assert_true(gif);
}

static void efer_hides_what_svm_needs(void **state)
{
	struct start_state without = start;

	(void)state;
	without.efer = 0;
	svm_set_state(&vcpu, &without);
	assert_int_equal(vmcb()->save.efer, BIT(12));
	assert_int_equal(svm_read_efer(&vcpu), 0);
	vmcb()->control.clean = CLEAN_ALL;
	svm_write_efer(&vcpu, EFER_LME | EFER_NXE);
	assert_int_equal(svm_read_efer(&vcpu), EFER_LME | EFER_NXE);
	assert_int_equal(vmcb()->save.efer, BIT(12) | BIT(8) | BIT(11));
	assert_int_equal(vmcb()->control.clean, 0xffffffdf); /* bit 5: EFER is loaded only then */
}

static void cpuid_exits_until_it_is_released(void **state)
{
	uint32_t others = vmcb()->control.intercept3 & ~(uint32_t)BIT(18);

	(void)state;
	assert_true(vmcb()->control.intercept3 & BIT(18));
	vmcb()->control.clean = CLEAN_ALL;
	svm_release_cpuid(&vcpu);
	assert_int_equal(vmcb()->control.intercept3, others);
	assert_int_equal(vmcb()->control.clean,
			 0xfffffffe); /* bit 0: intercepts are read only then */
}

static void events_are_written_as_the_manual_says(void **state)
{
	(void)state;
	svm_inject_exception(&vcpu, VECTOR_UD, NO_ERROR_CODE);
	assert_int_equal(vmcb()->control.event_injection, 0x80000306);
	vmcb()->control.event_injection = 0;
	svm_inject_exception(&vcpu, VECTOR_GP, 0);
	assert_int_equal(vmcb()->control.event_injection, 0x80000b0d);
	vmcb()->control.event_injection = 0;
	svm_inject_exception(&vcpu, VECTOR_PF, 0x15);
	assert_int_equal(vmcb()->control.event_injection, 0x1580000b0e);
}

static void in_real_mode_there_are_no_error_codes(void **state)
{
	(void)state;
	vmcb()->save.cr0 &= ~CR0_PE;
	svm_inject_exception(&vcpu, VECTOR_GP, 0);
	assert_int_equal(vmcb()->control.event_injection, 0x8000030d);
}

/* ---- an exception upon an event ---- */

static void upon(uint64_t event, unsigned int vector, uint64_t expected)
{
	int error_code = vector == VECTOR_AC || vector == VECTOR_DB ? NO_ERROR_CODE : 0x50;

	vmcb()->control.event_injection = event;
	svm_inject_exception(&vcpu, vector, error_code);
	assert_int_equal(vmcb()->control.event_injection, expected);
}

static void exceptions_combine_to_a_double_fault(void **state)
{
	(void)state;
	upon(0x80000306, 13, 0x5080000b0d);
	upon(0x80000b0d, 10, 0x80000b08);
	upon(0x1280000b0e, 13, 0x80000b08);
	upon(0x80000b0d, 17, 0x80000311);
	upon(0x80000b08, 1, 0x80000301);
	upon(0x00000b0d, 10, 0x5080000b0a); /* an old event */
	assert_int_equal(vmcb()->control.virtual_interrupt, 0);
}

static void upon_a_double_fault_it_is_a_shutdown(void **state)
{
	(void)state;
	if (setjmp(stopped))
		return;
	upon(0x80000b08, 13, 0);
	fail();
}

/* APM volume 2, 15.21.4: V_IRQ, V_IGN_TPR, the vector in 39:32; V_TPR (7:0) is the guest's. */
static void an_interrupt_waits_behind_the_exception(void **state)
{
	(void)state;
	vmcb()->control.virtual_interrupt = 0x0000005500000007;
	vmcb()->control.clean = UINT32_MAX;
	upon(0x800000ef, 17, 0x80000311);
	assert_int_equal(vmcb()->control.virtual_interrupt, 0x000000ef00100107);
	assert_int_equal(vmcb()->control.clean, ~8u);
	upon(0x80000481, 17, 0x80000311); /* INT n comes again by itself */
	assert_int_equal(vmcb()->control.virtual_interrupt, 0x000000ef00100107);
}

static void an_nmi_waits_for_the_handlers_iret(void **state)
{
	uint32_t intercepts = vmcb()->control.intercept3;

	(void)state;
	vmcb()->control.clean = UINT32_MAX;
	upon(0x80000202, 17, 0x80000311);
	assert_int_equal(vmcb()->control.intercept3, intercepts | 1u << 20);
	assert_int_equal(vmcb()->control.clean, ~1u);
	vmcb()->control.clean = UINT32_MAX;
	svm_iret_exit(&vcpu);
	assert_int_equal(vmcb()->control.event_injection, 0x80000202);
	assert_int_equal(vmcb()->control.intercept3, intercepts);
	assert_int_equal(vmcb()->control.clean, ~1u);
}

static void questions_are_answered_from_the_vmcb(void **state)
{
	(void)state;
	vmcb()->save.cpl = 3;
	vmcb()->save.cr0 = 0x80000011;
	vmcb()->save.cr4 = 0x20;
	assert_int_equal(svm_privilege_level(&vcpu), 3);
	assert_int_equal(svm_read_cr0(&vcpu), 0x80000011);
	assert_int_equal(svm_read_cr4(&vcpu), 0x20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(exactly_the_guarded_events_exit, make_vcpu),
		cmocka_unit_test_setup(only_the_boot_processors_init_exits, make_vcpu),
		cmocka_unit_test_setup(with_shadow_paging_more_exits, make_vcpu),
		cmocka_unit_test_setup(the_first_run_loads_all_and_flushes_all, make_vcpu),
		cmocka_unit_test_setup(segments_are_those_of_the_state, make_vcpu),
		cmocka_unit_test_setup(registers_are_those_of_the_state, make_vcpu),
		cmocka_unit_test_setup(all_else_is_as_after_a_reset, make_vcpu),
		cmocka_unit_test_setup(init_leaves_what_it_has_to, make_vcpu),
		cmocka_unit_test_setup(the_processor_has_the_guests_msrs_when_it_runs, make_vcpu),
		cmocka_unit_test_setup(it_waits_for_init_with_gif_set, make_vcpu),
		cmocka_unit_test_setup(efer_hides_what_svm_needs, make_vcpu),
		cmocka_unit_test_setup(cpuid_exits_until_it_is_released, make_vcpu),
		cmocka_unit_test_setup(events_are_written_as_the_manual_says, make_vcpu),
		cmocka_unit_test_setup(in_real_mode_there_are_no_error_codes, make_vcpu),
		cmocka_unit_test_setup(exceptions_combine_to_a_double_fault, make_vcpu),
		cmocka_unit_test_setup(upon_a_double_fault_it_is_a_shutdown, make_vcpu),
		cmocka_unit_test_setup(an_interrupt_waits_behind_the_exception, make_vcpu),
		cmocka_unit_test_setup(an_nmi_waits_for_the_handlers_iret, make_vcpu),
		cmocka_unit_test_setup(questions_are_answered_from_the_vmcb, make_vcpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
