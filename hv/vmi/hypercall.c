// SPDX-License-Identifier: GPL-2.0-only
#include "vmi/hypercall.h"

#include <stdatomic.h>

#include "core/cpu.h"
#include "core/options.h"
#include "core/paging.h"
#include "core/vcpu.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "debug/trace.h"
#include "lib/errno.h"
#include "vmi/calls.h"

/* Any processor may call, at any time, in any order: hence atomic. */
static _Atomic uint64_t guest_rom;
static atomic_bool guest_announced;

static int decode_init(const struct hypercall_frame *frame, struct hypercall *call)
{
	/* The guest maps whole pages, so the ROM is where a ROM can be in every mapping. */
	if (!is_aligned(frame->edx, VMI_ROM_ALIGN))
		return -EINVAL;
	call->init.rom = gva(frame->edx);
	return 0;
}

static int decode_ap_state(const struct vcpu *vcpu, const struct hypercall_frame *frame,
			   struct hypercall *call)
{
	call->ap.apic_id = frame->edx;
	return vmi_read_ap_state(vcpu, gva(frame->ecx), &call->ap.state);
}

static int decode_apic_write(const struct hypercall_frame *frame, struct hypercall *call)
{
	call->command.value = frame->edx;
	return vmi_is_start_command(frame->ecx, frame->edx) ? 0 : -EINVAL;
}

int hypercall_decode(const struct vcpu *vcpu, const struct hypercall_frame *frame,
		     struct hypercall *call)
{
	if (frame->cpl != 0)
		return -EPERM;
	if (frame->eax - VMI_HYPERCALL_TRACE < VMI_CALL_COUNT) {
		call->number = VMI_HYPERCALL_TRACE;
		call->counts_for = frame->eax - VMI_HYPERCALL_TRACE;
		return 0;
	}
	call->number = frame->eax;
	call->counts_for = frame->eax < VMI_CALL_COUNT ? frame->eax : VMI_CALL_COUNT;
	switch (frame->eax) {
	case VMI_HYPERCALL_INIT:
		return decode_init(frame, call);
	case VMI_CALL_Reboot:
	case VMI_CALL_Shutdown:
		return 0;
	case VMI_CALL_SetInitialAPState:
		return decode_ap_state(vcpu, frame, call);
	case VMI_CALL_APICWrite:
		return decode_apic_write(frame, call);
	default:
		return -ENOSYS;
	}
}

static void invoke_init(const struct hypercall *call, struct hypercall_frame *frame)
{
	atomic_store(&guest_rom, call->init.rom.raw);
	if (!atomic_exchange(&guest_announced, true))
		pr_info("guest announced itself: VMI ROM at %#llx",
			(unsigned long long)call->init.rom.raw);
	frame->eax = 0;
}

void hypercall_invoke(const struct hypercall *call, struct hypercall_frame *frame)
{
	switch (call->number) {
	case VMI_HYPERCALL_INIT:
		invoke_init(call, frame);
		break;
	case VMI_CALL_Reboot:
		vmi_reboot();
	case VMI_CALL_Shutdown:
		vmi_shutdown();
	case VMI_CALL_SetInitialAPState:
		frame->eax = (uint32_t)vmi_set_ap_state(call->ap.apic_id, &call->ap.state);
		break;
	case VMI_CALL_APICWrite:
		vmi_write_start_command(call->command.value);
		frame->eax = 0;
		break;
	}
}

static void report_refusal(const struct hypercall_frame *frame, int error)
{
	pr_warn_once("hypercall %#x (EDX %#x, ECX %#x) refused with %d; no more such lines",
		     frame->eax, frame->edx, frame->ecx, error);
}

/* With vmi=trace a call that the routine makes a hypercall has been counted by its stub. */
static void count(struct vcpu *vcpu, uint32_t number, enum vmi_call counts_for)
{
	if (counts_for == VMI_CALL_COUNT)
		return;
	if (number == VMI_HYPERCALL_TRACE || options.vmi != VMI_TRACE)
		vcpu->vmi_calls[counts_for].count++;
}

static void count_cycles(struct vcpu *vcpu, const struct hypercall *call)
{
	if (call->counts_for != VMI_CALL_COUNT)
		vcpu->vmi_calls[call->counts_for].cycles += rdtsc() - vcpu->exit_start;
}

/*
 * A kernel gets an error for a wild number, as #UD would kill it, and every VMI call that
 * can fail says so by a result other than 0.
 */
__attribute__((noinline)) static void decode_and_invoke(struct vcpu *vcpu,
							struct hypercall_frame *frame)
{
	const struct hypercall_frame asked = *frame;
	struct hypercall call;
	int error = hypercall_decode(vcpu, frame, &call);

	if (error) {
		report_refusal(frame, error);
		frame->eax = (uint32_t)error;
		return;
	}
	count(vcpu, call.number, call.counts_for);
	hypercall_invoke(&call, frame);
	count_cycles(vcpu, &call);
	if (trace_is_on && !vcpu->trace)
		trace_hypercall(vcpu, vendor->read_rip(vcpu), asked.eax, asked.ecx, asked.edx);
}

static bool invoke_mmu(struct vcpu *vcpu, const struct hypercall_frame *frame)
{
	switch (frame->eax) {
	case VMI_CALL_SetPxE:
		return paging_fill_wanted(vcpu);
	case VMI_CALL_InvalPage:
		return paging_invalidate(vcpu, gva(frame->ecx));
	case VMI_CALL_FlushTLB:
		return paging_flush(vcpu);
	default:
		return false;
	}
}

/*
 * What the ROM of a guest with shadow page tables calls often: no argument is wrong. False:
 * it is another call.
 */
static bool call_mmu(struct vcpu *vcpu, struct hypercall_frame *frame)
{
	if (!invoke_mmu(vcpu, frame))
		return false;
	count(vcpu, frame->eax, frame->eax);
	frame->eax = 0;
	return true;
}

/* Out of the null call's way: what it does not need is not saved for it. */
__attribute__((noinline)) static void answer(struct vcpu *vcpu, struct hypercall_frame *frame)
{
	if (!call_mmu(vcpu, frame))
		decode_and_invoke(vcpu, frame);
}

/*
 * Code outside the kernel sees no hypervisor: #UD, as on a bare machine. The null call is
 * there to be measured: it is the way to Vellum and back, with nothing at its end.
 */
bool hypercall_handle(struct vcpu *vcpu, struct hypercall_frame *frame)
{
	if (frame->cpl != 0)
		return false;
	if (frame->eax == VMI_HYPERCALL_NULL)
		frame->eax = 0;
	else
		answer(vcpu, frame);
	return true;
}

bool hypercall_guest_rom(gva_t *rom)
{
	if (!atomic_load(&guest_announced))
		return false;
	*rom = gva(atomic_load(&guest_rom));
	return true;
}
