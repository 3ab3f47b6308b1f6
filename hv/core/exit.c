/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exit.h"
#include "core/cpu.h"
#include "core/options.h"
#include "core/panic.h"
#include "core/policy.h"
#include "core/power.h"
#include "core/triple_fault.h"
#include "core/vendor.h"
#include "debug/console.h"
#include "debug/debugger.h"
#include "debug/record.h"
#include "debug/report.h"
#include "debug/trace.h"
#include "vmi/calls.h"
#include "vmi/hypercall.h"

#define PORTS 0x10000u

static uint32_t port_in(uint16_t port, unsigned int size)
{
	switch (size) {
	case 1:
		return inb(port);
	case 2:
		return inw(port);
	default:
		return inl(port);
	}
}

static void port_out(uint16_t port, unsigned int size, uint32_t value)
{
	switch (size) {
	case 1:
		outb(port, (uint8_t)value);
		break;
	case 2:
		outw(port, (uint16_t)value);
		break;
	default:
		outl(port, value);
		break;
	}
}

/* IN leaves the rest of RAX as it is, but a 32-bit one clears the upper half. */
static void read_port(struct vcpu *vcpu, const struct port_access *access)
{
	uint64_t kept = access->size == 4 ? 0 : ~(uint64_t)0 << 8 * access->size;

	uint32_t value = UINT32_MAX >> 8 * (4 - access->size);

	if (!policy_hides_port(access->port, access->size))
		value = port_in(access->port, access->size);
	vcpu->regs.rax = (vcpu->regs.rax & kept) | value;
}

/*
 * The machine does as told, once the last words are out. It may also survive: a reset
 * that the chipset ignores, or a sleep that it wakes up from. Then nothing is said again.
 */
static void write_port(struct vcpu *vcpu, const struct port_access *access)
{
	static bool ended;
	uint32_t value = (uint32_t)vcpu->regs.rax;
	const char *event = policy_power_event(access->port, value, access->size);

	if (event && !ended) {
		ended = true;
		record_end(event);
	}
	if (!policy_hides_port(access->port, access->size))
		port_out(access->port, access->size, value);
}

/*
 * The guard is there for the last words only, so where it would take an emulation of
 * INS and OUTS it goes, and the instruction runs again by itself.
 */
static void release_guard(struct vcpu *vcpu, const struct port_access *access)
{
	pr_warn("guest uses string I/O on port %xh: no longer watched for a reset", access->port);
	for (unsigned int i = 0; i < access->size; i++)
		vendor->release_port(vcpu, (uint16_t)(access->port + i));
}

/*
 * An access that wraps around the end of the ports exits whatever the guard says (SDM
 * volume 3C, 26.1.3); no device is there, so the guest gets #GP instead of a loop. So it does
 * at ports that are hidden from it.
 */
static void string_io(struct vcpu *vcpu, const struct port_access *access)
{
	if (access->port + access->size > PORTS || policy_hides_port(access->port, access->size))
		vendor->inject_exception(vcpu, VECTOR_GP, 0);
	else
		release_guard(vcpu, access);
}

void exit_port(struct vcpu *vcpu, const struct port_access *access)
{
	trace_note(vcpu, TRACE_PORT(access->port, access->size, access->in));
	if (access->string) {
		string_io(vcpu, access);
		return;
	}
	if (access->in)
		read_port(vcpu, access);
	else
		write_port(vcpu, access);
	vendor->skip_instruction(vcpu);
}

void exit_hypercall(struct vcpu *vcpu)
{
	struct hypercall_frame frame = {
		.eax = (uint32_t)vcpu->regs.rax,
		.edx = (uint32_t)vcpu->regs.rdx,
		.ecx = (uint32_t)vcpu->regs.rcx,
		.cpl = vendor->privilege_level(vcpu),
	};

	if (!hypercall_handle(vcpu, &frame)) {
		exit_undefined_instruction(vcpu);
		return;
	}
	vcpu->regs.rax = frame.eax;
	vendor->skip_instruction(vcpu);
}

void exit_undefined_instruction(struct vcpu *vcpu)
{
	vendor->inject_exception(vcpu, VECTOR_UD, NO_ERROR_CODE);
}

void exit_invd(struct vcpu *vcpu)
{
	wbinvd();
	vendor->skip_instruction(vcpu);
}

/* The guest has set CR4.OSXSAVE, or it had got #UD; Vellum's own CR4 follows. */
void exit_xsetbv(struct vcpu *vcpu)
{
	uint64_t value = (uint32_t)vcpu->regs.rax | vcpu->regs.rdx << 32;

	write_cr4(read_cr4() | CR4_OSXSAVE);
	if (vendor->privilege_level(vcpu) || xsetbv_checked((uint32_t)vcpu->regs.rcx, value))
		vendor->inject_exception(vcpu, VECTOR_GP, 0);
	else
		vendor->skip_instruction(vcpu);
}

void exit_exception(struct vcpu *vcpu, unsigned int vector)
{
	trace_note(vcpu, vector);
	vendor->inject_exception(vcpu, vector, vector == VECTOR_AC ? 0 : NO_ERROR_CODE);
}

void exit_segment_exception(struct vcpu *vcpu, unsigned int vector, uint32_t error_code)
{
	vmi_move_iret_fault(vcpu);
	vendor->inject_exception(vcpu, vector, (int)error_code);
}

uint32_t exit_exceptions(void)
{
	uint64_t always = BIT(VECTOR_DB) | BIT(VECTOR_AC);
	uint64_t of_iret = BIT(VECTOR_TS) | BIT(VECTOR_NP) | BIT(VECTOR_SS) | BIT(VECTOR_GP);

	return (uint32_t)(options.vmi == VMI_TRACE ? always | of_iret : always);
}

_Noreturn static void shut_down(const char *why)
{
	record_end(why);
	if (options.onfault == ONFAULT_RESET || options.onfault == ONFAULT_MONITOR)
		power_reset();
	pr_info("stopped here, as onfault= asks");
	cpu_stop();
}

void exit_triple_fault(struct vcpu *vcpu)
{
	pr_error("triple fault: the guest's processor %u met a fault while it delivered a double "
		 "fault, and shut down",
		 vcpu->id);
	triple_fault_explain(vcpu);
	report_guest(vcpu,
		     "boot/code disassembles this log's code; with gdb=, or with monitor= and "
		     "onfault=monitor, the guest stops here");
	if (debugger_is_on && (options.gdb != GDB_OFF || options.onfault == ONFAULT_MONITOR))
		debugger_shows_shutdown(vcpu);
	shut_down("triple-fault");
}

void exit_machine_check(struct vcpu *vcpu)
{
	pr_error("a machine check came, and the guest's processor %u shut down: it has CR4.MCE "
		 "clear. The hardware has an error; a guest that sets MCE can tell which",
		 vcpu->id);
	report_guest(vcpu, "have the machine's memory and processors checked");
	shut_down("machine-check");
}

void exit_real_mode(struct vcpu *vcpu)
{
	pr_error("the guest's processor %u goes to real mode, where this %s can't run guests: it "
		 "has no %s",
		 vcpu->id, vendor->name, vendor->missing_for_nested());
	report_guest(vcpu, "boot this guest with mode=native, or on a newer processor");
	shut_down("real-mode");
}

void exit_unhandled(struct vcpu *vcpu)
{
	report_guest(vcpu, "this is an error of Vellum's: please report these lines");
	panic("exit for an unknown reason on processor %u", vcpu->id);
}
