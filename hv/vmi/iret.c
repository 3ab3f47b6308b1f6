/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdatomic.h>

#include "core/vcpu.h"
#include "core/vendor.h"
#include "mm/guest_memory.h"
#include "vmi/calls.h"
#include "vmi/hypercall.h"

#define CALL_OPCODE 0xe8 /* and a signed 32-bit distance from behind it */
#define CALL_SIZE   5u

static uint32_t iret_offset, stub_offset;

/* For faults with an NMI between the ROM's ADD and IRET, which has overwritten the slot. */
static _Atomic uint32_t last_site;

void vmi_iret_init(uint32_t iret, uint32_t stub)
{
	iret_offset = iret;
	stub_offset = stub;
}

static bool read_guest(const struct fault_state *state, uint32_t address, void *out, uint64_t size)
{
	return guest_memory_read(&state->paging, gva(address), out, size) == 0;
}

static bool is_call_of_stub(const struct fault_state *state, uint32_t site, uint32_t stub)
{
	uint8_t opcode;
	uint32_t distance;

	return read_guest(state, site, &opcode, sizeof(opcode)) && opcode == CALL_OPCODE &&
	       read_guest(state, site + 1, &distance, sizeof(distance)) &&
	       site + CALL_SIZE + distance == stub;
}

/* The site that called; 0 if none has ever been seen. */
static uint32_t find_site(const struct vcpu *vcpu, uint32_t rom)
{
	struct fault_state state;
	uint32_t behind;

	vendor->read_fault_state(vcpu, &state);
	if (read_guest(&state, (uint32_t)(state.stack.raw - sizeof(behind)), &behind,
		       sizeof(behind)) &&
	    is_call_of_stub(&state, behind - CALL_SIZE, rom + stub_offset))
		atomic_store(&last_site, behind - CALL_SIZE);
	return atomic_load(&last_site);
}

void vmi_move_iret_fault(struct vcpu *vcpu)
{
	uint32_t site;
	gva_t rom;

	if (!hypercall_guest_rom(&rom) || vendor->read_rip(vcpu) != rom.raw + iret_offset)
		return;
	site = find_site(vcpu, (uint32_t)rom.raw);
	if (site)
		vendor->write_rip(vcpu, site);
}
