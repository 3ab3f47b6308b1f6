// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a fault of the ROM's IRET goes, and what of the guest's can mislead that; and the
 * state of a processor that is read from the guest (vmi/smp.c).
 */
#include "support.h"

#include <string.h>

#include "core/cpu.h"
#include "core/vcpu.h"
#include "core/vendor.h"
#include "dev/lapic.h"
#include "lib/errno.h"
#include "vmi/calls.h"
#include "vmi/hypercall.h"

enum { ROM = 0x4000, IRET = 0x123, STUB = 0x456, SITE = 0x1ffd, STACK = 0x3000, MEMORY = 0x8000 };

static uint8_t memory[MEMORY]; /* at 0; the site crosses a page, for what that is worth */
static bool announced;
static uint64_t rip;
static struct vcpu vcpu;

bool hypercall_guest_rom(gva_t *rom)
{
	*rom = gva(ROM);
	return announced;
}

static uint64_t read_rip(const struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
	return rip;
}

static void write_rip(struct vcpu *v, uint64_t value)
{
	assert_ptr_equal(v, &vcpu);
	rip = value;
}

static unsigned int releases;

static void release_apic(void)
{
	releases++;
}

static void read_fault_state(const struct vcpu *v, struct fault_state *state)
{
	assert_ptr_equal(v, &vcpu);
	*state = (struct fault_state){.stack = gva(STACK)};
}

static struct vendor fake = {
	.read_rip = read_rip,
	.write_rip = write_rip,
	.read_fault_state = read_fault_state,
};
const struct vendor *vendor = &fake;

int guest_memory_read(const struct guest_paging *paging, gva_t address, void *out, uint64_t size)
{
	assert_int_equal(paging->cr0, 0);
	if (address.raw >= MEMORY || size > MEMORY - address.raw)
		return -EFAULT;
	memcpy(out, memory + address.raw, size);
	return 0;
}

/* ---- IRET ---- */

static void put_u32(uint32_t at, uint32_t value)
{
	memcpy(memory + at, &value, sizeof(value));
}

static void put_site(uint32_t at)
{
	memory[at] = 0xe8;
	put_u32(at + 1, ROM + STUB - (at + 5));
	put_u32(STACK - 4, at + 5);
}

static int reset(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	vmi_iret_init(IRET, STUB);
	announced = true;
	rip = ROM + IRET;
	put_site(SITE);
	return 0;
}

static void expect_at(uint64_t where)
{
	vmi_move_iret_fault(&vcpu);
	assert_int_equal(rip, where);
}

/* The first test, as nothing has been seen yet. */
static void without_any_site_the_fault_stays(void **state)
{
	(void)state;
	put_u32(STACK - 4, 0x202);
	expect_at(ROM + IRET);
}

static void a_fault_is_moved_to_the_site(void **state)
{
	(void)state;
	expect_at(SITE);
}

static void faults_elsewhere_stay_there(void **state)
{
	(void)state;
	rip = ROM + IRET - 3;
	expect_at(ROM + IRET - 3);
	rip = 0x100000000 + ROM + IRET;
	expect_at(0x100000000 + ROM + IRET);
	rip = ROM + IRET;
	announced = false;
	expect_at(ROM + IRET);
}

/* An NMI's frame, a slot that leads nowhere, a CALL of something else, no CALL. */
static void a_slot_that_is_wrong_means_the_last_site(void **state)
{
	static const uint32_t slots[] = {0x202, 4, 0, 0xffffffff, MEMORY + 2};

	(void)state;
	expect_at(SITE);
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		rip = ROM + IRET;
		put_u32(STACK - 4, slots[i]);
		expect_at(SITE);
	}
	put_site(0x100);
	put_u32(0x101, ROM + STUB + 1 - 0x105);
	rip = ROM + IRET;
	expect_at(SITE);
	put_site(0x100);
	memory[0x100] = 0xe9;
	rip = ROM + IRET;
	expect_at(SITE);
	put_site(0x100);
	rip = ROM + IRET;
	expect_at(0x100);
}

/* ---- SetInitialAPState, APICWrite ---- */

static uint32_t set_id, apic_offset, apic_value, caught_value;
static bool x2apic;

int smp_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state)
{
	(void)state;
	set_id = apic_id;
	return -ENODEV;
}

bool lapic_is_x2apic(void)
{
	return x2apic;
}

void lapic_write(uint32_t offset, uint32_t value)
{
	apic_offset = offset;
	apic_value = value;
}

void exit_apic_write(uint32_t offset, uint32_t value)
{
	assert_int_equal(offset, 0x300);
	caught_value = value;
}

static void the_state_is_read_and_gets_its_reserved_flag(void **state)
{
	struct vmi_ap_state ap;

	(void)state;
	for (unsigned int i = 0; i < sizeof(ap); i++)
		memory[0x2ff0 - 8 + i] = (uint8_t)i;
	assert_int_equal(vmi_read_ap_state(&vcpu, gva(0x2fe8), &ap), 0);
	assert_int_equal(ap.cr0, 0x03020100);
	assert_int_equal(ap.eip, 0x1b1a1918);
	assert_int_equal(ap.eflags, 0x1f1e1d1c | 2);
	assert_int_equal(ap.idtr_limit, 0x5958);
	assert_int_equal(vmi_read_ap_state(&vcpu, gva(MEMORY - 8), &ap), -EFAULT);
	assert_int_equal(vmi_set_ap_state(7, &ap), -ENODEV);
	assert_int_equal(set_id, 7);
}

static void only_init_and_startup_are_start_commands(void **state)
{
	(void)state;
	for (uint32_t mode = 0; mode < 8; mode++)
		assert_int_equal(vmi_is_start_command(0x300, 0xc40ff | mode << 8 | 0xf0000000),
				 mode == 5 || mode == 6);
	assert_false(vmi_is_start_command(0x310, 0x4500));
	assert_false(vmi_is_start_command(0x1300, 0x4500));
}

static void commands_go_where_they_are_caught(void **state)
{
	(void)state;
	fake.init_exits = false;
	fake.release_apic = release_apic;
	vmi_write_start_command(0x4500);
	assert_int_equal(caught_value, 0x4500);
	assert_int_equal(apic_value, 0);
	assert_int_equal(releases, 1); /* the next ones come by call, too */
	fake.release_apic = NULL;
	fake.init_exits = true;
	vmi_write_start_command(0x4699);
	assert_int_equal(caught_value, 0x4500);
	assert_int_equal(apic_offset, 0x300);
	assert_int_equal(apic_value, 0x4699);
	x2apic = true;
	vmi_write_start_command(0x4500);
	assert_int_equal(apic_value, 0x4699);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_any_site_the_fault_stays, reset),
		cmocka_unit_test_setup(a_fault_is_moved_to_the_site, reset),
		cmocka_unit_test_setup(faults_elsewhere_stay_there, reset),
		cmocka_unit_test_setup(a_slot_that_is_wrong_means_the_last_site, reset),
		cmocka_unit_test_setup(the_state_is_read_and_gets_its_reserved_flag, reset),
		cmocka_unit_test_setup(only_init_and_startup_are_start_commands, reset),
		cmocka_unit_test_setup(commands_go_where_they_are_caught, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
