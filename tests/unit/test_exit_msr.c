// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMSR and WRMSR of the guarded registers: what the guest may set in EFER, where its APIC
 * may not go, and that whatever the processor refuses is #GP and changes nothing.
 */
#include "support.h"

#include <string.h>

#include "fake_vendor.h"
#include "core/cpu.h"
#include "core/guest_space.h"
#include "lib/errno.h"

static uint32_t last_leaf, features_ecx, features_edx;

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	switch (leaf) {
	case CPUID_EXT_MAX:
		return (struct cpuid_result){.eax = last_leaf};
	case CPUID_EXT_FEATURES:
		return (struct cpuid_result){.ecx = features_ecx, .edx = features_edx};
	case CPUID_EXT_FEATURES_2:
		return (struct cpuid_result){.eax = CPUID_EXT21_EAX_AUTOIBRS};
	default:
		return (struct cpuid_result){0};
	}
}

static uint64_t apic_base;
static bool is_x2apic;

static uint64_t fake_rdmsr(uint32_t msr)
{
	assert_int_equal(msr, 0x1b);
	return apic_base;
}

bool lapic_is_x2apic(void)
{
	return is_x2apic;
}

#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#define rdmsr(msr)	     fake_rdmsr(msr)
#include "core/exit_msr.c"

#define KEPT	  0x7f800000
#define KEPT_SIZE (8 * MIB)

static struct vcpu vcpu;

/* The real machine: one register, which may refuse. */
static uint32_t machine_msr;
static uint64_t machine_value;
static unsigned int machine_accesses;
static bool machine_refuses;

int rdmsr_checked(uint32_t msr, uint64_t *value)
{
	machine_accesses++;
	machine_msr = msr;
	*value = machine_value;
	return machine_refuses ? -EINVAL : 0;
}

int wrmsr_checked(uint32_t msr, uint64_t value)
{
	machine_accesses++;
	machine_msr = msr;
	if (machine_refuses)
		return -EINVAL;
	machine_value = value;
	return 0;
}

bool guest_space_is_kept(gpa_t address, uint64_t size)
{
	return address.raw < KEPT + KEPT_SIZE && address.raw + size > KEPT;
}

bool mtrr_is_one(uint32_t msr)
{
	return msr == MSR_MTRR_DEF_TYPE;
}

/* ---- the guest's processors, and its APIC's command register ---- */

static unsigned int processors;
static uint64_t command; /* the last one that was seen */
static bool is_startup;

unsigned int smp_guest_count(void)
{
	return processors;
}

bool smp_write_command(uint64_t value)
{
	command = value;
	return is_startup;
}

/* What the VMI ROM was told of, and how often the machine's register had been written by then */
static uint64_t noted_base;
static unsigned int accesses_before_note;

void vmi_apic_note_base(uint64_t base)
{
	noted_base = base;
	accesses_before_note = machine_accesses;
}

static int reset(void **state)
{
	(void)state;
	noted_base = 0;
	processors = 1;
	command = 0;
	is_startup = is_x2apic = false;
	apic_base = 0xfee00900;
	console_clear();
	memset(&vcpu, 0, sizeof(vcpu));
	memset(&guest, 0, sizeof(guest));
	features_edx = CPUID_EXT1_EDX_NX | CPUID_EXT1_EDX_FFXSR;
	features_ecx = CPUID_EXT1_ECX_TCE;
	last_leaf = CPUID_EXT_ADDRESS_SIZES;
	machine_value = 0x1122334455667788;
	machine_accesses = 0;
	machine_refuses = false;
	return 0;
}

static void write_msr_as_guest(uint32_t msr, uint64_t value)
{
	guest.skips = guest.injections = 0;
	vcpu.regs.rcx = msr | 0xdead00000000; /* upper halves don't count */
	vcpu.regs.rax = (value & UINT32_MAX) | 0xbeef00000000;
	vcpu.regs.rdx = value >> 32 | 0xbeef00000000;
	exit_wrmsr(&vcpu);
}

static void read_msr_as_guest(uint32_t msr)
{
	guest.skips = guest.injections = 0;
	vcpu.regs.rcx = msr | 0xdead00000000;
	vcpu.regs.rax = vcpu.regs.rdx = UINT64_MAX;
	exit_rdmsr(&vcpu);
}

static void assert_done(void)
{
	assert_int_equal(guest.skips, 1);
	assert_int_equal(guest.injections, 0);
}

static void assert_fault(void)
{
	assert_int_equal(guest.skips, 0);
	assert_int_equal(guest.injections, 1);
	assert_int_equal(guest.vector, VECTOR_GP);
	assert_int_equal(guest.error_code, 0);
}

static void assert_registers(uint64_t value)
{
	assert_int_equal(vcpu.regs.rax, value & UINT32_MAX);
	assert_int_equal(vcpu.regs.rdx, value >> 32);
}

static void a_read_fills_both_halves(void **state)
{
	(void)state;
	read_msr_as_guest(0x12345678);
	assert_done();
	assert_int_equal(machine_msr, 0x12345678);
	assert_registers(0x1122334455667788);
}

static void a_read_that_the_processor_refuses_faults_and_changes_nothing(void **state)
{
	(void)state;
	machine_refuses = true;
	read_msr_as_guest(0x12345678);
	assert_fault();
	assert_int_equal(vcpu.regs.rax, UINT64_MAX);
	assert_int_equal(vcpu.regs.rdx, UINT64_MAX);
}

static void a_write_takes_both_halves(void **state)
{
	(void)state;
	write_msr_as_guest(0x12345678, 0xaabbccdd00112233);
	assert_done();
	assert_int_equal(machine_msr, 0x12345678);
	assert_int_equal(machine_value, 0xaabbccdd00112233);
}

static void a_write_that_the_processor_refuses_faults(void **state)
{
	(void)state;
	machine_refuses = true;
	write_msr_as_guest(0x12345678, 1);
	assert_fault();
}

static void the_vendors_own_msrs_are_not_there(void **state)
{
	(void)state;
	read_msr_as_guest(HIDDEN_MSR);
	assert_fault();
	write_msr_as_guest(HIDDEN_MSR, 0);
	assert_fault();
	assert_int_equal(machine_accesses, 0);
}

/* A hypervisor below Vellum would take the guest's addresses for the machine's. */
static void another_hypervisors_msrs_are_not_there(void **state)
{
	static const uint32_t msrs[] = {0x40000000, 0x4b564d00, 0x4fffffff};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(msrs); i++) {
		reset(NULL);
		read_msr_as_guest(msrs[i]);
		assert_fault();
		write_msr_as_guest(msrs[i], 1);
		assert_fault();
		assert_int_equal(machine_accesses, 0);
	}
	read_msr_as_guest(0x3fffffff);
	read_msr_as_guest(0x50000000);
	assert_int_equal(machine_accesses, 2);
}

static void what_moves_memory_may_be_read_only(void **state)
{
	(void)state;
	read_msr_as_guest(KEPT_MSR);
	assert_int_equal(machine_accesses, 1);
	assert_int_equal(guest.injections, 0);
	write_msr_as_guest(KEPT_MSR, 0);
	assert_int_equal(machine_accesses, 1);
	assert_int_equal(guest.injections, 1);
}

/* ---- EFER ---- */

static void efer_is_the_guests_and_not_the_machines(void **state)
{
	(void)state;
	guest.efer = EFER_LME | EFER_NXE;
	read_msr_as_guest(MSR_EFER);
	assert_done();
	assert_registers(EFER_LME | EFER_NXE);
	write_msr_as_guest(MSR_EFER, EFER_LME | EFER_SCE);
	assert_done();
	assert_int_equal(guest.efer, EFER_LME | EFER_SCE);
	assert_int_equal(machine_accesses, 0);
}

static void efer_takes_exactly_the_bits_that_the_processor_has(void **state)
{
	const uint64_t all = EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE | EFER_FFXSR | EFER_TCE;

	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		guest.efer = 0;
		write_msr_as_guest(MSR_EFER, BIT(bit));
		if (all & BIT(bit))
			assert_done();
		else
			assert_fault();
		assert_int_equal(guest.efer, BIT(bit) & all & ~EFER_LMA);
	}
}

static void efer_bits_of_absent_features_fault(void **state)
{
	(void)state;
	features_edx &= ~(uint32_t)CPUID_EXT1_EDX_NX;
	write_msr_as_guest(MSR_EFER, EFER_NXE);
	assert_fault();
	features_edx &= ~(uint32_t)CPUID_EXT1_EDX_FFXSR;
	write_msr_as_guest(MSR_EFER, EFER_FFXSR);
	assert_fault();
	features_ecx &= ~(uint32_t)CPUID_EXT1_ECX_TCE;
	write_msr_as_guest(MSR_EFER, EFER_TCE);
	assert_fault();
	features_edx = features_ecx = 0;
	write_msr_as_guest(MSR_EFER, EFER_SCE | EFER_LME);
	assert_done();
}

/* The processor would #GP; in a VMCB it would end the guest, as invalid state. */
static void a_bit_of_a_later_leaf_needs_that_leaf(void **state)
{
	(void)state;
	write_msr_as_guest(MSR_EFER, EFER_AUTOIBRS);
	assert_fault();
	last_leaf = CPUID_EXT_FEATURES_2;
	write_msr_as_guest(MSR_EFER, EFER_AUTOIBRS);
	assert_int_equal(guest.efer, EFER_AUTOIBRS);
}

static void long_mode_enable_is_fixed_while_paging_is_on(void **state)
{
	(void)state;
	guest.cr0 = CR0_PG;
	write_msr_as_guest(MSR_EFER, EFER_LME);
	assert_fault();
	assert_int_equal(guest.efer, 0);
	guest.efer = EFER_LME | EFER_LMA;
	write_msr_as_guest(MSR_EFER, EFER_SCE);
	assert_fault();
	assert_int_equal(guest.efer, EFER_LME | EFER_LMA);
	write_msr_as_guest(MSR_EFER, EFER_LME | EFER_LMA | EFER_NXE);
	assert_done();
	guest.cr0 = CR0_PE;
	guest.efer = EFER_LME;
	write_msr_as_guest(MSR_EFER, 0);
	assert_done();
	assert_int_equal(guest.efer, 0);
}

static void long_mode_active_is_the_processors(void **state)
{
	(void)state;
	guest.efer = 0;
	write_msr_as_guest(MSR_EFER, EFER_LMA);
	assert_int_equal(guest.efer, 0);
	guest.cr0 = CR0_PG;
	guest.efer = EFER_LME | EFER_LMA;
	write_msr_as_guest(MSR_EFER, EFER_LME | EFER_SCE);
	assert_done();
	assert_int_equal(guest.efer, EFER_LME | EFER_LMA | EFER_SCE);
}

/* ---- the APIC's base ---- */

static void the_apic_may_go_beside_vellum(void **state)
{
	(void)state;
	write_msr_as_guest(MSR_APIC_BASE, 0xfee00900);
	assert_done();
	assert_int_equal(machine_msr, MSR_APIC_BASE);
	assert_int_equal(machine_value, 0xfee00900);
	write_msr_as_guest(MSR_APIC_BASE, (KEPT - PAGE_SIZE) | 0xfff);
	assert_done();
	write_msr_as_guest(MSR_APIC_BASE, (KEPT + KEPT_SIZE) | 0x900);
	assert_done();
}

/* The ROM must not take the window for the APIC once that is elsewhere. */
static void the_rom_knows_before_the_apic_moves(void **state)
{
	(void)state;
	write_msr_as_guest(MSR_APIC_BASE, 0xfee00d00);
	assert_int_equal(noted_base, 0xfee00d00);
	assert_int_equal(accesses_before_note, 0);
	write_msr_as_guest(MSR_APIC_BASE, KEPT | 0x900);
	assert_int_equal(noted_base, 0xfee00d00);
}

static void the_apic_may_not_cover_vellum(void **state)
{
	(void)state;
	write_msr_as_guest(MSR_APIC_BASE, KEPT | 0x900);
	assert_fault();
	write_msr_as_guest(MSR_APIC_BASE, KEPT + KEPT_SIZE - 1);
	assert_fault();
	write_msr_as_guest(MSR_APIC_BASE,
			   KEPT | 0xfff0000000000000); /* reserved bits hide nothing */
	assert_fault();
	assert_int_equal(machine_accesses, 0);
	assert_console(LOG_WARN, "guest wants its APIC at 7f800900");
}

/*
 * Several processors: where the APIC's page is caught, it is caught at one place; and Vellum
 * itself writes to the APIC of each processor that INIT reaches.
 */
static void with_several_processors_the_apic_stays(void **state)
{
	(void)state;
	processors = 2;
	write_msr_as_guest(MSR_APIC_BASE, 0xfee00d00); /* x2APIC mode */
	assert_done();
	assert_int_equal(machine_value, 0xfee00d00);
	write_msr_as_guest(MSR_APIC_BASE, 0xfee01900);
	assert_fault();
	write_msr_as_guest(MSR_APIC_BASE, 0xfffee00900);
	assert_fault();
	assert_int_equal(machine_accesses, 1);
	processors = 1;
	write_msr_as_guest(MSR_APIC_BASE, 0xfee01900);
	assert_done();
}

static void a_command_that_starts_or_stops_processors_is_vellums(void **state)
{
	(void)state;
	is_x2apic = is_startup = true;
	write_msr_as_guest(0x830, 0x0000000300004699);
	assert_done();
	assert_int_equal(command, 0x0000000300004699);
	assert_int_equal(machine_accesses, 0);
}

static void any_other_command_is_the_machines(void **state)
{
	(void)state;
	is_x2apic = true;
	write_msr_as_guest(0x830, 0x00000003000040fd);
	assert_done();
	assert_int_equal(machine_msr, 0x830);
	assert_int_equal(machine_value, 0x00000003000040fd);
	machine_refuses = true;
	write_msr_as_guest(0x830, 0x00000003000040fd);
	assert_fault();
}

/* In xAPIC mode the processor has no such register. */
static void outside_of_x2apic_mode_there_is_no_command(void **state)
{
	(void)state;
	is_startup = machine_refuses = true;
	write_msr_as_guest(0x830, 0x0000000300004699);
	assert_fault();
	assert_int_equal(command, 0);
}

static void an_mtrr_write_tells_the_vendor(void **state)
{
	(void)state;
	write_msr_as_guest(MSR_MTRR_DEF_TYPE, 0xc06);
	assert_int_equal(machine_value, 0xc06);
	assert_int_equal(guest.type_changes, 1);
}

static void other_writes_and_refused_ones_do_not(void **state)
{
	(void)state;
	write_msr_as_guest(MSR_MTRR_DEF_TYPE + 1, 0xc06);
	machine_refuses = true;
	write_msr_as_guest(MSR_MTRR_DEF_TYPE, 0xc06);
	assert_int_equal(guest.type_changes, 0);
}

/* SDM volume 4, IA32_MISC_ENABLE: bit 34, XD bit disable */
static void execute_disable_stays_on(void **state)
{
	(void)state;
	write_msr_as_guest(0x1a0, 0x850089);
	assert_done();
	assert_int_equal(machine_msr, 0x1a0);
	assert_int_equal(machine_value, 0x850089);
	assert_console_quiet();
	for (unsigned int i = 0; i < 3; i++) {
		write_msr_as_guest(0x1a0, 0x400850088);
		assert_done();
		assert_int_equal(machine_value, 0x850088);
	}
	assert_console(LOG_WARN, "execute-disable");
	assert_int_equal(console_count(LOG_WARN), 1);
	machine_refuses = true;
	write_msr_as_guest(0x1a0, 0);
	assert_fault();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, reset)
		T(a_read_fills_both_halves),
		T(a_read_that_the_processor_refuses_faults_and_changes_nothing),
		T(a_write_takes_both_halves),
		T(a_write_that_the_processor_refuses_faults),
		T(the_vendors_own_msrs_are_not_there),
		T(another_hypervisors_msrs_are_not_there),
		T(what_moves_memory_may_be_read_only),
		T(efer_is_the_guests_and_not_the_machines),
		T(efer_takes_exactly_the_bits_that_the_processor_has),
		T(efer_bits_of_absent_features_fault),
		T(a_bit_of_a_later_leaf_needs_that_leaf),
		T(long_mode_enable_is_fixed_while_paging_is_on),
		T(long_mode_active_is_the_processors),
		T(the_apic_may_go_beside_vellum),
		T(the_apic_may_not_cover_vellum),
		T(the_rom_knows_before_the_apic_moves),
		T(with_several_processors_the_apic_stays),
		T(a_command_that_starts_or_stops_processors_is_vellums),
		T(any_other_command_is_the_machines),
		T(outside_of_x2apic_mode_there_is_no_command),
		T(an_mtrr_write_tells_the_vendor),
		T(other_writes_and_refused_ones_do_not),
		T(execute_disable_stays_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
