/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a routine of calls 29 to 32 that changes a register which no site saves any more,
 * that uses DS or ES, that takes more than bit 9 for IF, or that keeps a pending interrupt.
 * Manual: docs/vmi.md, calls 29 to 32. Linux' patching drops the saves that stand inside a
 * site, and some sites hold the user's registers and segments.
 * Vendors: no difference.
 * Cannot tell apart: an interrupt taken inside the routine from one right behind it.
 */
#include "apic.h"
#include "guest.h"
#include "irq.h"
#include "pv.h"
#include "segments.h"
#include "site.h"

const char guest_name[] = "vmi_irq_ops";

#define FLAG_IF	  0x200u
#define FLAG_DF	  0x400u
#define CALL_SIZE 5u
#define A_WHILE	  1000000u /* ticks of the local APIC's timer */

static struct site site;
static uint32_t no_op = 0x0badbab0; /* what an unpatched site would call */

/* Segments that fault on use, in turn; all that Linux could have there at such a site. */
static struct call poisoned(bool interrupts)
{
	static unsigned int round;
	struct call call = pv_canaries();

	call.target = (uint32_t)site.bytes;
	call.ds = round & 1 ? LINUX_PERCPU : 0;
	call.es = round & 2 ? LINUX_PERCPU : 0;
	call.fs = round & 4 ? LINUX_PERCPU : 0;
	call.eflags = interrupts ? call.eflags | FLAG_IF : call.eflags & ~FLAG_IF;
	if (round & 8) /* entry code still has the user's */
		call.eflags |= FLAG_DF;
	round++;
	return call;
}

static void expect_if(const char *what, const struct call *call, bool wanted)
{
	EXPECT_EQ(what, call->eflags & FLAG_IF, wanted ? FLAG_IF : 0);
}

static void check_enable(enum site_shape shape, bool before)
{
	struct call call;

	site_make(&site, shape, &no_op, NULL);
	site_patch(&site, VMI_CALL_EnableInterrupts);
	call = poisoned(before);
	pv_run("EnableInterrupts", &call, PV_IF);
	expect_if("IF, enabled", &call, true);
}

static void check_disable(enum site_shape shape, bool before)
{
	struct call call;

	site_make(&site, shape, &no_op, NULL);
	site_patch(&site, VMI_CALL_DisableInterrupts);
	call = poisoned(before);
	pv_run("DisableInterrupts", &call, PV_IF);
	expect_if("IF, disabled", &call, false);
}

static void check_get(enum site_shape shape, bool before)
{
	struct call call;

	site_make(&site, shape, &no_op, NULL);
	site_patch(&site, VMI_CALL_GetInterruptMask);
	call = poisoned(before);
	pv_run("GetInterruptMask", &call, PV_EAX);
	EXPECT_EQ("the mask", call.eax & FLAG_IF, before ? FLAG_IF : 0);
}

/* The mask is a bare bit or somebody's full EFLAGS; nothing but bit 9 counts. */
static void check_set(enum site_shape shape, bool before)
{
	static const uint32_t masks[] = {0,	   FLAG_IF,    0x246,	   0x46,  ~0u,
					 ~FLAG_IF, 0x5a5a5a5a, 0xa5a5a5a5, 0x100, 0x400};

	for (unsigned int i = 0; i < ARRAY_SIZE(masks); i++) {
		struct call call;

		site_make(&site, shape, &no_op, NULL);
		site_patch(&site, VMI_CALL_SetInterruptMask);
		call = poisoned(before);
		call.eax = masks[i];
		pv_run("SetInterruptMask", &call, PV_IF);
		expect_if("IF, set", &call, masks[i] & FLAG_IF);
	}
}

static void check_save_disable(bool before)
{
	struct call call;

	site_make(&site, SITE_SAVE_DISABLE, &no_op, &no_op);
	EXPECT_EQ("the site's size", site.size, 18);
	site_patch_save_disable(&site);
	call = poisoned(before);
	pv_run("save and disable", &call, PV_EAX | PV_IF);
	EXPECT_EQ("the saved mask", call.eax & FLAG_IF, before ? FLAG_IF : 0);
	expect_if("IF, saved and disabled", &call, false);
}

static void check_pending(enum vmi_call number)
{
	struct call call = poisoned(false);

	pv_aim(number, &call);
	call.eax = FLAG_IF;
	irq_reset();
	apic_send_to_self(ICR_FIXED | VECTOR_LVTT);
	EXPECT_EQ("interrupts, IF off", irq_count(IRQ_APIC), 0);
	pv_run(vmi_call_name(number), &call, PV_IF | PV_EAX);
	EXPECT_EQ("interrupts, IF on", irq_count(IRQ_APIC), 1);
}

/* Until the routine is left nothing comes in between. */
static void check_shadow(enum vmi_call number)
{
	struct state state;

	site_make(&site, SITE_CALLEE_SAVE, &no_op, NULL);
	site_patch(&site, number);
	state = state_for(site.bytes);
	state.cs = LINUX_KERNEL_CS;
	state.rax = FLAG_IF;
	run_set_handler(VECTOR_LVTT, NULL);
	apic_send_to_self(ICR_FIXED | VECTOR_LVTT);
	run(&state);
	*apic_register(APIC_EOI) = 0;
	irq_set_lvtt(VECTOR_LVTT, false);
	EXPECT_EQ("vector", state.vector, VECTOR_LVTT);
	EXPECT_EQ("EIP interrupted", state.rip, (uint32_t)site.bytes + CALL_SIZE);
}

/* One that waits already must not be slept over; nothing else ends the sleep. */
static void check_halt(void)
{
	check_pending(VMI_CALL_Halt);
	irq_reset();
	*apic_register(APIC_TIMER_COUNT) = A_WHILE;
	VMI(Halt);
	EXPECT_EQ("interrupts behind Halt", irq_count(IRQ_APIC), 1);
}

static void check_shape(enum site_shape shape)
{
	for (unsigned int round = 0; round < 16; round++) {
		check_enable(shape, round & 1);
		check_disable(shape, round & 1);
		check_get(shape, round & 1);
		check_set(shape, round & 1);
		check_save_disable(round & 1);
	}
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	check_shape(SITE_SAVING);
	check_shape(SITE_CALLEE_SAVE);
	check_shape(SITE_ASSEMBLY);
	check_pending(VMI_CALL_EnableInterrupts);
	check_pending(VMI_CALL_SetInterruptMask);
	check_shadow(VMI_CALL_EnableInterrupts);
	check_shadow(VMI_CALL_SetInterruptMask);
	if (pv_has(VMI_CALL_Halt))
		check_halt();
}
