// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow paging on VT-x: what exits, what the processor runs with beside what the guest reads,
 * and what becomes of a #PF that exits. Emulators drop all translations at each exit: that
 * INVVPID is done where it has to be is seen only here.
 */
#include "support.h"

#include <setjmp.h>
#include <string.h>

#include "core/cpu.h"
#include "fake_vmcs.h"

static uint64_t efer, cr2, ept_capabilities;
static const char *missing;

static uint64_t fake_rdmsr(uint32_t msr)
{
	assert_int_equal(msr, MSR_EFER);
	return efer;
}

static void fake_wrmsr(uint32_t msr, uint64_t value)
{
	assert_int_equal(msr, MSR_EFER);
	efer = value;
}

#define rdmsr(msr)	  fake_rdmsr(msr)
#define wrmsr(msr, value) fake_wrmsr(msr, value)
#define write_cr2(value)  ((void)(cr2 = (value)))
#include "vmx/paging.c"

static struct vcpu vcpu;
static struct shadow_context shadow;
static struct guest_paging given; /* to core/ */
static jmp_buf stopped;
static bool is_hidden, types_are_followed;
static unsigned int number, memory_inits, steps_kept, skipped;
static uint64_t value_given, cache_control;

static void follow_memory_types(void)
{
}

const struct vendor vmx_vendor = {.memory_types_changed = follow_memory_types};

const char *vmx_missing_for_nested(void)
{
	return missing;
}

uint64_t vmx_ept_capabilities(void)
{
	return ept_capabilities;
}

int vmx_bitmaps_init(void)
{
	return 0;
}

int vmx_memory_init(void)
{
	memory_inits++;
	return 0;
}

int vmx_vcpu_init(struct vcpu *v)
{
	(void)v;
	return 0;
}

int paging_prepare(void)
{
	return 0;
}

int paging_attach(struct vcpu *v)
{
	v->shadow = &shadow;
	return 0;
}

struct guest_paging vmx_guest_paging(const struct vcpu *v)
{
	struct guest_paging paging = v->shadow->guest;

	paging.cr0 = (vmcs[VMCS_GUEST_CR0] & ~vmcs[VMCS_CR0_MASK]) |
		     (vmcs[VMCS_CR0_SHADOW] & vmcs[VMCS_CR0_MASK]);
	return paging;
}

void vmx_load_cache_control(uint64_t cr0)
{
	cache_control = cr0 & (CR0_CD | CR0_NW);
}

void vmx_keep_single_step_in_shadow(void)
{
	steps_kept++;
}

bool vmx_in_64bit_code(void)
{
	return vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E;
}

uint64_t vmx_read_register(const struct vcpu *v, unsigned int which)
{
	return (&v->regs.rax)[which];
}

void vmx_write_register(struct vcpu *v, unsigned int which, uint64_t value)
{
	(&v->regs.rax)[which] = value;
}

void vmx_skip_instruction(struct vcpu *v)
{
	(void)v;
	skipped++;
}

void vmx_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	assert_ptr_equal(v, &vcpu);
	vmcs[VMCS_ENTRY_INTERRUPTION] = vector | INTERRUPTION_EXCEPTION | INTERRUPTION_VALID;
	vmcs[VMCS_ENTRY_ERROR_CODE] = (uint64_t)error_code;
}

_Noreturn void exit_real_mode(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	longjmp(stopped, 1);
}

void exit_page_fault(struct vcpu *v, gva_t address, uint32_t error_code)
{
	if (!is_hidden)
		inject_page_fault(v, address, error_code);
}

uint64_t exit_read_control_register(const struct vcpu *v, unsigned int which)
{
	assert_int_equal(which, 3);
	return v->shadow->guest.cr3;
}

void exit_write_control_register(struct vcpu *v, unsigned int which, uint64_t value)
{
	given = v->shadow->guest;
	number = which;
	value_given = value;
}

void exit_lmsw(struct vcpu *v, uint16_t value)
{
	given = v->shadow->guest;
	value_given = value;
}

void exit_invlpg(struct vcpu *v, gva_t address)
{
	(void)v;
	value_given = address.raw;
}

void paging_write_efer(struct vcpu *v, uint64_t value)
{
	given = v->shadow->guest;
	v->shadow->guest.efer = value;
}

/* What vcpu.c has set, with all that a processor may have. */
static void start(const char *lacks)
{
	missing = lacks;
	types_are_followed = vmx_with_shadow_paging()->memory_types_changed;
	assert_int_equal(shared_init(), 0);
	assert_int_equal(vcpu_init(&vcpu), 0);
	vmcs[VMCS_SECONDARY_CONTROLS] = SECONDARY_EPT | SECONDARY_UNRESTRICTED | SECONDARY_VPID |
					SECONDARY_INVPCID | SECONDARY_RDTSCP;
	vmcs[VMCS_EXIT_CONTROLS] = EXIT_HOST_64BIT | EXIT_SAVE_EFER | EXIT_LOAD_EFER;
	vmcs[VMCS_ENTRY_CONTROLS] = ENTRY_LOAD_DEBUG | ENTRY_LOAD_EFER;
	vmcs[VMCS_EXCEPTION_BITMAP] = BIT(VECTOR_DB);
	vmx_catch_paging();
}

static int make_machine(void **state)
{
	(void)state;
	memset(vmcs, 0, sizeof(vmcs));
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&shadow, 0, sizeof(shadow));
	memory_inits = steps_kept = skipped = 0;
	efer = EFER_LME | EFER_LMA | EFER_NXE | EFER_SCE;
	ept_capabilities = 0;
	is_hidden = false;
	start("EPT");
	return 0;
}

/* As core/ does: the guest's registers, and what the processor gets for them. */
static void load(uint64_t cr0, uint64_t cr4, uint64_t guest_efer)
{
	struct guest_paging hardware = {cr0 | CR0_PG | CR0_WP, 0x5000, cr4 | CR4_PAE,
					guest_efer | EFER_NXE};

	shadow.guest = (struct guest_paging){cr0, 0x1000, cr4, guest_efer};
	load_paging(&vcpu, &hardware);
}

static void what_changes_translations_exits(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x4002], 1u << 9 | 1u << 15 | 1u << 16);
	assert_int_equal(vmcs[0x4004], 1u << 1 | 1u << 14);
	/* CR0: PE, NE, WP, NW, CD, PG; so neither CLTS nor a lazy FPU's TS */
	assert_int_equal(vmcs[0x6000], 0xe0010021);
	/* CR4: PSE, PAE, PGE, LA57, VMXE, SMXE, PCIDE, SMEP, SMAP, PKE, CET, and what is not known
	 */
	assert_int_equal(vmcs[0x6002], ~0x50f4full);
}

static void without_ept_and_vpids_nothing_is_left_of_them(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x401e], SECONDARY_RDTSCP);
	assert_int_equal(memory_inits, 0);
	assert_false(types_are_followed);
	flush(&vcpu); /* INVVPID would be #UD here */
}

static void efer_is_shared_but_for_syscall(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x400c], EXIT_HOST_64BIT);
	assert_int_equal(vmcs[0x4012], ENTRY_LOAD_DEBUG);
	assert_int_equal(efer, 0xd00);
	write_efer(&vcpu, EFER_SCE);
	assert_int_equal(efer, 0xd01);
	assert_int_equal(read_efer_of(&vcpu), EFER_SCE);
	write_efer(&vcpu, EFER_NXE);
	assert_int_equal(efer, 0xd00);
}

static void the_guest_reads_its_own_registers(void **state)
{
	(void)state;
	load(CR0_PE | CR0_PG | CR0_TS | CR0_CD, CR4_PSE, 0);
	assert_int_equal(vmcs[VMCS_CR0_SHADOW], CR0_PE | CR0_PG | CR0_TS | CR0_CD);
	assert_int_equal(vmcs[VMCS_CR4_SHADOW], CR4_PSE);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], CR0_PE | CR0_NE | CR0_PG | CR0_TS | CR0_CD | CR0_WP);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], 0x5000);
	assert_int_equal(vmcs[VMCS_GUEST_CR4], CR4_PSE | CR4_PAE | CR4_VMXE);
	assert_int_equal(cache_control, CR0_CD);
	assert_false(vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E);
	load(CR0_PE | CR0_PG, CR4_PAE, EFER_LME | EFER_LMA);
	assert_true(vmcs[VMCS_ENTRY_CONTROLS] & ENTRY_IA32E);
}

static void an_old_processor_pages_always_and_has_no_real_mode(void **state)
{
	(void)state;
	load(CR0_PE, 0, 0);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], CR0_PE | CR0_NE | CR0_PG | CR0_WP);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], 0x5000);
	if (!setjmp(stopped)) {
		load(0, 0, 0);
		fail_msg("real mode has not ended the guest");
	}
}

static void a_newer_one_runs_on_ept_while_the_guest_does_not_page(void **state)
{
	const uint64_t ept = SECONDARY_EPT | SECONDARY_UNRESTRICTED;

	(void)state;
	start(NULL);
	assert_int_equal(memory_inits, 1);
	assert_true(types_are_followed);
	load(0, 0, 0);
	assert_int_equal(vmcs[0x401e] & ept, ept);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], CR0_NE);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], 0x1000);
	load(CR0_PE | CR0_PG, 0, 0);
	assert_int_equal(vmcs[0x401e] & ept, 0);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], 0x5000);
}

/* TS is the guest's to write: what core/ starts from has it. */
static void the_guests_own_bits_come_to_core(void **state)
{
	(void)state;
	load(CR0_PE | CR0_PG, 0, 0);
	vmcs[VMCS_GUEST_CR0] |= CR0_TS;
	vcpu.regs.rcx = 0x1122334400000000 | CR0_PE;
	vmcs[VMCS_EXIT_QUALIFICATION] = 0 | CR_EXIT_MOV_TO << 4 | 1 << 8;
	vmx_paging_register_exit(&vcpu);
	assert_int_equal(given.cr0, CR0_PE | CR0_PG | CR0_TS);
	assert_int_equal(number, 0);
	assert_int_equal(value_given, CR0_PE);
	vmcs[VMCS_ENTRY_CONTROLS] |= ENTRY_IA32E;
	vmx_paging_register_exit(&vcpu);
	assert_int_equal(value_given, 0x1122334400000000 | CR0_PE);
	vmcs[VMCS_EXIT_QUALIFICATION] = CR_EXIT_LMSW << 4 | 0x1230000;
	vmx_paging_register_exit(&vcpu);
	assert_int_equal(value_given, 0x123);
}

static void cr3_is_read_as_it_was_written(void **state)
{
	(void)state;
	load(CR0_PE | CR0_PG, 0, 0);
	vmcs[VMCS_EXIT_QUALIFICATION] = 3 | CR_EXIT_MOV_FROM << 4 | 2 << 8;
	vmx_paging_register_exit(&vcpu);
	assert_int_equal(vcpu.regs.rdx, 0x1000);
	assert_int_equal(skipped, 1);
	vmcs[VMCS_EXIT_QUALIFICATION] = 0xc0001234;
	vmx_invlpg_exit(&vcpu);
	assert_int_equal(value_given, 0xc0001234);
}

static void fault_in_iret(bool hidden)
{
	is_hidden = hidden;
	vmcs[VMCS_EXIT_QUALIFICATION] = 0xbadd000;
	vmcs[VMCS_EXIT_ERROR_CODE] = 6;
	vmcs[VMCS_EXIT_INTERRUPTION] = 0x80000b0e | BIT(12);
	vmcs[VMCS_ENTRY_INTERRUPTION] = vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 0;
	vmx_page_fault_exit(&vcpu);
}

/* SDM volume 3C, 28.7.1.2: an IRET that is executed again is still in its NMI handler. */
static void an_iret_unblocks_nmis_when_its_fault_is_the_guests(void **state)
{
	(void)state;
	fault_in_iret(true);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], BLOCKING_NMI);
	fault_in_iret(false);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
	assert_int_equal(vmcs[VMCS_ENTRY_ERROR_CODE], 6);
	assert_int_equal(cr2, 0xbadd000);
	assert_int_equal(steps_kept, 2);
}

/* SDM volume 3C, 28.3.3: the exit has set RF, as for the #PF. */
static void an_interrupt_that_is_delivered_again_pushes_no_rf(void **state)
{
	(void)state;
	is_hidden = true;
	vmcs[VMCS_GUEST_RFLAGS] = RFLAGS_RF | 2;
	vmx_page_fault_exit(&vcpu);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], RFLAGS_RF | 2);
	vmcs[VMCS_ENTRY_INTERRUPTION] = VECTOR_GP | INTERRUPTION_EXCEPTION | INTERRUPTION_VALID;
	vmx_page_fault_exit(&vcpu);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], RFLAGS_RF | 2);
	vmcs[VMCS_ENTRY_INTERRUPTION] = 0x80 | INTERRUPTION_SOFTWARE | INTERRUPTION_VALID;
	vmx_page_fault_exit(&vcpu);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_machine)
		T(what_changes_translations_exits),
		T(without_ept_and_vpids_nothing_is_left_of_them),
		T(efer_is_shared_but_for_syscall),
		T(the_guest_reads_its_own_registers),
		T(an_old_processor_pages_always_and_has_no_real_mode),
		T(a_newer_one_runs_on_ept_while_the_guest_does_not_page),
		T(the_guests_own_bits_come_to_core),
		T(cr3_is_read_as_it_was_written),
		T(an_iret_unblocks_nmis_when_its_fault_is_the_guests),
		T(an_interrupt_that_is_delivered_again_pushes_no_rf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
