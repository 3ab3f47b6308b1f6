// SPDX-License-Identifier: GPL-2.0-only
/*
 * A caught write to the APIC's page: what reaches the register, from which of the guest's
 * registers, and where the guest goes on; what is not known is #GP and changes nothing.
 */
#include "support.h"

#include <string.h>

#include "fake_debugger.h"
#include "svm/apic.c"

#define CODE	0x5ff0u
#define APIC_AT 0xfee00000u

static struct vmcb vmcb;
static struct vcpu vcpu;
static struct e820_map map;
static uint32_t offset, value;
static unsigned int writes, faults;
static bool x2apic, released;

bool svm_apic_is_released(void)
{
	return released;
}

void exit_apic_write(uint32_t at, uint32_t written)
{
	offset = at;
	value = written;
	writes++;
}

bool lapic_is_x2apic(void)
{
	return x2apic;
}

uint32_t lapic_read(uint32_t at)
{
	assert_false(x2apic);
	assert_int_equal(at, 0x80);
	return 0x11223344;
}

void svm_inject_exception(struct vcpu *v, unsigned int vector, int error_code)
{
	assert_ptr_equal(v, &vcpu);
	assert_int_equal(vector, 13);
	assert_int_equal(error_code, 0);
	faults++;
}

/* Flat 32-bit code without paging */
static int make_guest(void **state)
{
	(void)state;
	console_clear();
	arena_create(16 * PAGE_SIZE);
	map.count = 0;
	e820_add(&map, 0, 16 * PAGE_SIZE, E820_RAM);
	guest_memory_init(&map);
	memset(&vmcb, 0, sizeof(vmcb));
	memset(&vcpu, 0, sizeof(vcpu));
	vcpu.arch = &vmcb;
	vmcb.save.cr0 = CR0_PE;
	vmcb.save.cs.attributes = 0xc9b;
	vmcb.save.rip = CODE;
	vmcb.save.rsp = 0x5555555544444444;
	for (unsigned int i = 0; i < 16; i++)
		(&vcpu.regs.rax)[i] = 0x1000000000000000u * i + 0xa0 + i;
	writes = faults = 0;
	x2apic = released = false;
	return 0;
}

static void execute(const char *code, uint32_t at)
{
	writes = faults = 0;
	memcpy(arena_at(CODE), code, 15);
	svm_apic_exit(&vcpu, gpa(APIC_AT + at));
}

static void assert_written(uint32_t at, uint32_t expected, unsigned int length)
{
	assert_int_equal(faults, 0);
	assert_int_equal(writes, 1);
	assert_int_equal(offset, at);
	assert_int_equal(value, expected);
	assert_int_equal(vmcb.save.rip, CODE + length);
	vmcb.save.rip = CODE;
}

static void a_register_is_stored(void **state)
{
	(void)state;
	execute("\x89\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x300);
	assert_written(0x300, 0xa1, 2);
	execute("\x89\x27\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x300);
	assert_written(0x300, 0x44444444, 2); /* ESP is the VMCB's */
	execute("\xa3\x00\x03\xe0\xfe\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x300);
	assert_written(0x300, 0xa0, 5);
}

static void an_immediate_is_stored(void **state)
{
	(void)state;
	execute("\xc7\x07\x00\x45\x0c\x00\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x300);
	assert_written(0x300, 0xc4500, 6);
}

static void an_exchange_gives_what_was_there(void **state)
{
	(void)state;
	execute("\x87\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x80);
	assert_written(0x80, 0xa1, 2);
	assert_int_equal(vcpu.regs.rcx, 0x11223344);
	x2apic = true; /* nothing is there then */
	execute("\x87\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x310);
	assert_int_equal(vcpu.regs.rcx, UINT32_MAX);
}

/* The same bytes: 44h is INC ESP, or REX.R. */
static void code_is_as_wide_as_its_segment_says(void **state)
{
	static const char code[] = "\x44\x89\x07\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90";

	(void)state;
	execute(code, 0xb0);
	assert_int_equal(faults, 1);
	vmcb.save.cs.attributes = 0xa9b;
	execute(code, 0xb0);
	assert_int_equal(faults, 1); /* L without long mode */
	vmcb.save.efer = EFER_LMA;
	execute(code, 0xb0);
	assert_written(0xb0, 0xa8, 3);
	vmcb.save.efer = 0;
	vmcb.save.cs.attributes = 0x9b;
	execute("\x66\x67\x89\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0xb0);
	assert_written(0xb0, 0xa1, 4);
}

static void what_is_not_known_is_a_fault(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		execute("\x01\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0x300);
		assert_int_equal(faults, 1);
		assert_int_equal(writes, 0);
		assert_int_equal(vmcb.save.rip, CODE);
	}
	assert_int_equal(console_count(LOG_WARN), 0); /* told once, by the test before */
}

/* APM volume 2, 16.3.2: registers are 16 bytes apart */
static void what_lies_between_registers_is_a_fault(void **state)
{
	(void)state;
	for (uint32_t at = 0x301; at < 0x310; at++) {
		execute("\x89\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", at);
		assert_int_equal(faults, 1);
		assert_int_equal(writes, 0);
	}
}

static void code_ends_where_memory_does(void **state)
{
	(void)state;
	vmcb.save.rip = 16 * PAGE_SIZE - 2;
	memcpy(arena_at(vmcb.save.rip), "\x89\x0f", 2);
	svm_apic_exit(&vcpu, gpa(APIC_AT + 0xb0));
	assert_int_equal(writes, 1);
	assert_int_equal(vmcb.save.rip, 16 * PAGE_SIZE);
	vmcb.save.rip = 16 * PAGE_SIZE - 1;
	svm_apic_exit(&vcpu, gpa(APIC_AT + 0xb0));
	assert_int_equal(faults, 1);
}

/* Another processor has released the page: this write is done, the next one does not exit. */
static void an_old_translation_is_flushed(void **state)
{
	(void)state;
	execute("\x89\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0xb0);
	assert_written(0xb0, 0xa1, 2);
	assert_int_equal(vmcb.control.tlb_control, 0);
	released = true;
	execute("\x89\x0f\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 0xb0);
	assert_written(0xb0, 0xa1, 2);
	assert_int_equal(vmcb.control.tlb_control, 1); /* all: APM volume 2, 15.16.1 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_guest)
		T(a_register_is_stored),
		T(an_immediate_is_stored),
		T(an_exchange_gives_what_was_there),
		T(code_is_as_wide_as_its_segment_says),
		T(what_is_not_known_is_a_fault),
		T(what_lies_between_registers_is_a_fault),
		T(code_ends_where_memory_does),
		T(an_old_translation_is_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
