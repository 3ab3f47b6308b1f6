// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processors that start, and what the guest's INIT and STARTUP do to which of them. Here a
 * processor that a STARTUP reaches runs at once, up to where it would run the guest or halt.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "core/cpu.h"

_Noreturn static void fake_cpu_stop(void);
static uint64_t port_reads;

/* APIC_BASE of the processor that is under way, and which of them the VMI ROM was told of */
static uint64_t apic_base;
static unsigned int notes;

#define inb(port)  ((void)(port), (void)port_reads++)
#define rdmsr(msr) (assert_int_equal(msr, 0x1b), apic_base)
#define cpu_stop() fake_cpu_stop()
#include "core/smp.c"

#define ARENA_SIZE (4 * MIB)
#define FRAMES	   (3 * MIB)
#define ROOT	   0x7f801000
#define MACHINE	   5 /* processors */

void vmi_apic_note_base(uint64_t base)
{
	assert_int_equal(base, apic_base);
	notes++;
}

/* In ap_entry.asm: the code, and behind it struct ap_handover */
asm(".data\n"
    ".globl ap_trampoline, ap_handover, ap_trampoline_end\n"
    "ap_trampoline: .skip 64, 0x90\n"
    "ap_handover: .quad 0; .long 0, 0x40; .word 8, 15; .long 0x58\n"
    ".skip 16\n"
    "ap_trampoline_end: .byte 0\n"
    ".text\n");

/* Not in order; the boot processor is not 0. */
static const uint32_t ids[MACHINE] = {4, 0, 7, 2, 9};

static struct processor all[PROCESSORS_MAX];
static struct processor *current;
static unsigned int processor_total;

/* What each has come to, by its number */
static struct {
	bool dead;	   /* answers to no STARTUP */
	bool is_locked;	   /* its firmware has switched virtualization off */
	bool is_broken;	   /* its virtualization can't be turned on */
	unsigned int runs; /* of the guest */
	unsigned int halts, states;
	struct start_state state; /* the last one */
} machine[PROCESSORS_MAX];

/* Sent by the APIC */
static struct {
	uint32_t apic_id, command;
	bool with_lock;
} sent[64];
static unsigned int sent_count;

static uint32_t icr_high, written_offset, written_value;
static unsigned int writes, resets, lapic_resets, ends;
static bool x2apic, waits_for_startup;
static int ap_error;
static jmp_buf *stopped; /* where the processor that runs now ends */

/* ---- core/processor.c ---- */

struct processor *processor_boot(void)
{
	return &all[0];
}

struct processor *processor_current(void)
{
	return current;
}

struct processor *processor_add(uint32_t apic_id)
{
	struct processor *processor = &all[processor_total];

	processor->apic_id = apic_id;
	processor->vcpu.id = processor_total++;
	return processor;
}

unsigned int processor_count(void)
{
	return processor_total;
}

struct processor *processor_at(unsigned int number)
{
	assert_true(number < processor_total);
	return &all[number];
}

struct processor *processor_find(uint32_t apic_id)
{
	for (unsigned int i = 0; i < processor_total; i++)
		if (all[i].apic_id == apic_id)
			return &all[i];
	return NULL;
}

/* ---- the vendor ---- */

static int fake_probe(char *why, size_t size)
{
	snprintf(why, size, "the firmware has switched it off");
	return machine[current->vcpu.id].is_locked ? -ENODEV : 0;
}

static int fake_enable(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &current->vcpu);
	assert_false(machine[vcpu->id].is_locked); /* #GP */
	return machine[vcpu->id].is_broken ? -ENODEV : 0;
}

static int fake_vcpu_init(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &current->vcpu);
	return 0;
}

static void fake_set_state(struct vcpu *vcpu, const struct start_state *state)
{
	machine[vcpu->id].state = *state;
	machine[vcpu->id].states++;
}

static struct vendor fake_vendor;

/* Where INIT does not exit this does not return. */
static void fake_await_init(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &current->vcpu);
	if (!fake_vendor.init_exits)
		fake_cpu_stop();
}

static void fake_await_startup(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &current->vcpu);
	waits_for_startup = true;
}

static struct vendor fake_vendor = {
	.probe = fake_probe,
	.enable = fake_enable,
	.vcpu_init = fake_vcpu_init,
	.set_state = fake_set_state,
	.await_init = fake_await_init,
	.await_startup = fake_await_startup,
};

const struct vendor *vendor = &fake_vendor;

void vcpu_run(struct vcpu *vcpu)
{
	machine[vcpu->id].runs++;
	longjmp(*stopped, 1);
}

_Noreturn static void fake_cpu_stop(void)
{
	machine[current->vcpu.id].halts++;
	longjmp(*stopped, 1);
}

/* ---- the APIC, and what its signals do ---- */

bool lapic_is_x2apic(void)
{
	return x2apic;
}

uint32_t lapic_id(void)
{
	return ids[0];
}

uint32_t lapic_read(uint32_t offset)
{
	assert_false(x2apic); /* has no such register */
	assert_int_equal(offset, 0x310);
	return icr_high;
}

void lapic_write(uint32_t offset, uint32_t value)
{
	assert_false(x2apic);
	written_offset = offset;
	written_value = value;
	writes++;
}

void lapic_reset(void)
{
	lapic_resets++;
}

static void run_from_trampoline(uint32_t apic_id, uint32_t page)
{
	struct processor *before = current, *target;
	jmp_buf *stopped_before = stopped, here;

	assert_int_equal(page << 12, low_page.raw);
	target = (struct processor *)(uintptr_t)handover()->processor;
	assert_int_equal(target->apic_id, apic_id);
	if (machine[target->vcpu.id].dead)
		return;
	current = target;
	stopped = &here;
	if (setjmp(here) == 0)
		smp_main(target);
	current = before;
	stopped = stopped_before;
}

void lapic_send(uint32_t apic_id, uint32_t command)
{
	assert_in_range(sent_count, 0, ARRAY_SIZE(sent) - 1);
	sent[sent_count].apic_id = apic_id;
	sent[sent_count].command = command;
	sent[sent_count++].with_lock = lock_is_taken();
	if ((command >> 8 & 7) == 6)
		run_from_trampoline(apic_id, command & 0xff);
}

/* ---- the rest of Vellum ---- */

void exception_load(struct descriptor_tables *tables)
{
	assert_ptr_equal(tables, &current->tables);
}

unsigned int acpi_list_cpus(uint32_t boot_apic_id, uint32_t *list, unsigned int max)
{
	assert_int_equal(boot_apic_id, ids[0]);
	assert_int_equal(max, PROCESSORS_MAX - 1);
	memcpy(list, ids + 1, sizeof(ids) - sizeof(ids[0]));
	return MACHINE - 1;
}

static gpa_t overlay;
static hpa_t overlay_copy, identity;

int guest_space_overlay(gpa_t start, uint64_t size, hpa_t pages, enum memory_type type)
{
	assert_int_equal(size, PAGE_SIZE);
	assert_int_equal(type, MEMORY_WB);
	overlay = start;
	overlay_copy = pages;
	return 0;
}

int image_map_identity(hpa_t page)
{
	identity = page;
	return 0;
}

uint64_t image_root(void)
{
	return ROOT;
}

struct start_state start_state_startup(struct vcpu *vcpu, uint8_t page)
{
	(void)vcpu;
	return (struct start_state){.cs.base = (uint32_t)page << 12};
}

int start_state_ap(struct vcpu *vcpu, const struct vmi_ap_state *ap, struct start_state *state)
{
	(void)vcpu;
	*state = (struct start_state){.rip = ap->eip};
	return ap_error;
}

void record_end(const char *why)
{
	assert_string_equal(why, "reset");
	ends++;
}

void power_reset(void)
{
	resets++;
	longjmp(*stopped, 1);
}

/* ---- the page that processors start in ---- */

static struct boot_info boot;
static struct e820_map map;

static void forget_all(void)
{
	memset(all, 0, sizeof(all));
	memset(machine, 0, sizeof(machine));
	memset(startups, 0, sizeof(startups));
	memset(ready, 0, sizeof(ready));
	memset(&boot, 0, sizeof(boot));
	memset(&map, 0, sizeof(map));
	present = given = processor_total = 1;
	low_page = hpa(0);
	atomic_store(&stopping, false);
	current = &all[0];
	sent_count = writes = resets = lapic_resets = ends = notes = 0;
	apic_base = 0xfee00d00;
	x2apic = waits_for_startup = false;
	fake_vendor.init_exits = false;
	ap_error = 0;
}

static int make_machine(void **state)
{
	(void)state;
	console_clear();
	forget_all();
	arena_create(ARENA_SIZE);
	frames_init(hpa(FRAMES), hpa(ARENA_SIZE));
	e820_add(&map, 0, 0x9fc00, E820_RAM);
	e820_add(&map, 1 * MIB, ARENA_SIZE - 1 * MIB, E820_RAM);
	smp_find_processors();
	return 0;
}

static void all_processors_are_found(void **state)
{
	(void)state;
	assert_int_equal(smp_present_count(), MACHINE);
	assert_int_equal(all[0].apic_id, ids[0]);
	assert_memory_equal(apic_ids, ids, sizeof(ids));
}

static void the_highest_free_page_is_taken(void **state)
{
	uint64_t ram = e820_ram_size(&map);

	(void)state;
	smp_take_page(&boot, &map);
	assert_int_equal(low_page.raw, 0x9e000);
	assert_true(e820_covers(&map, 0x9e000, PAGE_SIZE, E820_RESERVED));
	assert_int_equal(e820_ram_size(&map), ram - PAGE_SIZE);
}

static void modules_are_left_alone(void **state)
{
	(void)state;
	boot.module_count = 2;
	boot.module[0].start = hpa(0x9d800);
	boot.module[0].size = 0x1000;
	boot.module[1].start = hpa(0x10000);
	boot.module[1].size = 0x8c001;
	smp_take_page(&boot, &map);
	assert_int_equal(low_page.raw, 0xf000); /* 9c001h to 9d800h holds no page */
}

static void a_page_below_a_module_will_do(void **state)
{
	(void)state;
	boot.module_count = 1;
	boot.module[0].start = hpa(0x2000);
	boot.module[0].size = 0x9e000;
	smp_take_page(&boot, &map);
	assert_int_equal(low_page.raw, 0x1000); /* never 0, where the BIOS has its data */
	assert_true(e820_covers(&map, 0x2000, 0x90000, E820_RAM));
}

static void without_a_free_page_one_processor_is_used(void **state)
{
	(void)state;
	boot.module_count = 1;
	boot.module[0].start = hpa(0x1000);
	boot.module[0].size = 0x9f000;
	smp_take_page(&boot, &map);
	assert_int_equal(smp_present_count(), 1);
	assert_console(LOG_WARN, "no free page below 640 KiB");
	assert_int_equal(smp_prepare(), 0);
	assert_int_equal(smp_start(), 0);
	assert_int_equal(sent_count, 0);
}

/* No room to note what modules cover: any page might be theirs. */
static void a_full_map_has_no_page(void **state)
{
	(void)state;
	map.count = 0;
	for (uint64_t i = 1; i < E820_MAX_ENTRIES; i++)
		e820_add(&map, i * 0x1000, 0x800, E820_RAM);
	e820_add(&map, 0x90000, PAGE_SIZE, E820_RAM);
	boot.module_count = 1;
	boot.module[0].start = hpa(0x1200);
	boot.module[0].size = 0x100;
	smp_take_page(&boot, &map);
	assert_int_equal(smp_present_count(), 1);
	assert_int_equal(low_page.raw, 0);
}

static void a_machine_with_one_processor_needs_no_page(void **state)
{
	(void)state;
	present = 1;
	smp_take_page(&boot, &map);
	assert_int_equal(low_page.raw, 0);
	assert_console_quiet();
}

static void the_guest_gets_what_there_is(void **state)
{
	(void)state;
	smp_give(3);
	assert_int_equal(smp_guest_count(), 3);
	smp_give(100);
	assert_int_equal(smp_guest_count(), MACHINE);
}

static void the_guest_finds_its_own_copy_of_the_page(void **state)
{
	(void)state;
	smp_take_page(&boot, &map);
	memset(arena_at(low_page.raw), 0x77, PAGE_SIZE);
	assert_int_equal(smp_prepare(), 0);
	assert_int_equal(overlay.raw, low_page.raw);
	assert_int_equal(identity.raw, low_page.raw);
	assert_true(overlay_copy.raw >= FRAMES);
	for (unsigned int i = 0; i < PAGE_SIZE; i++)
		assert_int_equal(((uint8_t *)arena_at(overlay_copy.raw))[i], 0x77);
	assert_memory_equal(arena_at(low_page.raw), ap_trampoline, 64);
	assert_int_equal(handover()->root, ROOT);
	assert_int_equal(handover()->entry, low_page.raw + 0x40);
	assert_int_equal(handover()->gdt, low_page.raw + 0x58);
	assert_int_equal(handover()->code_selector, 8);
}

/* ---- Vellum starts them ---- */

static void take_page_and_start(unsigned int count)
{
	smp_take_page(&boot, &map);
	smp_give(count);
	assert_int_equal(smp_prepare(), 0);
	assert_int_equal(smp_start(), 0);
	assert_int_equal(processor_total, MACHINE);
	assert_lock_free();
}

static void assert_sent(unsigned int number, uint32_t apic_id, unsigned int mode)
{
	assert_true(number < sent_count);
	assert_int_equal(sent[number].apic_id, apic_id);
	assert_int_equal(sent[number].command >> 8 & 7, mode);
	assert_true(sent[number].command & BIT(14));		/* assert */
	assert_int_equal(sent[number].command & 0xfffc3800, 0); /* no shorthand, physical */
}

static void with_init_exits_they_wait_in_the_guest(void **state)
{
	(void)state;
	fake_vendor.init_exits = true;
	take_page_and_start(3);
	assert_int_equal(sent_count, 2 * (MACHINE - 1));
	for (unsigned int i = 1; i < MACHINE; i++) {
		assert_sent(2 * (i - 1), ids[i], 5);
		assert_sent(2 * (i - 1) + 1, ids[i], 6);
		assert_int_equal(machine[i].runs, i < 3);
		assert_int_equal(machine[i].states, i < 3);
		assert_int_equal(machine[i].halts, i >= 3);
	}
	assert_int_equal(notes, MACHINE - 1); /* of the boot processor rom_install.c tells */
	assert_console_quiet();
}

/* The second INIT takes it out of Vellum, to wait for the guest's STARTUP. */
static void without_init_exits_they_wait_for_startup(void **state)
{
	(void)state;
	take_page_and_start(3);
	assert_int_equal(sent_count, 2 * (MACHINE - 1) + 2);
	assert_sent(0, ids[1], 5);
	assert_sent(1, ids[1], 6);
	assert_sent(2, ids[1], 5);
	assert_sent(5, ids[2], 5);
	assert_sent(6, ids[3], 5); /* parked: one INIT, and it stays */
	assert_sent(7, ids[3], 6);
	assert_sent(8, ids[4], 5);
	for (unsigned int i = 1; i < MACHINE; i++) {
		assert_int_equal(machine[i].runs, 0);
		assert_int_equal(machine[i].halts, 1);
	}
}

static void one_that_does_not_answer_is_missed(void **state)
{
	(void)state;
	fake_vendor.init_exits = true;
	machine[2].dead = true;
	take_page_and_start(MACHINE);
	assert_console(LOG_WARN, "processor 2 (APIC id 7) did not start");
	assert_int_equal(console_count(LOG_WARN), 1);
	assert_int_equal(sent_count, 2 * (MACHINE - 1) + 1);
	assert_sent(3, 7, 6);
	assert_sent(4, 7, 6); /* STARTUP is tried twice */
	assert_true(port_reads > 2000000);
	assert_int_equal(machine[3].runs, 1);
	assert_int_equal(machine[4].runs, 1);
}

static void one_that_can_not_run_guests_stops(void **state)
{
	(void)state;
	machine[1].is_broken = true;
	take_page_and_start(MACHINE);
	assert_console(LOG_ERROR, "processor 1 stops here");
	assert_console(LOG_WARN, "processor 1 (APIC id 0) did not start");
	assert_int_equal(machine[1].halts, 1);
	assert_int_equal(machine[1].states, 0);
	assert_true(ready[2] && !ready[1]);
}

static void one_that_firmware_has_not_unlocked_is_named(void **state)
{
	(void)state;
	machine[1].is_locked = true;
	take_page_and_start(MACHINE);
	assert_console(LOG_WARN, "processor 1: the firmware has switched it off");
	assert_console(LOG_WARN, "processor 1 (APIC id 0) did not start");
	assert_int_equal(machine[1].halts, 1);
	assert_true(ready[2] && !ready[1]);
}

/* 300 would be taken for 44, and stop another processor. */
static void one_that_has_no_address_is_not_started(void **state)
{
	(void)state;
	apic_ids[2] = 300;
	take_page_and_start(MACHINE);
	assert_console(LOG_WARN, "APIC id 12c) did not start");
	for (unsigned int i = 0; i < sent_count; i++)
		assert_int_not_equal(sent[i].apic_id, 300);
	make_machine(state);
	apic_ids[2] = 300;
	x2apic = true;
	take_page_and_start(MACHINE);
	assert_console_quiet();
}

/* ---- which processors a command reaches ---- */

/* Three of five are the guest's, and the second of them sends. */
static int start_three(void **state)
{
	make_machine(state);
	take_page_and_start(3);
	current = &all[1];
	sent_count = 0;
	return 0;
}

/* True if Vellum knew the command. */
static bool command_of(uint64_t command)
{
	jmp_buf here;
	bool known = true;

	stopped = &here;
	sent_count = resets = 0;
	if (setjmp(here) == 0)
		known = smp_write_command(command);
	return known;
}

#define INIT	0x4500u
#define STARTUP 0x4600u
#define LOGICAL 0x0800u

/* In xAPIC mode; the destination's 8 bits are the highest. */
static uint64_t to(uint32_t apic_id, uint32_t command)
{
	return (uint64_t)apic_id << 56 | command;
}

static uint64_t shorthand(unsigned int which, uint32_t command)
{
	return (uint64_t)which << 18 | command;
}

static void assert_reaches(uint64_t command, const char *numbers)
{
	assert_true(command_of(command));
	assert_int_equal(sent_count, strlen(numbers));
	for (unsigned int i = 0; i < sent_count; i++)
		assert_sent(i, ids[numbers[i] - '0'], 5);
	assert_int_equal(resets, 0);
	assert_lock_free();
}

static void a_physical_destination_is_one_processor(void **state)
{
	(void)state;
	assert_reaches(to(ids[2], INIT), "2");
	assert_reaches(to(ids[1], INIT), "1"); /* itself */
	assert_reaches(to(ids[2] + 0x10, INIT), "");
	assert_reaches(to(ids[2], INIT) | 0x00ffffff00000000, "2"); /* reserved */
	assert_console_quiet();
}

static void parked_processors_are_out_of_reach(void **state)
{
	(void)state;
	assert_reaches(to(ids[3], INIT), "");
	assert_reaches(to(ids[4], INIT), "");
	assert_reaches(to(ids[3], STARTUP), "");
	current = &all[0];
	assert_reaches(shorthand(3, INIT), "12");
}

static void a_processor_that_did_not_start_is_out_of_reach(void **state)
{
	(void)state;
	ready[2] = false;
	assert_reaches(to(ids[2], INIT), "");
	assert_reaches(to(ids[2], STARTUP), "");
}

static void itself_is_the_sender(void **state)
{
	(void)state;
	assert_reaches(shorthand(1, to(ids[2], INIT)), "1"); /* the destination does not count */
	current = &all[2];
	assert_reaches(shorthand(1, INIT), "2");
}

static void others_are_all_but_the_sender(void **state)
{
	(void)state;
	current = &all[0];
	assert_reaches(shorthand(3, to(ids[2], INIT)), "12");
	assert_reaches(shorthand(3, LOGICAL | INIT), "12"); /* a shorthand has no mode */
	assert_console_quiet();
}

static void assert_resets(uint64_t command)
{
	console_clear();
	ends = 0;
	command_of(command);
	assert_int_equal(resets, 1);
	assert_int_equal(ends, 1);
	assert_console(LOG_INFO, "INIT reached the boot processor");
	while (lock_is_taken())
		lock_release();
}

static void the_boot_processors_init_resets_the_machine(void **state)
{
	(void)state;
	assert_resets(to(ids[0], INIT));
	assert_resets(to(0xff, INIT));
	assert_resets(shorthand(2, INIT));
	assert_resets(shorthand(3, INIT)); /* from another one */
	current = &all[0];
	assert_resets(shorthand(1, INIT));
}

static void in_x2apic_mode_a_destination_has_32_bits(void **state)
{
	(void)state;
	x2apic = true;
	assert_reaches((uint64_t)ids[2] << 32 | INIT, "2");
	assert_reaches(((uint64_t)ids[2] + 0x100) << 32 | INIT, "");
	assert_reaches((uint64_t)ids[2] << 56 | INIT, "");
	assert_reaches((uint64_t)0xff << 32 | INIT, ""); /* one processor, which is not there */
	assert_resets((uint64_t)UINT32_MAX << 32 | INIT);
}

static void logical_destinations_are_told_once_and_ignored(void **state)
{
	(void)state;
	assert_reaches(to(ids[2], LOGICAL | INIT), "");
	assert_reaches(to(ids[2], LOGICAL | STARTUP), "");
	assert_console(LOG_WARN, "logical destination");
	assert_int_equal(console_count(LOG_WARN), 1);
}

static void all_other_commands_are_the_hardwares(void **state)
{
	(void)state;
	for (uint32_t mode = 0; mode < 8; mode++)
		assert_int_equal(command_of(to(ids[2], mode << 8 | 0x4040)),
				 mode == 5 || mode == 6);
	assert_false(command_of(shorthand(3, 0x4440))); /* NMI */
}

/* "INIT level de-assert" has to do with APICs before the Pentium 4 only. */
static void a_released_init_does_nothing(void **state)
{
	(void)state;
	assert_reaches(to(ids[2], 0x8500), "");
	assert_reaches(shorthand(2, 0x8500), "");
	assert_reaches(to(ids[2], 0xc500), "2"); /* as Linux asserts it */
}

/* On hardware it stays in Vellum until the next entry to the guest, and must not own the lock. */
static void the_senders_own_init_comes_last_without_the_lock(void **state)
{
	(void)state;
	given = 4;
	assert_reaches(to(ids[1], INIT), "1");
	assert_false(sent[0].with_lock);
	assert_reaches(to(ids[2], INIT), "2");
	assert_true(sent[0].with_lock); /* so that the other one is in nothing that it protects */
}

/* ---- STARTUP ---- */

static void send_startup(unsigned int number, uint8_t page)
{
	assert_true(command_of(to(ids[number], STARTUP | page)));
	assert_lock_free();
}

static void startup_leads_the_processor_back_into_vellum(void **state)
{
	(void)state;
	send_startup(2, 0x9a);
	assert_int_equal(sent_count, 1);
	assert_sent(0, ids[2], 6);
	assert_int_equal(sent[0].command & 0xff, low_page.raw >> 12); /* not the guest's page */
	assert_int_equal(machine[2].runs, 1);
	assert_int_equal(machine[2].state.cs.base, 0x9a000);
}

static void startup_without_init_is_ignored(void **state)
{
	(void)state;
	send_startup(2, 0x9a);
	send_startup(2, 0x9b); /* Linux sends two */
	assert_int_equal(sent_count, 0);
	assert_int_equal(machine[2].runs, 1);
	assert_int_equal(machine[2].state.cs.base, 0x9a000);
	assert_true(command_of(to(ids[2], INIT)));
	send_startup(2, 0x9b);
	assert_int_equal(machine[2].runs, 2);
	assert_int_equal(machine[2].state.cs.base, 0x9b000);
	send_startup(0, 0x9a); /* the boot processor never waits */
	assert_int_equal(sent_count, 0);
}

static void one_startup_can_start_all(void **state)
{
	(void)state;
	current = &all[0];
	command_of(shorthand(3, STARTUP | 0x10));
	assert_int_equal(sent_count, 2);
	assert_int_equal(machine[1].state.cs.base, 0x10000);
	assert_int_equal(machine[2].state.cs.base, 0x10000);
	assert_int_equal(machine[3].runs, 0);
}

/* The console gets no line each time: a guest can do this in a loop. */
static void one_that_does_not_answer_may_be_tried_again(void **state)
{
	(void)state;
	machine[2].dead = true;
	send_startup(2, 0x9a);
	assert_console(LOG_WARN, "processor 2 did not answer to STARTUP");
	assert_int_equal(sent_count, 2);
	send_startup(2, 0x9a);
	assert_int_equal(sent_count, 2);
	assert_int_equal(console_count(LOG_WARN), 1);
	machine[2].dead = false;
	send_startup(2, 0x9a);
	assert_int_equal(machine[2].runs, 1);
}

/* ---- SetInitialAPState ---- */

static void a_prepared_state_is_used_once(void **state)
{
	struct vmi_ap_state ap = {.eip = 0xc0101000};

	(void)state;
	assert_int_equal(smp_set_ap_state(ids[2], &ap), 0);
	ap.eip = 0; /* Vellum has its own copy */
	send_startup(2, 0x9a);
	assert_int_equal(machine[2].state.rip, 0xc0101000);
	assert_int_equal(machine[2].state.cs.base, 0);
	command_of(to(ids[2], INIT));
	send_startup(2, 0x9a);
	assert_int_equal(machine[2].state.rip, 0);
	assert_int_equal(machine[2].state.cs.base, 0x9a000);
}

static void a_state_is_for_one_processor(void **state)
{
	struct vmi_ap_state ap = {.eip = 0xc0101000};

	(void)state;
	assert_int_equal(smp_set_ap_state(ids[1], &ap), 0);
	send_startup(2, 0x9a);
	assert_int_equal(machine[2].state.cs.base, 0x9a000);
	assert_int_equal(smp_set_ap_state(ids[0], &ap), -ENODEV); /* runs already */
	assert_int_equal(smp_set_ap_state(ids[3], &ap), -ENODEV); /* parked */
	assert_int_equal(smp_set_ap_state(0x55, &ap), -ENODEV);
	assert_lock_free();
}

static void a_state_that_can_not_be_is_told(void **state)
{
	struct vmi_ap_state ap = {.eip = 0xc0101000};

	(void)state;
	ap_error = -EFAULT;
	assert_int_equal(smp_set_ap_state(ids[2], &ap), 0);
	send_startup(2, 0x9a);
	assert_console(LOG_WARN, "processor 2: the guest's initial state for it is not usable");
	assert_int_equal(machine[2].state.cs.base, 0x9a000);
	assert_int_equal(machine[2].runs, 1);
	command_of(to(ids[2], INIT));
	assert_int_equal(smp_set_ap_state(ids[2], &ap), 0);
	send_startup(2, 0x9a);
	assert_int_equal(machine[2].runs, 2);
	assert_int_equal(console_count(LOG_WARN), 1);
}

/* ---- where both exit ---- */

static void init_exit_makes_it_wait(void **state)
{
	(void)state;
	exit_init(&current->vcpu);
	assert_true(waits_for_startup);
	assert_int_equal(lapic_resets, 1);
	assert_int_equal(machine[1].state.cs.base, 0);
	exit_startup(&current->vcpu, 0x9a);
	assert_int_equal(machine[1].state.cs.base, 0x9a000);
	assert_int_equal(sent_count, 0);
	assert_lock_free();
}

static void init_exit_of_the_boot_processor_resets(void **state)
{
	jmp_buf here;

	(void)state;
	stopped = &here;
	if (setjmp(here) == 0)
		exit_init(&all[0].vcpu);
	assert_int_equal(resets, 1);
	assert_int_equal(lapic_resets, 0);
}

static void a_startup_exit_uses_what_is_prepared(void **state)
{
	struct vmi_ap_state ap = {.eip = 0xc0101000};

	(void)state;
	assert_int_equal(smp_set_ap_state(ids[1], &ap), 0);
	exit_startup(&current->vcpu, 0x9a);
	assert_int_equal(machine[1].state.rip, 0xc0101000);
}

/* ---- writes to the APIC's page ---- */

static void the_command_is_made_of_both_halves(void **state)
{
	(void)state;
	icr_high = ids[2] << 24;
	exit_apic_write(0x300, INIT);
	assert_int_equal(sent_count, 1);
	assert_sent(0, ids[2], 5);
	assert_int_equal(writes, 0);
	exit_apic_write(0x300, 0x40fd); /* an interrupt */
	assert_int_equal(writes, 1);
	assert_int_equal(written_offset, 0x300);
	assert_int_equal(written_value, 0x40fd);
}

static void other_registers_are_written(void **state)
{
	(void)state;
	exit_apic_write(0x310, INIT);
	assert_int_equal(written_offset, 0x310);
	assert_int_equal(written_value, INIT);
	exit_apic_write(0xb0, 0);
	assert_int_equal(written_offset, 0xb0);
	assert_int_equal(sent_count, 0);
}

/* Most of the page's registers are no MSRs then: #GP, in Vellum. */
static void in_x2apic_mode_the_page_is_nothing(void **state)
{
	(void)state;
	x2apic = true;
	exit_apic_write(0x300, INIT);
	exit_apic_write(0x310, 0);
	exit_apic_write(0x3f0, 0);
	assert_int_equal(writes + sent_count, 0);
}

/* ---- the last words ---- */

static void stopping_reaches_whoever_runs_the_guest(void **state)
{
	jmp_buf here;

	(void)state;
	ready[2] = true;
	smp_stop_others();
	assert_int_equal(sent_count, 2);
	assert_sent(0, ids[0], 5);
	assert_sent(1, ids[2], 5);
	stopped = &here;
	if (setjmp(here) == 0)
		exit_init(&all[0].vcpu);
	assert_int_equal(resets, 0);
	assert_int_equal(machine[1].halts, 2); /* of the one that runs this */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name)	 cmocka_unit_test_setup(name, make_machine)
#define T3(name) cmocka_unit_test_setup(name, start_three)
		T(all_processors_are_found),
		T(the_highest_free_page_is_taken),
		T(modules_are_left_alone),
		T(a_page_below_a_module_will_do),
		T(without_a_free_page_one_processor_is_used),
		T(a_full_map_has_no_page),
		T(a_machine_with_one_processor_needs_no_page),
		T(the_guest_gets_what_there_is),
		T(the_guest_finds_its_own_copy_of_the_page),
		T(with_init_exits_they_wait_in_the_guest),
		T(without_init_exits_they_wait_for_startup),
		T(one_that_does_not_answer_is_missed),
		T(one_that_can_not_run_guests_stops),
		T(one_that_firmware_has_not_unlocked_is_named),
		T(one_that_has_no_address_is_not_started),
		T3(a_physical_destination_is_one_processor),
		T3(parked_processors_are_out_of_reach),
		T3(a_processor_that_did_not_start_is_out_of_reach),
		T3(itself_is_the_sender),
		T3(others_are_all_but_the_sender),
		T3(the_boot_processors_init_resets_the_machine),
		T3(in_x2apic_mode_a_destination_has_32_bits),
		T3(logical_destinations_are_told_once_and_ignored),
		T3(all_other_commands_are_the_hardwares),
		T3(a_released_init_does_nothing),
		T3(the_senders_own_init_comes_last_without_the_lock),
		T3(startup_leads_the_processor_back_into_vellum),
		T3(startup_without_init_is_ignored),
		T3(one_startup_can_start_all),
		T3(one_that_does_not_answer_may_be_tried_again),
		T3(a_prepared_state_is_used_once),
		T3(a_state_is_for_one_processor),
		T3(a_state_that_can_not_be_is_told),
		T3(init_exit_makes_it_wait),
		T3(init_exit_of_the_boot_processor_resets),
		T3(a_startup_exit_uses_what_is_prepared),
		T3(the_command_is_made_of_both_halves),
		T3(other_registers_are_written),
		T3(in_x2apic_mode_the_page_is_nothing),
		T3(stopping_reaches_whoever_runs_the_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
