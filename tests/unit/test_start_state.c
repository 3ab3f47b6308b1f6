// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states that processors start in: a kernel's entry, STARTUP's real mode, and what a guest
 * asks for by SetInitialAPState. Of the last nothing may come that VM entry or VMRUN would
 * refuse, as that would end the guest, or that is not CPL 0 in 32-bit code.
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"

static uint64_t machine_cr4;   /* the machine's */
static uint64_t supported_cr4; /* what it may be */
static unsigned int cr4_writes;

static struct cpuid_result fake_cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	assert_int_equal(leaf, 1);
	return (struct cpuid_result){.eax = 0x000306c3};
}

static void fake_write_cr4(uint64_t value)
{
	assert_false(value & ~supported_cr4); /* #GP */
	machine_cr4 = value;
	cr4_writes++;
}

#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
#define read_cr4()	     machine_cr4
#define write_cr4(value)     fake_write_cr4(value)
#include "core/start_state.c"

int write_cr4_checked(uint64_t value)
{
	if (value & ~supported_cr4)
		return -EINVAL;
	fake_write_cr4(value);
	return 0;
}

#define ARENA_SIZE (2 * MIB)
#define GDT	   0x101f00u /* so that it crosses a page */
#define GDT_LIMIT  0x1ffu
#define DIRECTORY  0x110000u
#define TABLE	   0x111000u
#define KERNEL	   0xc0000000u /* where paging maps the page of the GDT and the one behind it */
#define OWN_CR4	   (CR4_PAE | CR4_MCE | CR4_VMXE)

#define CODE	      0x10
#define DATA	      0x18
#define LDT	      0x28
#define TEST	      0x60 /* what a test writes */
#define FLAT_CODE     0x00cf9a000000ffffull
#define FLAT_DATA     0x00cf92000000ffffull
#define LDT_ENTRY     0x40008204d000007full /* 0x7f bytes at 4004d000h */
#define AVL_IN_CODE   0x0010000000000000ull
#define PRESENT	      0x0000800000000000ull
#define WITH_DPL(n)   ((uint64_t)(n) << 45)
#define SYSTEM(type)  (0x0000800000000000ull | (uint64_t)(type) << 40)
#define SEGMENT(type) (0x00cf90000000ffffull | (uint64_t)(type) << 40)

static struct vcpu vcpu;
static struct vmi_ap_state ap;
static struct start_state result;
static struct e820_map map;

static void set_descriptor(unsigned int selector, uint64_t descriptor)
{
	memcpy(arena_at(GDT + (selector & 0xfff8)), &descriptor, sizeof(descriptor));
}

/* Linux' own use: flat segments, null FS, GS and LDT; paging is off here. */
static int make_guest(void **state)
{
	(void)state;
	console_clear();
	arena_create(ARENA_SIZE);
	map.count = 0;
	e820_add(&map, 0, ARENA_SIZE, E820_RAM);
	guest_memory_init(&map);
	set_descriptor(CODE, FLAT_CODE);
	set_descriptor(DATA, FLAT_DATA);
	set_descriptor(LDT, LDT_ENTRY);
	memset(&vcpu, 0xa5, sizeof(vcpu));
	ap = (struct vmi_ap_state){
		.cr0 = CR0_PE | CR0_ET,
		.eip = 0xc0101000,
		.esp = 0xc0202000,
		.eflags = 2,
		.cs = CODE,
		.ss = DATA,
		.ds = DATA,
		.es = DATA,
		.gdtr_base = GDT,
		.gdtr_limit = GDT_LIMIT,
		.idtr_base = 0xc0300000,
		.idtr_limit = 0x7ff,
	};
	machine_cr4 = OWN_CR4;
	supported_cr4 = OWN_CR4 | 0x6bf;
	cr4_writes = 0;
	return 0;
}

static void assert_segment(const struct guest_segment *segment, uint16_t selector, uint16_t access,
			   uint32_t limit, uint32_t base)
{
	assert_int_equal(segment->selector, selector);
	assert_int_equal(segment->access, access);
	assert_int_equal(segment->limit, limit);
	assert_int_equal(segment->base, base);
}

static void assert_no_register_is_left(void)
{
	const uint64_t *reg = &vcpu.regs.rax;

	for (unsigned int i = 0; i < sizeof(vcpu.regs) / sizeof(*reg); i++)
		assert_int_not_equal(reg[i], 0xa5a5a5a5a5a5a5a5);
}

/* ---- a kernel's entry ---- */

static void a_kernel_starts_in_flat_32_bit_protected_mode(void **state)
{
	static const struct guest_entry entry = {
		.eip = 0x100000,
		.esi = 0x90000,
		.gdt_base = 0x91000,
		.gdt_limit = 0x1f,
		.code_selector = 0x10,
		.data_selector = 0x18,
	};
	const struct start_state start = start_state_kernel(&vcpu, &entry);

	(void)state;
	assert_segment(&start.cs, 0x10, 0xc09b, UINT32_MAX, 0);
	assert_segment(&start.ds, 0x18, 0xc093, UINT32_MAX, 0);
	assert_segment(&start.es, 0x18, 0xc093, UINT32_MAX, 0);
	assert_segment(&start.ss, 0x18, 0xc093, UINT32_MAX, 0);
	assert_segment(&start.fs, 0x18, 0xc093, UINT32_MAX, 0);
	assert_segment(&start.gs, 0x18, 0xc093, UINT32_MAX, 0);
	assert_segment(&start.ldtr, 0, 0x82, UINT16_MAX, 0);
	assert_segment(&start.tr, 0, 0x8b, UINT16_MAX, 0);
	assert_segment(&start.gdtr, 0, 0, 0x1f, 0x91000);
	assert_int_equal(start.cr0, 0x11);
	assert_int_equal(start.cr3 | start.cr4 | start.efer, 0);
	assert_int_equal(start.rflags, 2);
	assert_int_equal(start.rip, 0x100000);
	assert_int_equal(vcpu.regs.rsi, 0x90000);
	assert_int_equal(vcpu.regs.rbp | vcpu.regs.rdi | vcpu.regs.rbx, 0);
	assert_no_register_is_left();
}

/* ---- STARTUP ---- */

/* APM volume 2, table 14-1; SDM volume 3A, table 10-1 */
static void startup_leads_to_its_page_in_real_mode(void **state)
{
	const struct start_state start = start_state_startup(&vcpu, 0x9a);

	(void)state;
	assert_segment(&start.cs, 0x9a00, 0x9b, UINT16_MAX, 0x9a000);
	assert_segment(&start.ds, 0, 0x93, UINT16_MAX, 0);
	assert_segment(&start.es, 0, 0x93, UINT16_MAX, 0);
	assert_segment(&start.ss, 0, 0x93, UINT16_MAX, 0);
	assert_segment(&start.fs, 0, 0x93, UINT16_MAX, 0);
	assert_segment(&start.gs, 0, 0x93, UINT16_MAX, 0);
	assert_segment(&start.ldtr, 0, 0x82, UINT16_MAX, 0);
	assert_segment(&start.tr, 0, 0x8b, UINT16_MAX, 0);
	assert_segment(&start.gdtr, 0, 0, UINT16_MAX, 0);
	assert_segment(&start.idtr, 0, 0, UINT16_MAX, 0);
	assert_int_equal(start.cr0, 0x10);
	assert_int_equal(start.cr3 | start.cr4 | start.efer, 0);
	assert_int_equal(start.rip | start.rsp, 0);
	assert_int_equal(start.rflags, 2);
	assert_int_equal(vcpu.regs.rdx, 0x306c3);
	assert_int_equal(vcpu.regs.rax | vcpu.regs.rcx | vcpu.regs.rbp, 0);
	assert_no_register_is_left();
}

static void each_page_is_one_of_the_first_mib(void **state)
{
	(void)state;
	assert_int_equal(start_state_startup(&vcpu, 0).cs.base, 0);
	assert_int_equal(start_state_startup(&vcpu, 1).cs.selector, 0x100);
	assert_int_equal(start_state_startup(&vcpu, 255).cs.selector, 0xff00);
	assert_int_equal(start_state_startup(&vcpu, 255).cs.base, 0xff000);
}

/* ---- SetInitialAPState ---- */

static void accept(void)
{
	int error = start_state_ap(&vcpu, &ap, &result);

	if (error)
		fail_msg("refused with %d", error);
	assert_int_equal(machine_cr4, OWN_CR4);
}

static void refuse(int error)
{
	struct guest_registers before = vcpu.regs;

	assert_int_equal(start_state_ap(&vcpu, &ap, &result), error);
	assert_memory_equal(&vcpu.regs, &before, sizeof(before));
	assert_int_equal(machine_cr4, OWN_CR4);
	make_guest(NULL);
}

static void a_state_is_taken_over(void **state)
{
	(void)state;
	ap.eax = 0xa0000001;
	ap.ebx = 0xa0000002;
	ap.ecx = 0xa0000003;
	ap.edx = 0xa0000004;
	ap.ebp = 0xa0000005;
	ap.esi = 0xa0000006;
	ap.edi = 0xa0000007;
	accept();
	assert_int_equal(result.rip, 0xc0101000);
	assert_int_equal(result.rsp, 0xc0202000);
	assert_int_equal(vcpu.regs.rax, 0xa0000001);
	assert_int_equal(vcpu.regs.rbx, 0xa0000002);
	assert_int_equal(vcpu.regs.rcx, 0xa0000003);
	assert_int_equal(vcpu.regs.rdx, 0xa0000004);
	assert_int_equal(vcpu.regs.rbp, 0xa0000005);
	assert_int_equal(vcpu.regs.rsi, 0xa0000006);
	assert_int_equal(vcpu.regs.rdi, 0xa0000007);
	assert_no_register_is_left();
	assert_segment(&result.cs, CODE, 0xc09b, UINT32_MAX, 0);
	assert_segment(&result.ss, DATA, 0xc093, UINT32_MAX, 0);
	assert_segment(&result.ds, DATA, 0xc093, UINT32_MAX, 0);
	assert_segment(&result.es, DATA, 0xc093, UINT32_MAX, 0);
	assert_segment(&result.fs, 0, 0, 0, 0); /* null: not usable */
	assert_segment(&result.gs, 0, 0, 0, 0);
	assert_segment(&result.ldtr, 0, 0x82, UINT16_MAX, 0);
	assert_segment(&result.tr, 0, 0x8b, UINT16_MAX, 0);
	assert_segment(&result.gdtr, 0, 0, GDT_LIMIT, GDT);
	assert_segment(&result.idtr, 0, 0, 0x7ff, 0xc0300000);
}

/* Each register from its own selector. */
static void each_segment_has_its_own_descriptor(void **state)
{
	uint16_t *selectors[] = {&ap.ss, &ap.ds, &ap.es, &ap.fs, &ap.gs};
	const struct guest_segment *segments[] = {&result.ss, &result.ds, &result.es, &result.fs,
						  &result.gs};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(selectors); i++) {
		*selectors[i] = (uint16_t)(TEST + 8 * i);
		set_descriptor(*selectors[i], FLAT_DATA | (uint64_t)(i + 1) << 16);
	}
	ap.ldtr = LDT;
	accept();
	for (unsigned int i = 0; i < ARRAY_SIZE(selectors); i++)
		assert_segment(segments[i], *selectors[i], 0xc093, UINT32_MAX, i + 1);
	assert_segment(&result.ldtr, LDT, 0x82, 0x7f, 0x4004d000);
}

static void descriptors_are_scattered_as_the_manual_says(void **state)
{
	(void)state;
	set_descriptor(TEST, 0x12d7f3345678abcdull);
	ap.fs = TEST | 3;
	accept();
	assert_segment(&result.fs, TEST | 3, 0xd0f3, 0x7abcdfff, 0x12345678);
	set_descriptor(TEST, 0x1257f2345678abcdull);
	accept();
	assert_segment(&result.fs, TEST | 3, 0x50f3, 0x7abcd, 0x12345678); /* accessed, no G */
}

/* 1 to 3 are null, too, but not where code and stack are. */
static void null_selectors_are_for_data_and_ldt_only(void **state)
{
	(void)state;
	for (uint16_t null = 0; null < 4; null++) {
		ap.ds = ap.es = ap.fs = ap.gs = ap.ldtr = null;
		accept();
		assert_segment(&result.ds, null, 0, 0, 0);
		assert_segment(&result.gs, null, 0, 0, 0);
		assert_segment(&result.ldtr, 0, 0x82, UINT16_MAX, 0);
		ap.cs = null;
		refuse(-EINVAL);
		ap.ss = null;
		refuse(-EINVAL);
	}
}

/* Nothing is loaded into LDTR before it is used; the first of its entries is not null. */
static void selectors_of_an_ldt_are_refused(void **state)
{
	uint16_t *selectors[] = {&ap.cs, &ap.ss, &ap.ds, &ap.es, &ap.fs, &ap.gs, &ap.ldtr};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(selectors); i++) {
		*selectors[i] |= 4;
		refuse(-EINVAL);
		*selectors[i] = 4;
		refuse(-EINVAL);
	}
}

static void a_descriptor_ends_within_the_limit(void **state)
{
	(void)state;
	ap.es = TEST;
	set_descriptor(TEST, FLAT_DATA);
	ap.gdtr_limit = TEST + 7;
	accept();
	ap.gdtr_limit = TEST + 6;
	refuse(-EINVAL);
	ap.gdtr_limit = 0;
	refuse(-EINVAL);
	ap.es = 0xfff8;
	refuse(-EINVAL);
}

static void what_is_not_present_is_refused(void **state)
{
	(void)state;
	set_descriptor(CODE, FLAT_CODE & ~PRESENT);
	refuse(-EINVAL);
	set_descriptor(DATA, FLAT_DATA & ~PRESENT);
	refuse(-EINVAL);
	ap.ldtr = LDT;
	set_descriptor(LDT, LDT_ENTRY & ~PRESENT);
	refuse(-EINVAL);
}

static void try_types(uint16_t *selector, unsigned int good)
{
	size_t offset = (size_t)((uint8_t *)selector - (uint8_t *)&ap);

	for (unsigned int type = 0; type < 16; type++) {
		*(uint16_t *)((uint8_t *)&ap + offset) = TEST;
		set_descriptor(TEST, SEGMENT(type));
		if (good & 1u << type)
			accept();
		else
			refuse(-EINVAL);
	}
}

/* Types: APM volume 2, tables 4-3 and 4-4. Bit 0, accessed, changes nothing. */
static void each_register_takes_the_types_that_it_can(void **state)
{
	(void)state;
	try_types(&ap.cs, 0xff00);
	try_types(&ap.ss, 0x00cc);
	try_types(&ap.ds, 0xccff);
	try_types(&ap.es, 0xccff);
	try_types(&ap.fs, 0xccff);
	try_types(&ap.gs, 0xccff);
}

static void only_an_ldt_is_an_ldt(void **state)
{
	(void)state;
	for (unsigned int type = 0; type < 16; type++) {
		ap.ldtr = TEST;
		set_descriptor(TEST, SYSTEM(type));
		if (type == 2)
			accept();
		else
			refuse(-EINVAL);
		ap.ldtr = TEST;
		set_descriptor(TEST, SEGMENT(type));
		refuse(-EINVAL);
		ap.ds = TEST; /* and no system segment is data */
		set_descriptor(TEST, SYSTEM(type));
		refuse(-EINVAL);
	}
}

static void code_and_stack_are_the_kernels(void **state)
{
	(void)state;
	for (unsigned int level = 1; level < 4; level++) {
		set_descriptor(CODE, FLAT_CODE | WITH_DPL(level));
		refuse(-EINVAL);
		ap.cs = (uint16_t)(CODE | level);
		refuse(-EINVAL);
		set_descriptor(TEST, FLAT_DATA | WITH_DPL(level));
		ap.ss = TEST;
		refuse(-EINVAL);
		set_descriptor(TEST, FLAT_DATA | WITH_DPL(level));
		ap.ds = (uint16_t)(TEST | level);
		accept();
	}
}

/* Bit 53 is L: in 32-bit mode it is reserved; AVL and D mean nothing here. */
static void code_is_not_64_bit_code(void **state)
{
	(void)state;
	set_descriptor(CODE, FLAT_CODE | BIT(53));
	refuse(-EINVAL);
	set_descriptor(CODE, FLAT_CODE | AVL_IN_CODE);
	accept();
	set_descriptor(CODE, FLAT_CODE & ~BIT(54)); /* 16-bit code */
	accept();
}

static void a_gdt_that_is_not_there_is_a_fault(void **state)
{
	(void)state;
	ap.gdtr_base = ARENA_SIZE - CODE - 7;
	refuse(-EFAULT);
	ap.gdtr_base = 0x80000000;
	refuse(-EFAULT);
	ap.gdtr_base = (uint32_t)-0x20; /* around the end: CODE is at fffffff0h, DATA is not 0 */
	refuse(-EFAULT);
}

/* The tables of the state itself, not those of whoever asks for it. */
static void descriptors_are_read_through_the_states_paging(void **state)
{
	uint32_t *directory = arena_at(DIRECTORY), *table = arena_at(TABLE);

	(void)state;
	directory[KERNEL >> 22] = TABLE | 3;
	table[0] = (GDT & ~0xfffu) | 3;
	table[1] = ((GDT & ~0xfffu) + 0x1000) | 3;
	ap.cr0 |= CR0_PG;
	ap.cr3 = DIRECTORY;
	ap.gdtr_base = KERNEL + (GDT & 0xfff);
	ap.fs = 0x100; /* on the second page */
	set_descriptor(0x100, FLAT_DATA | 0x55ull << 16);
	accept();
	assert_int_equal(result.fs.base, 0x55);
	assert_int_equal(result.cr3, DIRECTORY);
	assert_int_equal(result.cr0, CR0_PG | CR0_PE | CR0_ET);
	table[1] = 0;
	refuse(-EFAULT);
}

static void cr0_is_in_protected_mode_and_has_no_other_bits(void **state)
{
	static const uint32_t defined = 0xe005003f;

	(void)state;
	for (unsigned int bit = 0; bit < 32; bit++) {
		uint32_t value = 1u << bit;

		ap.cr0 = CR0_PE | value;
		if (value == CR0_NW || value == CR0_PG)
			continue;
		if (value & defined) {
			accept();
			assert_int_equal(result.cr0, CR0_PE | CR0_ET | value);
		} else {
			refuse(-EINVAL);
		}
	}
	make_guest(state);
	ap.cr0 = 0;
	refuse(-EINVAL);
	ap.cr0 = CR0_PG;
	refuse(-EINVAL);
	ap.cr0 = CR0_PE | CR0_NW; /* APM volume 2, 15.5.1: not without CD */
	refuse(-EINVAL);
	ap.cr0 = CR0_PE | CR0_NW | CR0_CD;
	accept();
}

static void cr4_has_bits_of_the_processor_that_32_bit_code_may_set(void **state)
{
	static const uint32_t never = 1u << 12 | 1u << 13 | 1u << 14 | 1u << 17 | 1u << 23;

	(void)state;
	for (unsigned int bit = 0; bit < 32; bit++) {
		make_guest(state);
		ap.cr4 = 1u << bit;
		supported_cr4 = UINT32_MAX;
		if (ap.cr4 & never) {
			refuse(-EINVAL);
			continue;
		}
		accept();
		assert_int_equal(result.cr4, 1u << bit);
		supported_cr4 = UINT32_MAX & ~(uint64_t)ap.cr4;
		machine_cr4 = OWN_CR4 & supported_cr4;
		assert_int_equal(start_state_ap(&vcpu, &ap, &result), -EINVAL);
		assert_int_equal(machine_cr4, OWN_CR4 & supported_cr4);
	}
}

static void efer_is_nx_and_syscall_at_most(void **state)
{
	(void)state;
	ap.efer = EFER_NXE | EFER_SCE;
	accept();
	assert_int_equal(result.efer, EFER_NXE | EFER_SCE);
	for (unsigned int bit = 0; bit < 64; bit++) {
		ap.efer = BIT(bit);
		if (BIT(bit) & (EFER_NXE | EFER_SCE))
			accept();
		else
			refuse(-EINVAL);
	}
}

/* Bit 1 is 1, reserved ones are 0; VM is no state that VMI starts a processor in. */
static void eflags_are_made_sound(void **state)
{
	(void)state;
	ap.eflags = UINT32_MAX;
	accept();
	assert_int_equal(result.rflags, 0x003d7fd7);
	assert_false(result.rflags & RFLAGS_VM);
	ap.eflags = 0;
	accept();
	assert_int_equal(result.rflags, 2);
	ap.eflags = RFLAGS_VM | RFLAGS_IF;
	accept();
	assert_int_equal(result.rflags, RFLAGS_IF | 2);
}

/* ---- whatever a guest asks for ---- */

/* SDM volume 3C, 27.3.1.2, as far as it counts for an unrestricted guest; APM, 15.5.1 */
static void assert_usable(const struct guest_segment *segment, bool is_system)
{
	bool pages = segment->access & BIT(15);

	if (!segment->access)
		return;
	assert_true(segment->access & BIT(7));
	assert_int_equal(!(segment->access & BIT(4)), is_system);
	assert_int_equal(segment->access & 0x0f00, 0);
	if (pages)
		assert_int_equal(segment->limit & 0xfff, 0xfff);
	else
		assert_int_equal(segment->limit >> 20, 0);
	if (!is_system)
		assert_true(segment->access & 1);
}

static void assert_enterable(void)
{
	const struct guest_segment *data[] = {&result.ds, &result.es, &result.fs, &result.gs};

	assert_int_equal(result.cs.access & 0x2069, 9); /* code, accessed, DPL 0, not L */
	assert_int_equal(result.ss.access & 0x006b, 3); /* data, writable, accessed, DPL 0 */
	assert_usable(&result.cs, false);
	assert_usable(&result.ss, false);
	for (unsigned int i = 0; i < ARRAY_SIZE(data); i++) {
		assert_usable(data[i], false);
		assert_int_not_equal(data[i]->access & 0xa, 8); /* code that is not readable */
	}
	assert_usable(&result.ldtr, true);
	assert_int_equal(result.ldtr.access & 0x1f, 2);
	assert_int_equal(result.ldtr.selector & 4, 0);
	assert_int_equal(result.rflags & 0xffffffffffc28028, 0);
	assert_int_equal(result.rflags & 2, 2);
}

static void what_is_accepted_can_be_entered(void **state)
{
	static const uint16_t selectors[] = {0, 3, CODE, DATA, LDT, TEST, TEST + 8, TEST + 16, 4};
	unsigned int accepted = 0;
	uint64_t random = 0xa5;

	(void)state;
	for (unsigned int i = 0; i < 300000; i++) {
		uint16_t *selector = &ap.cs;

		for (unsigned int n = 0; n < 3; n++)
			set_descriptor(TEST + 8 * n, random_next(&random) | PRESENT | BIT(44));
		for (unsigned int n = 0; n < 7; n++)
			selector[n] = selectors[random_below(&random, ARRAY_SIZE(selectors))];
		if (random_below(&random, 4)) {
			ap.cs = CODE;
			ap.ss = DATA;
		}
		ap.eflags = (uint32_t)random_next(&random);
		if (start_state_ap(&vcpu, &ap, &result))
			continue;
		assert_enterable();
		accepted++;
	}
	assert_in_range(accepted, 1000, 299000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(a_kernel_starts_in_flat_32_bit_protected_mode),
		T(startup_leads_to_its_page_in_real_mode),
		T(each_page_is_one_of_the_first_mib),
		T(a_state_is_taken_over),
		T(each_segment_has_its_own_descriptor),
		T(descriptors_are_scattered_as_the_manual_says),
		T(null_selectors_are_for_data_and_ldt_only),
		T(selectors_of_an_ldt_are_refused),
		T(a_descriptor_ends_within_the_limit),
		T(what_is_not_present_is_refused),
		T(each_register_takes_the_types_that_it_can),
		T(only_an_ldt_is_an_ldt),
		T(code_and_stack_are_the_kernels),
		T(code_is_not_64_bit_code),
		T(a_gdt_that_is_not_there_is_a_fault),
		T(descriptors_are_read_through_the_states_paging),
		T(cr0_is_in_protected_mode_and_has_no_other_bits),
		T(cr4_has_bits_of_the_processor_that_32_bit_code_may_set),
		T(efer_is_nx_and_syscall_at_most),
		T(eflags_are_made_sound),
		T(what_is_accepted_can_be_entered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
