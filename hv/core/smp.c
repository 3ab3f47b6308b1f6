/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/smp.h"

#include <stdatomic.h>

#include "core/cpu.h"
#include "core/exit.h"
#include "core/guest_space.h"
#include "core/lock.h"
#include "core/power.h"
#include "core/processor.h"
#include "core/start_state.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "debug/record.h"
#include "dev/acpi.h"
#include "dev/lapic.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/image.h"
#include "mm/physmap.h"
#include "vmi/apic.h"
#include "vmi/vmi.h"

#define LOW_FLOOR 0x1000u  /* the first page holds the BIOS's data */
#define LOW_LIMIT 0xa0000u /* conventional memory ends here at the latest */

/* Destinations */
#define XAPIC_EVERYBODY	 0xffu
#define X2APIC_EVERYBODY UINT32_MAX

/* About a microsecond each, on every PC: a read from a port of the ISA bus. */
#define PORT_DELAY	 0x80
#define INIT_DELAY	 200
#define STARTUP_PATIENCE 1000000

/* ap_entry.asm */
extern const uint8_t ap_trampoline[], ap_handover[], ap_trampoline_end[];

struct ap_handover {
	uint64_t processor;
	uint32_t root;
	uint32_t entry;
	uint16_t code_selector;
	uint16_t gdt_limit;
	uint32_t gdt;
} __attribute__((packed));

/* What becomes of a processor's next STARTUP. */
struct startup {
	bool prepared; /* by SetInitialAPState */
	struct vmi_ap_state state;
	bool waits;   /* where INIT does not exit: it came, and no STARTUP yet */
	uint8_t page; /* the guest's, for the STARTUP that is under way */
};

static struct startup startups[PROCESSORS_MAX];
static uint32_t apic_ids[PROCESSORS_MAX]; /* the boot processor's first */
static unsigned int present = 1, given = 1;
static hpa_t low_page;		   /* 0: none */
static bool ready[PROCESSORS_MAX]; /* can run the guest */
static atomic_bool arrived, settled, stopping;

void smp_find_processors(void)
{
	apic_ids[0] = lapic_id();
	present = 1 + acpi_list_cpus(apic_ids[0], apic_ids + 1, PROCESSORS_MAX - 1);
	processor_boot()->apic_id = apic_ids[0];
}

/* Not where the boot loader has put something; 0 if there is none. */
static uint64_t find_low_page(const struct boot_info *boot, const struct e820_map *guest_map)
{
	static struct e820_map free;

	free = *guest_map;
	for (unsigned int i = 0; i < boot->module_count; i++)
		if (e820_set_type(&free, boot->module[i].start.raw, boot->module[i].size,
				  E820_RESERVED))
			return 0;
	return e820_find_top(&free, PAGE_SIZE, PAGE_SIZE, LOW_FLOOR, LOW_LIMIT);
}

void smp_take_page(const struct boot_info *boot, struct e820_map *guest_map)
{
	uint64_t page;

	if (present == 1)
		return;
	page = find_low_page(boot, guest_map);
	if (page && !e820_set_type(guest_map, page, PAGE_SIZE, E820_RESERVED)) {
		low_page = hpa(page);
		return;
	}
	pr_warn("no free page below 640 KiB to start processors in: one of %u is used", present);
	present = 1;
}

unsigned int smp_present_count(void)
{
	return present;
}

void smp_give(unsigned int count)
{
	given = (unsigned int)min_u64(count, present);
}

unsigned int smp_guest_count(void)
{
	return given;
}

/* The other processors may be emulated in turn with this one: PAUSE gives them theirs. */
static void wait_a_microsecond(void)
{
	inb(PORT_DELAY);
	cpu_relax();
}

static void delay(unsigned int microseconds)
{
	while (microseconds--)
		wait_a_microsecond();
}

static struct ap_handover *handover(void)
{
	return phys_to_virt(hpa(low_page.raw + (uint64_t)(ap_handover - ap_trampoline)));
}

/*
 * The guest finds another page there: its own copy of what was in it. A STARTUP's page
 * has to be where it is in the machine's memory.
 */
static int make_trampoline(void)
{
	uint8_t *page = phys_to_virt(low_page), *copy = frame_allocate();
	uint32_t base = (uint32_t)low_page.raw;
	int error;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, page, PAGE_SIZE);
	error = guest_space_overlay(gpa(low_page.raw), PAGE_SIZE, virt_to_phys(copy), MEMORY_WB);
	if (!error)
		error = image_map_identity(low_page);
	if (error)
		return error;
	memcpy(page, ap_trampoline, (size_t)(ap_trampoline_end - ap_trampoline));
	handover()->root = (uint32_t)image_root();
	handover()->entry += base;
	handover()->gdt += base;
	return 0;
}

/* Until the processor has its stack, or for a few milliseconds. */
static bool has_arrived(void)
{
	for (unsigned int i = 0; i < STARTUP_PATIENCE; i++) {
		if (atomic_load(&arrived))
			return true;
		wait_a_microsecond();
	}
	return false;
}

/* Leads a processor that waits for STARTUP to smp_main(). The lock is held. */
static bool start(struct processor *processor)
{
	uint32_t command = ICR_ASSERT | ICR_STARTUP << 8 | (uint32_t)(low_page.raw >> PAGE_SHIFT);

	handover()->processor = (uintptr_t)processor;
	atomic_store(&arrived, false);
	for (int attempt = 0; attempt < 2; attempt++) {
		lapic_send(processor->apic_id, command);
		if (has_arrived())
			return true;
	}
	return false;
}

static void send_init(uint32_t apic_id)
{
	lapic_send(apic_id, ICR_ASSERT | ICR_LEVEL | ICR_INIT << 8);
	delay(INIT_DELAY);
}

/* What the guest's own INIT and STARTUP would have led to. */
static struct start_state startup_state(struct vcpu *vcpu)
{
	struct startup *startup = &startups[vcpu->id];
	struct start_state state;
	int error;

	if (!startup->prepared)
		return start_state_startup(vcpu, startup->page);
	startup->prepared = false;
	error = start_state_ap(vcpu, &startup->state, &state);
	if (!error)
		return state;
	pr_warn_once("processor %u: the guest's initial state for it is not usable (%d); it starts "
		     "in real mode at %x; no more such lines",
		     vcpu->id, error, startup->page << PAGE_SHIFT);
	return start_state_startup(vcpu, startup->page);
}

static void begin(struct vcpu *vcpu)
{
	struct start_state state = startup_state(vcpu);

	vendor->set_state(vcpu, &state);
}

/* What INIT leaves is what STARTUP begins with, but for where. */
static void reset(struct vcpu *vcpu)
{
	struct start_state state = start_state_startup(vcpu, 0);

	vendor->set_state(vcpu, &state);
}

/* Firmware may have forgotten to unlock it on all of them. */
static bool is_usable(const struct processor *self)
{
	char why[160];

	if (!vendor->probe(why, sizeof(why)))
		return true;
	pr_warn("processor %u: %s", self->vcpu.id, why);
	return false;
}

/* Returns if the processor can't be used; the console has the reason. */
static void set_up(struct processor *self)
{
	if (!is_usable(self) || vendor->enable(&self->vcpu) || vendor->vcpu_init(&self->vcpu))
		return;
	ready[self->vcpu.id] = true;
	vmi_apic_note_base(rdmsr(MSR_APIC_BASE));
	atomic_store(&settled, true);
	if (self->vcpu.id >= given)
		cpu_stop();
	reset(&self->vcpu);
	vendor->await_init(&self->vcpu);
	vcpu_run(&self->vcpu);
}

/* INIT has taken it out of Vellum, and the guest's STARTUP brings it back. */
static void come_back(struct processor *self)
{
	if (vendor->enable(&self->vcpu) || vendor->vcpu_init(&self->vcpu))
		return;
	lock_take();
	begin(&self->vcpu);
	lock_release();
	vcpu_run(&self->vcpu);
}

_Noreturn void smp_main(struct processor *self); /* for ap_entry.asm */

void smp_main(struct processor *self)
{
	exception_load(&self->tables);
	atomic_store(&arrived, true);
	if (ready[self->vcpu.id])
		come_back(self);
	else
		set_up(self);
	pr_error("processor %u stops here", self->vcpu.id);
	atomic_store(&settled, true);
	cpu_stop();
}

static bool has_settled(void)
{
	for (unsigned int i = 0; i < STARTUP_PATIENCE && !atomic_load(&settled); i++)
		wait_a_microsecond();
	return atomic_load(&settled);
}

/* The command register of an APIC that is not in x2APIC mode names 8 bits. */
static bool has_address(const struct processor *processor)
{
	return processor->apic_id < XAPIC_EVERYBODY || lapic_is_x2apic();
}

/* Leaves the processor in Vellum, ready to run the guest. */
static bool bring_in(struct processor *processor)
{
	if (!has_address(processor))
		return false;
	send_init(processor->apic_id);
	return start(processor) && has_settled() && ready[processor->vcpu.id];
}

/* One by one: they share the frames and the console, and nobody has to be locked out. */
static void start_first_time(struct processor *processor)
{
	atomic_store(&settled, false);
	if (!bring_in(processor)) {
		pr_warn("processor %u (APIC id %x) did not start: the guest will miss it",
			processor->vcpu.id, processor->apic_id);
		return;
	}
	startups[processor->vcpu.id].waits = true;
	if (!vendor->init_exits && processor->vcpu.id < given)
		send_init(processor->apic_id);
}

int smp_prepare(void)
{
	return present > 1 ? make_trampoline() : 0;
}

int smp_start(void)
{
	for (unsigned int i = 1; i < present; i++) {
		struct processor *processor = processor_add(apic_ids[i]);

		if (!processor)
			return -ENOMEM;
		start_first_time(processor);
	}
	return 0;
}

int smp_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state)
{
	const struct processor *processor = processor_find(apic_id);
	struct startup *startup;

	if (!processor || processor->vcpu.id == 0 || processor->vcpu.id >= given)
		return -ENODEV;
	startup = &startups[processor->vcpu.id];
	lock_take();
	startup->state = *state;
	startup->prepared = true;
	lock_release();
	return 0;
}

/* ---- the guest's INIT and STARTUP ---- */

_Noreturn static void reset_by_init(void)
{
	pr_info("INIT reached the boot processor: resetting the machine");
	record_end("reset");
	power_reset();
}

void exit_init(struct vcpu *vcpu)
{
	if (atomic_load(&stopping))
		cpu_stop();
	if (vcpu->id == 0)
		reset_by_init();
	lapic_reset();
	reset(vcpu);
	vendor->await_startup(vcpu);
}

void exit_startup(struct vcpu *vcpu, uint8_t page)
{
	lock_take();
	startups[vcpu->id].page = page;
	begin(vcpu);
	lock_release();
}

static void report_logical(uint64_t command)
{
	pr_warn_once("guest sends INIT or STARTUP to a logical destination (command %lx): "
		     "ignored; no more such lines",
		     command);
}

static bool is_addressed(const struct processor *processor, uint64_t command)
{
	bool x2apic = lapic_is_x2apic();
	uint32_t destination = (uint32_t)(command >> (x2apic ? 32 : 56));
	bool self = processor == processor_current();

	switch (ICR_SHORTHAND(command)) {
	case ICR_SELF:
		return self;
	case ICR_ALL:
		return true;
	case ICR_OTHERS:
		return !self;
	}
	return destination == processor->apic_id ||
	       destination == (x2apic ? X2APIC_EVERYBODY : XAPIC_EVERYBODY);
}

/*
 * The lock is held, as on emulators INIT takes a processor out of the middle of Vellum,
 * too: it must not be in what the lock is for. The one that runs this has its turn when it
 * has given the lock back.
 */
static void init_processor(struct processor *processor)
{
	if (processor->vcpu.id == 0)
		reset_by_init();
	startups[processor->vcpu.id].waits = true;
	if (processor != processor_current())
		send_init(processor->apic_id);
}

static void start_processor(struct processor *processor, uint64_t command)
{
	struct startup *startup = &startups[processor->vcpu.id];

	if (!startup->waits)
		return; /* the hardware ignores it as well */
	startup->page = ICR_VECTOR(command);
	if (start(processor))
		startup->waits = false;
	else
		pr_warn_once("processor %u did not answer to STARTUP; no more such lines",
			     processor->vcpu.id);
}

static void send_to_processors(uint64_t command)
{
	const struct processor *self = processor_current();
	bool stops_itself = false;

	lock_take();
	for (unsigned int i = 0; i < min_u64(given, processor_count()); i++) {
		struct processor *processor = processor_at(i);

		if (!is_addressed(processor, command) || (i && !ready[i]))
			continue;
		if (ICR_MODE(command) == ICR_INIT)
			init_processor(processor);
		else
			start_processor(processor, command);
		stops_itself |= processor == self && ICR_MODE(command) == ICR_INIT;
	}
	lock_release();
	if (stops_itself)
		send_init(self->apic_id);
}

bool smp_write_command(uint64_t command)
{
	if (ICR_MODE(command) != ICR_INIT && ICR_MODE(command) != ICR_STARTUP)
		return false;
	if (ICR_MODE(command) == ICR_INIT && (command & ICR_LEVEL) && !(command & ICR_ASSERT))
		return true; /* "INIT level de-assert": of processors long gone */
	if (ICR_SHORTHAND(command) == ICR_NONE && (command & ICR_LOGICAL))
		report_logical(command);
	else
		send_to_processors(command);
	return true;
}

/* In x2APIC mode nothing is at the page, and what is written there is lost. */
void exit_apic_write(uint32_t offset, uint32_t value)
{
	if (lapic_is_x2apic())
		return;
	if (offset == LAPIC_ICR &&
	    smp_write_command(value | (uint64_t)lapic_read(LAPIC_ICR_HIGH) << 32))
		return;
	lapic_write(offset, value);
}

void smp_stop_others(void)
{
	const struct processor *self = processor_current();

	atomic_store(&stopping, true);
	for (unsigned int i = 0; i < min_u64(given, processor_count()); i++)
		if (processor_at(i) != self && (!i || ready[i]))
			lapic_send(processor_at(i)->apic_id, ICR_ASSERT | ICR_INIT << 8);
}
