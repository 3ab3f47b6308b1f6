/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/debug_registers.h"
#include "core/cpu.h"
#include "core/processor.h"
#include "core/vendor.h"
#include "debug/breakpoints.h"

enum { DR6 = 6, DR7 = 7, ALIASES = 2 }; /* DR4 and DR5 are DR6 and DR7 (APM volume 2, 13.1.1) */

static struct {
	bool taken;
	uint64_t address[HARDWARE_BREAKPOINTS_MAX], dr7; /* the guest's */
} guests[PROCESSORS_MAX];

static void take(struct vcpu *vcpu)
{
	struct guest_state state;

	vendor->read_state(vcpu, &state);
	guests[vcpu->id].dr7 = state.dr7;
	read_breakpoints(guests[vcpu->id].address);
	guests[vcpu->id].taken = true;
	vendor->guard_debug_registers(vcpu, true);
}

static void give_back(struct vcpu *vcpu)
{
	guests[vcpu->id].taken = false;
	write_breakpoints(guests[vcpu->id].address);
	vendor->write_dr7(vcpu, guests[vcpu->id].dr7);
	vendor->guard_debug_registers(vcpu, false);
}

static void set_breakpoints(struct vcpu *vcpu)
{
	uint64_t address[HARDWARE_BREAKPOINTS_MAX];

	for (unsigned int i = 0; i < HARDWARE_BREAKPOINTS_MAX; i++)
		address[i] = watchpoint_at(i)->address;
	write_breakpoints(address);
	vendor->write_dr7(vcpu, watchpoints_dr7());
}

void debug_registers_load(struct vcpu *vcpu)
{
	bool wanted = watchpoints_in_use(), taken = guests[vcpu->id].taken;

	if (wanted && !taken)
		take(vcpu);
	if (wanted)
		set_breakpoints(vcpu);
	else if (taken)
		give_back(vcpu);
}

void debug_registers_forget(const struct vcpu *vcpu)
{
	guests[vcpu->id].taken = false;
}

bool debug_registers_are_taken(const struct vcpu *vcpu)
{
	return guests[vcpu->id].taken;
}

void debug_registers_show(const struct vcpu *vcpu, struct guest_state *state)
{
	if (guests[vcpu->id].taken)
		state->dr7 = guests[vcpu->id].dr7;
}

static unsigned int without_aliases(unsigned int number)
{
	return number == DR6 - ALIASES || number == DR7 - ALIASES ? number + ALIASES : number;
}

uint64_t debug_registers_read(const struct vcpu *vcpu, unsigned int number,
			      const struct guest_state *state)
{
	number = without_aliases(number);
	if (number == DR7)
		return guests[vcpu->id].dr7;
	return number == DR6 ? state->dr6 : guests[vcpu->id].address[number];
}

/* Nothing of the guest's rests on DR7's value while it is kept here, so all bits are taken. */
void debug_registers_write(struct vcpu *vcpu, unsigned int number, uint64_t value)
{
	number = without_aliases(number);
	if (number == DR7)
		guests[vcpu->id].dr7 = (value & UINT32_MAX) | DR7_INITIAL;
	else if (number == DR6)
		vendor->write_dr6(vcpu, value);
	else
		guests[vcpu->id].address[number] = value;
}
