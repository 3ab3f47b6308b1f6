// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task switches from each source: what is saved, what is loaded, links, busy bits and flags;
 * and bad tasks, which must leave the old one as it was. At the end tasks of random contents:
 * whatever a guest puts there, VT-x must let it in afterwards.
 */
#include "support.h"

#include <string.h>

#include "vm_entry.h"

static uint64_t cr2, dr6;

static uint64_t fake_read_dr6(void)
{
	return dr6;
}

static void fake_write_dr6(uint64_t value)
{
	dr6 = value;
}

static void fake_write_cr2(uint64_t value)
{
	cr2 = value;
}

#define read_dr6()	 fake_read_dr6()
#define write_dr6(value) fake_write_dr6(value)
#define write_cr2(value) fake_write_cr2(value)
#include "vmx/task_switch.c"

#define ARENA	 (1 * MIB)
#define GDT	 0x1000
#define LDT	 0x2000
#define OLD_TSS	 0x3000
#define NEW_TSS	 0x4000
#define STACK	 0x6000
#define PAGES	 0x10000 /* directory and table; those of the new task 2 pages on */
#define OTHER(n) (0x20000 + (n)*PAGE_SIZE)

enum selector {
	CODE = 0x10,
	DATA = 0x18,
	OLD = 0x20,
	NEW = 0x28,
	LOCAL = 0x30,
	USER_CODE = 0x38,
	USER_DATA = 0x40,
	CONFORMING = 0x48,
	TSS16 = 0x50,
	ABSENT = 0x58,
	READ_ONLY = 0x60,
	EXECUTE_ONLY = 0x68,
	STACK16 = 0x70,
	GDT_END = 0x78,
};

enum { CALL, IRET, JMP, GATE };

static struct e820_map map;
static struct vcpu vcpu;
static unsigned int injected, injected_vector, flushed;
static uint64_t upon; /* the event that the exception came upon */
static bool pdptes_are_good;
static uint64_t pdptes_cr3;
static struct guest_paging loaded; /* with shadow paging */

void vmx_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	assert_ptr_equal(v, &vcpu);
	upon = vmcs[VMCS_ENTRY_INTERRUPTION];
	vmcs[VMCS_ENTRY_ERROR_CODE] = (uint64_t)error_code;
	vmcs[VMCS_ENTRY_INTERRUPTION] =
		vector | 0x80000300 | (error_code == NO_ERROR_CODE ? 0 : 0x800);
	injected++;
	injected_vector = vector;
}

bool vmx_load_pdptes(uint64_t cr0, uint64_t cr3)
{
	assert_int_equal(cr0, vmcs[VMCS_GUEST_CR0]);
	pdptes_cr3 = cr3;
	return pdptes_are_good;
}

struct guest_paging vmx_guest_paging(const struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	return (struct guest_paging){vmcs[VMCS_GUEST_CR0], vmcs[VMCS_GUEST_CR3],
				     vmcs[VMCS_GUEST_CR4], vmcs[VMCS_GUEST_EFER]};
}

bool paging_load_pdptes(struct vcpu *v, const struct guest_paging *guest)
{
	assert_ptr_equal(v, &vcpu);
	pdptes_cr3 = guest->cr3;
	return pdptes_are_good;
}

void paging_load(struct vcpu *v, const struct guest_paging *guest)
{
	assert_ptr_equal(v, &vcpu);
	loaded = *guest;
}

void vmx_flush(void)
{
	flushed++;
}

static uint64_t descriptor(uint32_t base, uint32_t limit, uint64_t access)
{
	return (limit & 0xffff) | (uint64_t)(base & 0xffffff) << 16 | access << 40 |
	       (uint64_t)(limit >> 16 & 15) << 48 | (uint64_t)(base >> 24) << 56;
}

static void put(uint64_t address, uint64_t value)
{
	memcpy(arena_at(address), &value, sizeof(value));
}

static uint64_t get(uint64_t address)
{
	uint64_t value;

	memcpy(&value, arena_at(address), sizeof(value));
	return value;
}

static struct tss32 *new_tss(void)
{
	return arena_at(NEW_TSS);
}

static struct tss32 *old_tss(void)
{
	return arena_at(OLD_TSS);
}

static void put_descriptors(void)
{
	put(GDT + CODE, descriptor(0, 0xfffff, 0xc09b));
	put(GDT + DATA, descriptor(0, 0xfffff, 0xc092)); /* not accessed yet */
	put(GDT + OLD, descriptor(OLD_TSS, 0x67, 0x8b));
	put(GDT + NEW, descriptor(NEW_TSS, 0x67, 0x89));
	put(GDT + LOCAL, descriptor(LDT, 0xf, 0x82));
	put(GDT + USER_CODE, descriptor(0, 0xfffff, 0xc0fb));
	put(GDT + USER_DATA, descriptor(0x12345678, 0xfffff, 0xc0f3));
	put(GDT + CONFORMING, descriptor(0, 0xfffff, 0xc09f));
	put(GDT + TSS16, descriptor(NEW_TSS, 0x67, 0x81));
	put(GDT + ABSENT, descriptor(0, 0xfffff, 0xc013));
	put(GDT + READ_ONLY, descriptor(0, 0xfffff, 0xc091));
	put(GDT + EXECUTE_ONLY, descriptor(0, 0xfffff, 0xc099));
	put(GDT + STACK16, descriptor(0, 0xffff, 0x93));
	put(LDT, descriptor(0xabc000, 0xffff, 0x93));
	put(LDT + 8, descriptor(0xdef000, 0xffff, 0x93));
}

static void put_new_task(void)
{
	*new_tss() = (struct tss32){
		.link = 0xaaaabbbb,
		.cr3 = 0x7000,
		.eip = 0x11223344,
		.eflags = 0x202,
		.eax = 1,
		.ecx = 2,
		.edx = 3,
		.ebx = 4,
		.esp = STACK,
		.ebp = 5,
		.esi = 6,
		.edi = 7,
		.es = DATA,
		.cs = CODE,
		.ss = DATA,
		.ds = 0,
		.fs = USER_DATA,
		.gs = DATA,
	};
}

static int make_guest(void **state)
{
	(void)state;
	arena_create(ARENA);
	memset(&map, 0, sizeof(map));
	e820_add(&map, 0, 0x9f000, E820_RAM);
	guest_memory_init(&map);
	put_descriptors();
	put_new_task();
	make_enterable_guest();
	*vmcs_segment(VMCS_GUEST_ES_SELECTOR, SEGMENT_TR) = OLD;
	*vmcs_segment(VMCS_GUEST_ES_BASE, SEGMENT_TR) = OLD_TSS;
	vmcs[VMCS_GUEST_GDTR_BASE] = GDT;
	vmcs[VMCS_GUEST_GDTR_LIMIT] = GDT_END - 1;
	vmcs[VMCS_GUEST_CR3] = 0x5000;
	vmcs[VMCS_GUEST_RSP] = 0x8888;
	vmcs[VMCS_GUEST_RFLAGS] = 0x4246; /* NT, IF, ZF, PF */
	vmcs[VMCS_EXIT_INSTRUCTION_LENGTH] = 5;
	vcpu = (struct vcpu){.regs = {.rax = 0xa0,
				      .rcx = 0xa1,
				      .rdx = 0xa2,
				      .rbx = 0xa3,
				      .rbp = 0xa5,
				      .rsi = 0xa6,
				      .rdi = 0xa7}};
	injected = injected_vector = flushed = 0;
	upon = cr2 = 0;
	dr6 = DR6_INITIAL;
	pdptes_are_good = true;
	return 0;
}

static void switch_to(uint16_t selector, uint64_t source)
{
	vmcs[VMCS_EXIT_QUALIFICATION] = selector | source << 30;
	vmx_task_switch_exit(&vcpu);
	assert_can_enter();
}

static void switch_task(uint64_t source)
{
	if (source == IRET)
		put(GDT + NEW, descriptor(NEW_TSS, 0x67, 0x8b));
	switch_to(NEW, source);
	assert_int_equal(injected, 0);
}

static void through_gate(uint32_t event)
{
	vmcs[VMCS_VECTORING_INFO] = event;
	vmcs[VMCS_ENTRY_INTERRUPTION] = event; /* as vmx_exit() has it */
	vmcs[VMCS_VECTORING_ERROR_CODE] = 0x1234;
	switch_task(GATE);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0);
}

static void assert_segment(enum vmcs_segment segment, uint16_t selector, uint64_t base,
			   uint64_t limit, uint64_t access)
{
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_SELECTOR, segment), selector);
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_BASE, segment), base);
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_LIMIT, segment), limit);
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_ACCESS, segment), access);
}

/* ---- a switch ---- */

static void the_old_state_is_saved(void **state)
{
	const struct tss32 *tss = old_tss();

	(void)state;
	old_tss()->cr3 = 0x5555;
	old_tss()->ldt = 0x6666;
	old_tss()->io_map = 0x7777;
	switch_task(JMP);
	assert_int_equal(tss->eip, 0x1005);
	assert_int_equal(tss->eflags, 0x4246);
	assert_int_equal(tss->esp, 0x8888);
	assert_int_equal(tss->eax, 0xa0);
	assert_int_equal(tss->ecx, 0xa1);
	assert_int_equal(tss->edx, 0xa2);
	assert_int_equal(tss->ebx, 0xa3);
	assert_int_equal(tss->ebp, 0xa5);
	assert_int_equal(tss->esi, 0xa6);
	assert_int_equal(tss->edi, 0xa7);
	assert_int_equal(tss->cs, 0x10);
	assert_int_equal(tss->ss, 0x18);
	assert_int_equal(tss->ds | tss->es | tss->fs | tss->gs, 0x18);
	assert_int_equal(tss->cr3, 0x5555); /* these are not the processor's to save */
	assert_int_equal(tss->ldt, 0x6666);
	assert_int_equal(tss->io_map, 0x7777);
}

static void the_new_state_is_loaded(void **state)
{
	(void)state;
	switch_task(JMP);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x11223344);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 0x202);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], STACK);
	assert_int_equal(vcpu.regs.rax, 1);
	assert_int_equal(vcpu.regs.rcx, 2);
	assert_int_equal(vcpu.regs.rdx, 3);
	assert_int_equal(vcpu.regs.rbx, 4);
	assert_int_equal(vcpu.regs.rbp, 5);
	assert_int_equal(vcpu.regs.rsi, 6);
	assert_int_equal(vcpu.regs.rdi, 7);
	assert_segment(SEGMENT_CS, CODE, 0, UINT32_MAX, 0xc09b);
	assert_segment(SEGMENT_SS, DATA, 0, UINT32_MAX, 0xc093);
	assert_segment(SEGMENT_ES, DATA, 0, UINT32_MAX, 0xc093);
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_DS), 0x10000); /* null */
	assert_segment(SEGMENT_FS, USER_DATA, 0x12345678, UINT32_MAX, 0xc0f3);
	assert_segment(SEGMENT_TR, NEW, NEW_TSS, 0x67, 0x8b);
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_LDTR), 0x10000);
	assert_int_equal(vmcs[VMCS_GUEST_CR0] & BIT(3), BIT(3)); /* TS */
}

static void assert_nesting(uint64_t source, bool old_busy, bool nested)
{
	make_guest(NULL);
	if (source == GATE)
		through_gate(0x80000030);
	else
		switch_task(source);
	assert_int_equal(get(GDT + OLD) >> 40 & 0xff, old_busy ? 0x8b : 0x89);
	assert_int_equal(get(GDT + NEW) >> 40 & 0xff, 0x8b);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS] & BIT(14), nested ? BIT(14) : 0);
	assert_int_equal(new_tss()->link, nested ? 0xaaaa0000 | OLD : 0xaaaabbbb);
	assert_int_equal(old_tss()->eflags & BIT(14), source == IRET ? 0 : BIT(14));
}

/* SDM volume 3A, table 8-2 */
static void busy_bits_links_and_nt_depend_on_the_source(void **state)
{
	(void)state;
	assert_nesting(CALL, true, true);
	assert_nesting(IRET, false, false);
	assert_nesting(JMP, false, false);
	assert_nesting(GATE, true, true);
}

static void goes_on_at(uint32_t event, uint32_t eip)
{
	make_guest(NULL);
	through_gate(event);
	assert_int_equal(old_tss()->eip, eip);
}

static void the_old_task_goes_on_behind_an_instruction_or_at_a_fault(void **state)
{
	(void)state;
	goes_on_at(0x80000030, 0x1000); /* interrupt */
	goes_on_at(0x80000202, 0x1000); /* NMI */
	goes_on_at(0x80000b08, 0x1000); /* #DF */
	goes_on_at(0x80000480, 0x1005); /* INT 80h */
	goes_on_at(0x80000603, 0x1005); /* INT3 */
	goes_on_at(0x80000501, 0x1005); /* INT1 */
}

static void an_error_code_is_pushed(void **state)
{
	(void)state;
	through_gate(0x80000b08);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], STACK - 4);
	assert_int_equal((uint32_t)get(STACK - 4), 0x1234);
	make_guest(state);
	through_gate(0x80000030);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], STACK);
}

static void on_a_16_bit_stack_sp_wraps(void **state)
{
	(void)state;
	new_tss()->ss = STACK16;
	new_tss()->esp = 0x50000;
	through_gate(0x80000b08);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], 0x5fffc);
	assert_int_equal((uint32_t)get(0xfffc), 0x1234);
}

/* The exception comes in the new task, and upon the event that it spoilt. */
static void spoils(uint32_t event, unsigned int vector, uint64_t error_code)
{
	vmcs[VMCS_VECTORING_INFO] = vmcs[VMCS_ENTRY_INTERRUPTION] = event;
	vmcs[VMCS_VECTORING_ERROR_CODE] = 0x1234;
	switch_to(NEW, GATE);
	assert_int_equal(injected, 1);
	assert_int_equal(injected_vector, vector);
	assert_int_equal(vmcs[VMCS_ENTRY_ERROR_CODE], error_code);
	assert_int_equal(upon, event);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x11223344);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], new_tss()->esp);
}

static void an_error_code_needs_room_on_the_stack(void **state)
{
	(void)state;
	put(GDT + STACK16, descriptor(0, 0x5ffe, 0x93));
	new_tss()->ss = STACK16;
	spoils(0x80000b08, 12, 1);
	make_guest(state);
	put(GDT + STACK16, descriptor(0, 0x5fff, 0x93));
	new_tss()->ss = STACK16;
	through_gate(0x80000b08);
	make_guest(state);
	new_tss()->esp = 2; /* wraps */
	spoils(0x80000b0d, 12, 1);
}

static void a_stack_that_expands_down_ends_above_its_limit(void **state)
{
	(void)state;
	put(GDT + STACK16, descriptor(0, STACK - 4, 0x4097));
	new_tss()->ss = STACK16;
	spoils(0x80000b08, 12, 1);
	make_guest(state);
	put(GDT + STACK16, descriptor(0, STACK - 5, 0x4097));
	new_tss()->ss = STACK16;
	through_gate(0x80000b08);
}

static void an_error_code_needs_a_mapped_stack(void **state)
{
	(void)state;
	new_tss()->esp = 0x300000; /* no RAM there */
	spoils(0x80000b08, 14, 2);
	assert_int_equal(cr2, 0x2ffffc);
	make_guest(state);
	new_tss()->cs = USER_CODE | 3;
	new_tss()->ss = USER_DATA | 3;
	new_tss()->es = new_tss()->gs = 0;
	spoils(0x80000b08, 14, 6);
	assert_int_equal(cr2, 0x12345678 + STACK - 4);
}

static void the_t_bit_is_a_debug_exception_in_the_new_task(void **state)
{
	(void)state;
	new_tss()->trap = 1;
	vmcs[VMCS_GUEST_DR7] = 0x2400;
	switch_to(NEW, JMP);
	assert_int_equal(vmcs[VMCS_ENTRY_INTERRUPTION], 0x80000301);
	assert_int_equal(dr6, DR6_INITIAL | 0x8000);
	assert_int_equal(vmcs[VMCS_GUEST_DR7], 0x400);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x11223344);
	make_guest(state);
	new_tss()->trap = 0xfffe;
	switch_task(JMP);
	assert_int_equal(dr6, DR6_INITIAL);
}

static void loaded_descriptors_are_marked_accessed(void **state)
{
	(void)state;
	put(GDT + CODE, descriptor(0, 0xfffff, 0xc09a));
	put(LDT, descriptor(0xabc000, 0xffff, 0x92));
	new_tss()->ldt = LOCAL;
	new_tss()->es = 4;
	switch_task(JMP);
	assert_int_equal(get(GDT + CODE), descriptor(0, 0xfffff, 0xc09b));
	assert_int_equal(get(GDT + DATA), descriptor(0, 0xfffff, 0xc093));
	assert_int_equal(get(LDT), descriptor(0xabc000, 0xffff, 0x93));
	assert_int_equal(get(GDT + LOCAL), descriptor(LDT, 0xf, 0x82));
	assert_int_equal(get(GDT + READ_ONLY), descriptor(0, 0xfffff, 0xc091));
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_DS), 0x10000);
}

static void the_old_task_is_saved_within_its_limit(void **state)
{
	(void)state;
	*vmcs_segment(VMCS_GUEST_ES_LIMIT, SEGMENT_TR) = 0x5f;
	put(OLD_TSS + 0x60, 0x1122334455667788);
	switch_task(CALL);
	assert_int_equal(get(OLD_TSS + 0x60), 0x1122334455667788);
	assert_int_equal(old_tss()->gs, 0x18);
}

/* A stale vectoring field is not this switch's. */
static void a_call_pushes_nothing(void **state)
{
	(void)state;
	vmcs[VMCS_VECTORING_INFO] = 0x80000b08;
	switch_task(CALL);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], STACK);
	assert_int_equal(old_tss()->eip, 0x1005);
}

static void reserved_flags_do_not_get_through(void **state)
{
	(void)state;
	new_tss()->eflags = ~(uint32_t)RFLAGS_VM;
	switch_task(JMP);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 0x3d7fd7);
}

static void local_breakpoints_end_with_the_task(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_DR7] = 0xffff07ff;
	switch_task(JMP);
	assert_int_equal(vmcs[VMCS_GUEST_DR7], 0xffff06aa);
}

/* With IF clear in the new task and STI's blocking kept, the entry would fail. */
static void the_switch_ends_the_shadow_of_sti(void **state)
{
	(void)state;
	new_tss()->eflags = 2;
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 1;
	switch_task(JMP);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
}

static void nmis_are_blocked_by_an_nmi_and_unblocked_by_iret(void **state)
{
	(void)state;
	through_gate(0x80000202);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 8);
	make_guest(state);
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8;
	through_gate(0x80000b08);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 8);
	make_guest(state);
	vmcs[VMCS_GUEST_INTERRUPTIBILITY] = 8;
	switch_task(IRET);
	assert_int_equal(vmcs[VMCS_GUEST_INTERRUPTIBILITY], 0);
}

/* ---- kinds of tasks ---- */

static void a_virtual_8086_task_has_its_own_segments(void **state)
{
	(void)state;
	new_tss()->eflags = RFLAGS_VM | 2;
	new_tss()->cs = 0x1234;
	new_tss()->ss = 0xffff;
	new_tss()->ds = 0;
	switch_task(JMP);
	assert_segment(SEGMENT_CS, 0x1234, 0x12340, 0xffff, 0xf3);
	assert_segment(SEGMENT_SS, 0xffff, 0xffff0, 0xffff, 0xf3);
	assert_segment(SEGMENT_DS, 0, 0, 0xffff, 0xf3);
}

static void a_user_task_is_entered_at_cpl_3(void **state)
{
	(void)state;
	new_tss()->cs = USER_CODE | 3;
	new_tss()->ss = USER_DATA | 3;
	new_tss()->es = new_tss()->fs = new_tss()->gs = USER_DATA | 3;
	switch_task(JMP);
	assert_int_equal(ACCESS_DPL(entry_access(SEGMENT_SS)), 3);
}

static void local_descriptors_are_found(void **state)
{
	(void)state;
	new_tss()->ldt = LOCAL;
	new_tss()->es = 4; /* the LDT's first: not a null selector */
	new_tss()->gs = 0xc;
	switch_task(JMP);
	assert_segment(SEGMENT_LDTR, LOCAL, LDT, 0xf, 0x82);
	assert_segment(SEGMENT_ES, 4, 0xabc000, 0xffff, 0x93);
	assert_segment(SEGMENT_GS, 0xc, 0xdef000, 0xffff, 0x93);
}

/* ---- paging ---- */

static void map_page(uint64_t directory, uint32_t page, uint64_t to)
{
	uint32_t entry = (uint32_t)to | 3, table = (uint32_t)(directory + PAGE_SIZE) | 3;

	memcpy(arena_at(directory), &table, sizeof(table));
	memcpy(arena_at(directory + PAGE_SIZE + 4 * page), &entry, sizeof(entry));
}

static void start_paging(void)
{
	for (uint32_t page = 1; page < 9; page++) {
		map_page(PAGES, page, page * PAGE_SIZE);
		map_page(PAGES + 2 * PAGE_SIZE, page, page * PAGE_SIZE);
	}
	vmcs[VMCS_GUEST_CR0] |= CR0_PG;
	vmcs[VMCS_GUEST_CR3] = PAGES;
	new_tss()->cr3 = PAGES + 2 * PAGE_SIZE;
}

static void cr3_is_loaded_and_translations_are_dropped(void **state)
{
	(void)state;
	start_paging();
	switch_task(JMP);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], PAGES + 2 * PAGE_SIZE);
	assert_int_equal(pdptes_cr3, PAGES + 2 * PAGE_SIZE);
	assert_int_equal(flushed, 1);
}

static void with_shadow_paging_the_processors_cr3_is_not_the_guests(void **state)
{
	struct shadow_context shadow;

	(void)state;
	start_paging();
	vcpu.shadow = &shadow;
	switch_task(JMP);
	vcpu.shadow = NULL;
	assert_int_equal(loaded.cr3, PAGES + 2 * PAGE_SIZE);
	assert_int_equal(pdptes_cr3, PAGES + 2 * PAGE_SIZE);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], PAGES);
	assert_true(vmcs[VMCS_GUEST_CR0] & CR0_TS);
}

static void without_paging_cr3_is_kept(void **state)
{
	(void)state;
	switch_task(JMP);
	assert_int_equal(vmcs[VMCS_GUEST_CR3], 0x5000);
	assert_int_equal(flushed, 0);
}

static void a_tss_may_cross_pages_that_lie_apart(void **state)
{
	struct tss32 tss;

	(void)state;
	start_paging();
	tss = *new_tss();
	map_page(PAGES, 5, OTHER(0));
	memcpy(arena_at(0x4fc0), &tss, 0x40);
	memcpy(arena_at(OTHER(0)), (uint8_t *)&tss + 0x40, sizeof(tss) - 0x40);
	put(GDT + NEW, descriptor(0x4fc0, 0x67, 0x89));
	switch_task(CALL);
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x11223344);
	assert_int_equal(vcpu.regs.rdi, 7);
	assert_segment(SEGMENT_FS, USER_DATA, 0x12345678, UINT32_MAX, 0xc0f3);
	make_guest(state);
	start_paging();
	map_page(PAGES, 4, OTHER(1));
	*vmcs_segment(VMCS_GUEST_ES_BASE, SEGMENT_TR) = 0x3fc0; /* and so may the old one */
	memcpy(arena_at(OTHER(1)), new_tss(), PAGE_SIZE);
	put(GDT + NEW, descriptor(NEW_TSS + 0x100, 0x67, 0x89));
	memcpy(arena_at(OTHER(1) + 0x100), new_tss(), sizeof(tss));
	switch_task(CALL);
	assert_int_equal(*(uint32_t *)arena_at(0x3fc0 + offsetof(struct tss32, eip)), 0x1005);
	assert_int_equal(*(uint32_t *)arena_at(OTHER(1) + offsetof(struct tss32, gs) - 0x40), 0x18);
}

/* The new task may see another GDT at the same address. */
static void segments_are_looked_up_in_the_new_address_space(void **state)
{
	(void)state;
	start_paging();
	memcpy(arena_at(OTHER(0)), arena_at(GDT), PAGE_SIZE);
	map_page(PAGES + 2 * PAGE_SIZE, 1, OTHER(0));
	put(OTHER(0) + USER_DATA, descriptor(0x77777000, 0xfffff, 0xc0f3));
	map_page(PAGES + 2 * PAGE_SIZE, STACK / PAGE_SIZE - 1, OTHER(1));
	through_gate(0x80000b08);
	assert_int_equal(*vmcs_segment(VMCS_GUEST_ES_BASE, SEGMENT_FS), 0x77777000);
	assert_int_equal((uint32_t)get(OTHER(1) + PAGE_SIZE - 4), 0x1234);
}

/* ---- bad tasks ---- */

static uint64_t vmcs_before[VMCS_FIELDS];
static uint8_t memory_before[0x9000];

static void remember(void)
{
	memcpy(vmcs_before, vmcs, sizeof(vmcs));
	memcpy(memory_before, arena_at(0), sizeof(memory_before));
}

/* Nothing but the exception has changed. */
static void assert_old_task_is_whole(void)
{
	vmcs_before[VMCS_ENTRY_INTERRUPTION] = vmcs[VMCS_ENTRY_INTERRUPTION];
	vmcs_before[VMCS_ENTRY_ERROR_CODE] = vmcs[VMCS_ENTRY_ERROR_CODE];
	vmcs_before[VMCS_EXIT_QUALIFICATION] = vmcs[VMCS_EXIT_QUALIFICATION];
	assert_memory_equal(vmcs, vmcs_before, sizeof(vmcs));
	assert_memory_equal(arena_at(0), memory_before, sizeof(memory_before));
	assert_int_equal(vcpu.regs.rax, 0xa0);
	assert_int_equal(flushed, 0);
}

static void refused_with(uint16_t selector, unsigned int vector, uint16_t error_code)
{
	remember();
	switch_to(selector, JMP);
	assert_int_equal(injected, 1);
	assert_int_equal(injected_vector, vector);
	assert_int_equal(vmcs[VMCS_ENTRY_ERROR_CODE], error_code);
	assert_old_task_is_whole();
	make_guest(NULL);
}

static void assert_refused(uint16_t selector)
{
	refused_with(selector, 10, selector & 0xfffc);
}

static void a_bad_tss_is_refused(void **state)
{
	(void)state;
	assert_refused(TSS16);
	assert_refused(CODE);
	assert_refused(LOCAL);
	assert_refused(GDT_END);
	assert_refused(NEW | 4);
	vmcs[VMCS_GUEST_GDTR_LIMIT] = NEW + 6; /* a byte too short */
	new_tss()->fs = 0;
	assert_refused(NEW);
	put(GDT + NEW, descriptor(NEW_TSS, 0x66, 0x89));
	assert_refused(NEW | 3);
	put(GDT + NEW, descriptor(NEW_TSS, 0x67, 0x09));
	assert_refused(NEW);
	put(GDT + NEW, descriptor(0x9f000 - 0x40, 0x67, 0x89)); /* ends behind all memory */
	assert_refused(NEW);
	put(GDT + NEW, descriptor(0x300000, 0x67, 0x89));
	assert_refused(NEW);
}

static void so_is_a_switch_from_one(void **state)
{
	(void)state;
	*vmcs_segment(VMCS_GUEST_ES_ACCESS, SEGMENT_TR) = 0x83;
	assert_refused(NEW);
	*vmcs_segment(VMCS_GUEST_ES_BASE, SEGMENT_TR) = 0x300000;
	assert_refused(NEW);
	*vmcs_segment(VMCS_GUEST_ES_LIMIT, SEGMENT_TR) = 0x5e; /* GS is saved up to 5fh */
	assert_refused(NEW);
	pdptes_are_good = false;
	refused_with(NEW, 13, 0);
}

static void refuse_cs(uint32_t cs, uint32_t ss)
{
	new_tss()->cs = cs;
	new_tss()->ss = ss;
	new_tss()->fs = 0;
	refused_with(NEW, 10, cs & 0xfffc);
}

static void refuse_ss(uint32_t ss, unsigned int vector)
{
	new_tss()->ss = ss;
	new_tss()->fs = 0;
	refused_with(NEW, vector, ss & 0xfffc);
}

static void refuse_data(uint32_t selector)
{
	new_tss()->ds = selector;
	refused_with(NEW, 10, selector & 0xfffc);
}

static void bad_segments_are_refused(void **state)
{
	(void)state;
	refuse_cs(0, DATA);
	refuse_cs(3, DATA);
	refuse_cs(DATA, DATA);
	refuse_cs(LOCAL, DATA);
	refuse_cs(USER_CODE, DATA);
	refuse_cs(CODE | 3, USER_DATA | 3);
	refuse_cs(GDT_END, DATA);
	refuse_ss(0, 10);
	refuse_ss(CODE, 10);
	refuse_ss(READ_ONLY, 10);
	refuse_ss(USER_DATA, 10);
	refuse_ss(DATA | 3, 10);
	refuse_data(EXECUTE_ONLY);
	refuse_data(NEW);
	refuse_data(DATA | 3);
	refuse_data(4); /* no LDT */
	new_tss()->cs = USER_CODE | 3;
	new_tss()->ss = USER_DATA | 3;
	new_tss()->es = new_tss()->gs = 0;
	refuse_data(DATA);
	refuse_data(GDT_END);
}

/* SDM volume 3A, table 8-1 */
static void what_is_not_present_has_exceptions_of_its_own(void **state)
{
	(void)state;
	refuse_ss(ABSENT, 12);
	new_tss()->ds = ABSENT;
	refused_with(NEW, 11, ABSENT);
	put(GDT + CODE, descriptor(0, 0xfffff, 0xc01b));
	new_tss()->fs = 0;
	refused_with(NEW, 11, CODE);
}

static void refused_upon(uint32_t event, uint16_t error_code)
{
	make_guest(NULL);
	new_tss()->ds = EXECUTE_ONLY;
	vmcs[VMCS_VECTORING_INFO] = vmcs[VMCS_ENTRY_INTERRUPTION] = event;
	switch_to(NEW, GATE);
	assert_int_equal(injected_vector, 10);
	assert_int_equal(vmcs[VMCS_ENTRY_ERROR_CODE], error_code);
	assert_int_equal(upon, event); /* for vmx_inject_exception() to combine with */
}

/* SDM volume 3A, 6.13: not for INT n, INT3 and INTO. */
static void the_error_code_says_whether_an_event_came_from_outside(void **state)
{
	(void)state;
	refused_upon(0x80000030, EXECUTE_ONLY | 1);
	refused_upon(0x80000202, EXECUTE_ONLY | 1);
	refused_upon(0x80000b08, EXECUTE_ONLY | 1);
	refused_upon(0x80000501, EXECUTE_ONLY | 1);
	refused_upon(0x80000480, EXECUTE_ONLY);
	refused_upon(0x80000603, EXECUTE_ONLY);
}

static void bad_ldts_are_refused(void **state)
{
	static const uint32_t bad[] = {NEW, DATA, LOCAL | 4, GDT_END};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		new_tss()->ldt = bad[i];
		refused_with(NEW, 10, bad[i] & 0xfffc);
	}
	put(GDT + LOCAL, descriptor(LDT, 0xf, 0x02));
	new_tss()->ldt = LOCAL;
	refused_with(NEW, 10, LOCAL);
	new_tss()->ldt = LOCAL;
	refuse_data(0x14); /* behind its end */
}

static void conforming_code_and_readable_code_as_data_are_good(void **state)
{
	(void)state;
	new_tss()->cs = CONFORMING | 3;
	new_tss()->ss = USER_DATA | 3;
	new_tss()->es = new_tss()->gs = CONFORMING | 3;
	switch_task(JMP);
}

/* ---- everything else ---- */

static void random_task(uint64_t *seed)
{
	uint32_t *words = arena_at(NEW_TSS);

	for (unsigned int i = 8; i < offsetof(struct tss32, es) / 4; i++)
		words[i] = (uint32_t)random_next(seed);
	for (uint32_t *selector = &new_tss()->es; selector <= &new_tss()->ldt; selector++)
		if (!random_below(seed, 4))
			*selector = (uint32_t)random_below(seed, GDT_END + 8);
	if (random_below(seed, 8))
		new_tss()->eflags &= ~(uint32_t)RFLAGS_VM;
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int entry = (unsigned int)random_below(seed, GDT_END / 8);

		if (entry * 8 != NEW && entry * 8 != OLD)
			put(GDT + 8 * entry, random_next(seed) | (entry & 1 ? 0x900000000000 : 0));
	}
}

static void no_task_makes_a_guest_that_can_not_be_entered(void **state)
{
	uint64_t seed = 0x243f6a8885a308d3;
	unsigned int good = 0;

	for (unsigned int i = 0; i < 4000; i++) {
		make_guest(state);
		random_task(&seed);
		vmcs[VMCS_GUEST_INTERRUPTIBILITY] = random_below(&seed, 2) ? 8 | 1 : 0;
		remember();
		switch_to(NEW, random_below(&seed, 3));
		good += !injected;
		if (injected)
			assert_old_task_is_whole();
	}
	assert_in_range(good, 100, 3900); /* it tried both */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(the_old_state_is_saved),
		T(the_new_state_is_loaded),
		T(busy_bits_links_and_nt_depend_on_the_source),
		T(the_old_task_goes_on_behind_an_instruction_or_at_a_fault),
		T(an_error_code_is_pushed),
		T(on_a_16_bit_stack_sp_wraps),
		T(a_call_pushes_nothing),
		T(reserved_flags_do_not_get_through),
		T(local_breakpoints_end_with_the_task),
		T(the_switch_ends_the_shadow_of_sti),
		T(nmis_are_blocked_by_an_nmi_and_unblocked_by_iret),
		T(a_virtual_8086_task_has_its_own_segments),
		T(a_user_task_is_entered_at_cpl_3),
		T(local_descriptors_are_found),
		T(cr3_is_loaded_and_translations_are_dropped),
		T(with_shadow_paging_the_processors_cr3_is_not_the_guests),
		T(without_paging_cr3_is_kept),
		T(a_tss_may_cross_pages_that_lie_apart),
		T(segments_are_looked_up_in_the_new_address_space),
		T(a_bad_tss_is_refused),
		T(so_is_a_switch_from_one),
		T(bad_segments_are_refused),
		T(bad_ldts_are_refused),
		T(what_is_not_present_has_exceptions_of_its_own),
		T(the_error_code_says_whether_an_event_came_from_outside),
		T(an_error_code_needs_room_on_the_stack),
		T(a_stack_that_expands_down_ends_above_its_limit),
		T(an_error_code_needs_a_mapped_stack),
		T(the_t_bit_is_a_debug_exception_in_the_new_task),
		T(loaded_descriptors_are_marked_accessed),
		T(the_old_task_is_saved_within_its_limit),
		T(conforming_code_and_readable_code_as_data_are_good),
		T(no_task_makes_a_guest_that_can_not_be_entered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
