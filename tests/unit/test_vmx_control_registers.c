// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writes to CR0 and CR4 that exit: each combination of CR0's bits against the rules of
 * SDM volume 2, MOV to control registers, written down here a second time. Whatever comes of
 * a write, the guest must be one that VT-x lets in.
 */
#include "support.h"

#include <string.h>

#include "vm_entry.h"
#include "vmx/vmx.h"

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	assert_int_equal(leaf, CPUID_EXT_ADDRESS_SIZES);
	return (struct cpuid_result){.eax = 0x3000 | ENTRY_PHYSICAL_BITS};
}

static uint64_t machine_cr0;
static unsigned int machine_writes;

static uint64_t fake_read_cr0(void)
{
	return machine_cr0;
}

static void fake_write_cr0(uint64_t value)
{
	machine_cr0 = value;
	machine_writes++;
}

#define read_cr0()	     fake_read_cr0()
#define write_cr0(value)     fake_write_cr0(value)
#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#include "vmx/control_registers.c"

#define ARENA			      (1 * MIB)
#define PDPT			      0x2020
#define HOST_CR0		      0x80010031ull
#define QUALIFY(number, type, source) ((number) | (type) << 4 | (source) << 8)

static struct e820_map map;
static struct vcpu vcpu;
static unsigned int injected, skipped, flushed, shadowed;

void vmx_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	assert_ptr_equal(v, &vcpu);
	assert_int_equal(vector, VECTOR_GP);
	assert_int_equal(error_code, 0);
	injected++;
}

void vmx_skip_instruction(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	skipped++;
}

void vmx_flush(void)
{
	flushed++;
}

uint64_t vmx_read_cr0(const struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	return (vmcs[VMCS_GUEST_CR0] & ~CR0_NE) | (vmcs[VMCS_CR0_SHADOW] & CR0_NE);
}

void vmx_paging_register_exit(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	shadowed++;
}

static int make_guest(void **state)
{
	(void)state;
	arena_create(ARENA);
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, 0x9f000, E820_RAM);
	guest_memory_init(&map);
	make_enterable_guest();
	vmcs[VMCS_CR0_SHADOW] = CR0_PE | CR0_ET;
	vmcs[VMCS_GUEST_CR3] = PDPT;
	memset(&vcpu, 0, sizeof(vcpu));
	injected = skipped = flushed = 0;
	machine_cr0 = HOST_CR0;
	machine_writes = 0;
	return 0;
}

static void write_register(unsigned int number, uint64_t value)
{
	injected = skipped = flushed = 0;
	vcpu.regs.rcx = value;
	vmcs[VMCS_EXIT_QUALIFICATION] = QUALIFY(number, 0, 1);
	vmx_cr_exit(&vcpu);
	assert_int_equal(injected + skipped, 1);
	assert_can_enter();
}

static void enter_long_mode(void)
{
	vmcs[VMCS_ENTRY_CONTROLS] = ENTRY_IA32E;
	vmcs[VMCS_GUEST_EFER] = EFER_LME | EFER_LMA;
	vmcs[VMCS_GUEST_CR0] |= CR0_PG;
	vmcs[VMCS_GUEST_CR4] |= CR4_PAE;
}

/* Bits of CR0 that decide, or that must be left alone */
static const uint64_t cr0_bits[] = {CR0_PE,  BIT(1), BIT(3), CR0_ET, CR0_NE, CR0_WP,
				    BIT(18), CR0_NW, CR0_CD, CR0_PG, BIT(32)};

static uint64_t combination(unsigned int number)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(cr0_bits); i++)
		value |= number >> i & 1 ? cr0_bits[i] : 0;
	return value;
}

static bool manual_allows(uint64_t cr0, uint64_t efer, uint64_t cr4)
{
	if (cr0 & BIT(32))
		return false;
	if ((cr0 & CR0_PG) && !(cr0 & CR0_PE))
		return false;
	if ((cr0 & CR0_NW) && !(cr0 & CR0_CD))
		return false;
	if (!(cr0 & CR0_WP) && (cr4 & BIT(23)))
		return false;
	return !(cr0 & CR0_PG) || !(efer & EFER_LME) || (cr4 & CR4_PAE);
}

static void assert_loaded(uint64_t value, uint64_t efer)
{
	bool long_mode = (efer & EFER_LME) && (value & CR0_PG);

	assert_int_equal(skipped, 1);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], value | CR0_NE | CR0_ET);
	assert_int_equal(vmcs[VMCS_CR0_SHADOW] & CR0_NE, value & CR0_NE);
	assert_int_equal(vmcs[VMCS_GUEST_EFER], long_mode ? efer | EFER_LMA : efer);
	assert_int_equal(vmcs[VMCS_ENTRY_CONTROLS], long_mode ? ENTRY_IA32E : 0);
}

static void try_combinations(uint64_t efer, uint64_t cr4)
{
	for (unsigned int i = 0; i < 1u << ARRAY_SIZE(cr0_bits); i++) {
		uint64_t value = combination(i), before;

		make_guest(NULL);
		vmcs[VMCS_GUEST_CR4] |= cr4;
		vmcs[VMCS_GUEST_EFER] = efer;
		vmcs[VMCS_GUEST_CR0] |= CR0_WP;
		before = vmcs[VMCS_GUEST_CR0];
		write_register(0, value);
		if (manual_allows(value, efer, cr4)) {
			assert_loaded(value, efer);
		} else {
			assert_int_equal(injected, 1);
			assert_int_equal(vmcs[VMCS_GUEST_CR0], before);
			assert_int_equal(vmcs_writes, 0);
		}
		assert_int_equal(flushed, 0);
	}
}

static void every_combination_is_as_the_manual_says(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		try_combinations(i & 1 ? EFER_LME : 0,
				 (i & 2 ? CR4_PAE : 0) | (i & 4 ? BIT(23) : 0));
}

static void ne_is_shown_and_not_had(void **state)
{
	(void)state;
	write_register(0, CR0_PE | CR0_NE);
	assert_true(vmx_read_cr0(&vcpu) & CR0_NE);
	write_register(0, CR0_PE);
	assert_false(vmx_read_cr0(&vcpu) & CR0_NE);
	assert_true(vmcs[VMCS_GUEST_CR0] & CR0_NE);
}

static void long_mode_ends_with_paging(void **state)
{
	(void)state;
	enter_long_mode();
	write_register(0, CR0_PE);
	assert_int_equal(skipped, 1);
	assert_int_equal(vmcs[VMCS_GUEST_EFER], EFER_LME);
	assert_int_equal(vmcs[VMCS_ENTRY_CONTROLS], 0);
}

static void sixty_four_bit_code_can_not_stop_paging(void **state)
{
	(void)state;
	enter_long_mode();
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) = 0xa09b;
	write_register(0, CR0_PE);
	assert_int_equal(injected, 1);
	write_register(0, CR0_PE | CR0_PG); /* it goes on */
	assert_int_equal(skipped, 1);
	assert_int_equal(vmcs[VMCS_ENTRY_CONTROLS], ENTRY_IA32E);
}

static void who_has_process_contexts_can_not_either(void **state)
{
	(void)state;
	enter_long_mode();
	vmcs[VMCS_GUEST_CR4] |= BIT(17);
	write_register(0, CR0_PE);
	assert_int_equal(injected, 1);
}

static void long_mode_needs_a_cs_and_a_tr_that_fit(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_EFER] = EFER_LME;
	vmcs[VMCS_GUEST_CR4] |= CR4_PAE;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) |= ACCESS_LONG;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(injected, 1);
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_CS) &= ~ACCESS_LONG;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_TR) = 0x83;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(injected, 1);
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_TR) = 0x8b;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(skipped, 1);
}

/* SDM volume 3A, 4.10.4.1; with a VPID no entry does that. */
static void the_end_of_paging_drops_translations(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_CR0] |= CR0_PG;
	write_register(0, CR0_PE | CR0_PG | CR0_NE);
	assert_int_equal(flushed, 0);
	write_register(0, CR0_PE);
	assert_int_equal(flushed, 1);
}

/* ---- the four entries of PAE paging ---- */

static void put_pdptes(uint64_t first)
{
	uint64_t entries[4] = {first, 0x4001, 0, 0x5001};

	memcpy(arena_at(PDPT), entries, sizeof(entries));
	vmcs[VMCS_GUEST_CR4] |= CR4_PAE;
	vmcs[VMCS_GUEST_CR3] = PDPT | 0x18; /* PWT and PCD are no address */
}

static void pae_paging_loads_its_four_entries(void **state)
{
	(void)state;
	put_pdptes(0x3001);
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(skipped, 1);
	assert_int_equal(vmcs[0x280a], 0x3001);
	assert_int_equal(vmcs[0x280c], 0x4001);
	assert_int_equal(vmcs[0x280e], 0);
	assert_int_equal(vmcs[0x2810], 0x5001);
}

static void reserved_bits_of_a_present_entry_fault(void **state)
{
	(void)state;
	for (unsigned int bit = 1; bit < 64; bit++) {
		bool reserved = bit <= 2 || (bit >= 5 && bit <= 8) || bit >= ENTRY_PHYSICAL_BITS;

		make_guest(NULL);
		put_pdptes(1 | BIT(bit));
		write_register(0, CR0_PE | CR0_PG);
		assert_int_equal(injected, reserved);
		assert_int_equal(vmcs[0x280a], reserved ? 0 : 1 | BIT(bit));
		make_guest(NULL);
		put_pdptes(BIT(bit)); /* not present: the rest does not matter */
		write_register(0, CR0_PE | CR0_PG);
		assert_int_equal(skipped, 1);
	}
}

static void entries_that_can_not_be_read_fault(void **state)
{
	(void)state;
	put_pdptes(0x3001);
	vmcs[VMCS_GUEST_CR3] = 0x9f000;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(injected, 1);
	assert_int_equal(vmcs[VMCS_GUEST_CR0] & CR0_PG, 0);
	vmcs[VMCS_GUEST_CR3] = 0x9f000 - 32;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(skipped, 1);
}

static void other_kinds_of_paging_have_none(void **state)
{
	(void)state;
	put_pdptes(0x3001);
	vmcs[VMCS_GUEST_CR4] &= ~CR4_PAE;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(vmcs[0x280a], 0);
	make_guest(state);
	put_pdptes(0x3001);
	vmcs[VMCS_GUEST_EFER] = EFER_LME;
	write_register(0, CR0_PE | CR0_PG);
	assert_int_equal(vmcs[0x280a], 0);
	make_guest(state);
	put_pdptes(0x3001);
	write_register(0, CR0_PE);
	assert_int_equal(vmcs[0x280a], 0);
}

/* SDM volume 3A, 4.4.1: what lies in memory by now, good or bad, is not looked at. */
static void only_paging_and_cache_bits_load_them_again(void **state)
{
	(void)state;
	put_pdptes(0x3001);
	write_register(0, CR0_PE | CR0_PG);
	put_pdptes(0x1e7); /* reserved bits */
	write_register(0, CR0_PE | CR0_PG | CR0_NE | CR0_WP | BIT(3));
	assert_int_equal(skipped, 1);
	assert_int_equal(vmcs[0x280a], 0x3001);
	write_register(0, CR0_PE | CR0_PG | CR0_CD);
	assert_int_equal(injected, 1);
	put_pdptes(0x6001);
	write_register(0, CR0_PE | CR0_PG | CR0_CD);
	assert_int_equal(skipped, 1);
	assert_int_equal(vmcs[0x280a], 0x6001);
}

/* SDM volume 3C, 27.3.2.1: an entry loads neither CD nor NW. */
static void cache_control_is_the_processors_at_once(void **state)
{
	(void)state;
	write_register(0, CR0_PE | CR0_NE);
	assert_int_equal(machine_writes, 0);
	write_register(0, CR0_PE | CR0_CD | CR0_NW);
	assert_int_equal(machine_cr0, HOST_CR0 | CR0_CD | CR0_NW);
	write_register(0, CR0_PE | CR0_NE);
	assert_int_equal(machine_cr0, HOST_CR0);
	assert_int_equal(machine_writes, 2);
}

/* ---- where the value comes from ---- */

static void each_register_can_be_the_source(void **state)
{
	(void)state;
	for (unsigned int number = 0; number < 16; number++) {
		uint64_t value = CR0_PE | CR0_NE | number << 1;

		make_guest(NULL);
		memset(&vcpu.regs, 0xff, sizeof(vcpu.regs));
		if (number == 4)
			vmcs[VMCS_GUEST_RSP] = value;
		else
			(&vcpu.regs.rax)[number] = value;
		vmcs[VMCS_EXIT_QUALIFICATION] = QUALIFY(0, 0, number);
		vmx_cr_exit(&vcpu);
		assert_int_equal(vmcs[VMCS_GUEST_CR0], value | CR0_ET);
	}
}

static void load_status_word(uint64_t value)
{
	injected = skipped = 0;
	vmcs[VMCS_EXIT_QUALIFICATION] = QUALIFY(0, 3, 0) | value << 16;
	vmx_cr_exit(&vcpu);
	assert_int_equal(skipped, 1);
}

static void lmsw_loads_four_bits_and_keeps_pe(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_CR0] |= CR0_WP;
	load_status_word(0xffff);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], 0xf | CR0_ET | CR0_NE | CR0_WP);
	assert_int_equal(vmx_read_cr0(&vcpu) & CR0_NE, 0);
	load_status_word(0xfff0);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], CR0_PE | CR0_ET | CR0_NE | CR0_WP);
	vmcs[VMCS_GUEST_CR0] &= ~CR0_PE;
	load_status_word(2);
	assert_int_equal(vmcs[VMCS_GUEST_CR0], 2 | CR0_ET | CR0_NE | CR0_WP);
}

static void vmxe_is_reserved(void **state)
{
	(void)state;
	write_register(4, CR4_VMXE | CR4_PAE);
	assert_int_equal(injected, 1);
	assert_int_equal(vmcs[VMCS_GUEST_CR4], CR4_VMXE);
	assert_int_equal(vmcs_writes, 0);
}

static void shadow_paging_takes_them_all(void **state)
{
	struct shadow_context shadow;

	(void)state;
	vcpu.shadow = &shadow;
	shadowed = 0;
	vmcs[VMCS_EXIT_QUALIFICATION] = QUALIFY(0, 0, 1);
	vmx_cr_exit(&vcpu);
	assert_int_equal(shadowed, 1);
	assert_int_equal(injected + skipped, 0);
}

static void rsp_is_in_the_vmcs(void **state)
{
	(void)state;
	vmx_write_register(&vcpu, 4, 0x1234);
	vmx_write_register(&vcpu, 15, 0x5678);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], 0x1234);
	assert_int_equal(vcpu.regs.r15, 0x5678);
	assert_int_equal(vmx_read_register(&vcpu, 4), 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(shadow_paging_takes_them_all),
		T(rsp_is_in_the_vmcs),
		T(every_combination_is_as_the_manual_says),
		T(ne_is_shown_and_not_had),
		T(long_mode_ends_with_paging),
		T(sixty_four_bit_code_can_not_stop_paging),
		T(who_has_process_contexts_can_not_either),
		T(long_mode_needs_a_cs_and_a_tr_that_fit),
		T(the_end_of_paging_drops_translations),
		T(pae_paging_loads_its_four_entries),
		T(reserved_bits_of_a_present_entry_fault),
		T(entries_that_can_not_be_read_fault),
		T(other_kinds_of_paging_have_none),
		T(only_paging_and_cache_bits_load_them_again),
		T(cache_control_is_the_processors_at_once),
		T(each_register_can_be_the_source),
		T(lmsw_loads_four_bits_and_keeps_pe),
		T(vmxe_is_reserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
