/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exit.h"
#include "core/cpu.h"
#include "core/machine_check.h"
#include "debug/console.h"
#include "debug/debugger.h"
#include "debug/trace.h"
#include "vmx/errors.h"
#include "vmx/vmx.h"

/* DR6: SDM volume 3B, 18.2.3 */
#define DR6_BREAKPOINTS 0xfull
#define DR6_SET		(DR6_BREAKPOINTS | BIT(13) | DR6_BS) /* and BD */
#define DR6_CLEARED	(BIT(11) | BIT(16))		     /* BLD, RTM */

static void port_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);
	struct port_access access = {
		.port = PORT_EXIT_PORT(info),
		.size = PORT_EXIT_SIZE(info),
		.in = info & PORT_EXIT_IN,
		.string = info & PORT_EXIT_STRING,
	};

	exit_port(vcpu, &access);
}

/*
 * An IRET unblocks NMIs even if it faults. One that exits is executed again, and till then
 * the guest is still in its NMI handler (28.7.1.2). The bit counts if no event was under way.
 */
static void block_nmis_again(void)
{
	if ((vmread(VMCS_EXIT_QUALIFICATION) & EPT_EXIT_NMI_UNBLOCKED) &&
	    !(vmread(VMCS_VECTORING_INFO) & INTERRUPTION_VALID))
		vmwrite(VMCS_GUEST_INTERRUPTIBILITY,
			vmread(VMCS_GUEST_INTERRUPTIBILITY) | BLOCKING_NMI);
}

static void ept_violation_exit(struct vcpu *vcpu)
{
	gpa_t address = gpa(vmread(VMCS_GUEST_PHYSICAL));

	trace_note(vcpu, address.raw);
	block_nmis_again();
	if (vmx_map_more(vcpu, address))
		return;
	pr_error("guest-physical address %lx is not mapped and can't be", address.raw);
	exit_unhandled(vcpu);
}

/*
 * A #DB that exits has not changed DR6, DR7 and DEBUGCTL (28.1, 28.3.2 says what it would have
 * done: B0 to B3 are its own, other bits stay until software clears them, RTM and BLD mean
 * yes where they are 0).
 */
static void load_debug_registers(void)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);

	write_dr6(((read_dr6() & ~DR6_BREAKPOINTS) | (info & DR6_SET)) & ~(info & DR6_CLEARED));
	vmwrite(VMCS_GUEST_DR7, vmread(VMCS_GUEST_DR7) & ~DR7_GD);
	vmwrite(VMCS_GUEST_DEBUGCTL, vmread(VMCS_GUEST_DEBUGCTL) & ~(DEBUGCTL_LBR | DEBUGCTL_BTF));
}

/* INT1's #DB has no reason that the registers could tell: they stay. */
static void prepare_debug_exception(bool is_int1)
{
	if (!is_int1)
		load_debug_registers();
	vmx_keep_single_step_in_shadow();
}

/* INT1's #DB is a trap of that instruction: the guest goes on behind it (25.9.4, 27.6.1.1). */
static void deliver_behind_int1(void)
{
	vmwrite(VMCS_ENTRY_INTERRUPTION, VECTOR_DB | INTERRUPTION_PRIVILEGED | INTERRUPTION_VALID);
	vmwrite(VMCS_ENTRY_INSTRUCTION_LENGTH, vmread(VMCS_EXIT_INSTRUCTION_LENGTH));
}

static void exception_exit(struct vcpu *vcpu)
{
	uint64_t event = vmread(VMCS_EXIT_INTERRUPTION);
	unsigned int vector = event & INTERRUPTION_VECTOR;
	bool is_int1 = (event & INTERRUPTION_TYPE) == INTERRUPTION_PRIVILEGED;

	if (vector == VECTOR_NMI) {
		vcpu_count_exit(vcpu, EXIT_NMI);
		vmx_nmi_exit(vcpu);
		return;
	}
	if (vector == VECTOR_PF) {
		vmx_page_fault_exit(vcpu);
		return;
	}
	vcpu_count_exit(vcpu, EXIT_EXCEPTION);
	if (vector >= VECTOR_TS && vector <= VECTOR_GP) {
		exit_segment_exception(vcpu, vector, (uint32_t)vmread(VMCS_EXIT_ERROR_CODE));
		return;
	}
	if (vector == VECTOR_BP) {
		vmx_breakpoint_exit(vcpu);
		return;
	}
	if (vector == VECTOR_DB && !is_int1 && debugger_is_on &&
	    debugger_takes_debug_exception(vcpu, vmread(VMCS_EXIT_QUALIFICATION)))
		return;
	if (vector == VECTOR_DB)
		prepare_debug_exception(is_int1);
	exit_exception(vcpu, vector);
	if (is_int1)
		deliver_behind_int1();
}

_Noreturn static void failed_entry(struct vcpu *vcpu)
{
	uint32_t reason = BASIC_EXIT_REASON(vmread(VMCS_EXIT_REASON));
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);

	pr_error("VT-x refused to enter the guest: %s; qualification %lx",
		 vmx_failed_entry_text(reason, info), info);
	exit_unhandled(vcpu);
}

/* The guest has not moved, and goes on with a machine check (27.9). */
static void machine_check_at_entry(struct vcpu *vcpu)
{
	if (!machine_check_is_survivable())
		failed_entry(vcpu);
	vcpu->pending.machine_check = true;
}

static void startup_exit(struct vcpu *vcpu)
{
	exit_startup(vcpu, STARTUP_EXIT_PAGE(vmread(VMCS_EXIT_QUALIFICATION)));
}

/* By the basic exit reason (SDM volume 3D, appendix C). */
static const struct exit_handler handlers[] = {
	[VMX_EXIT_EXCEPTION] = {COUNTS_ITSELF, exception_exit},
	[VMX_EXIT_TRIPLE_FAULT] = {EXIT_TRIPLE_FAULT, exit_triple_fault},
	[VMX_EXIT_INIT] = {EXIT_INIT, exit_init},
	[VMX_EXIT_STARTUP] = {EXIT_STARTUP, startup_exit},
	[VMX_EXIT_INTERRUPT_WINDOW] = {EXIT_NMI, vmx_interrupt_window_exit},
	[VMX_EXIT_NMI_WINDOW] = {EXIT_NMI, vmx_nmi_exit},
	[VMX_EXIT_TASK_SWITCH] = {EXIT_TASK_SWITCH, vmx_task_switch_exit},
	[VMX_EXIT_CPUID] = {EXIT_CPUID, exit_cpuid},
	[VMX_EXIT_GETSEC] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[VMX_EXIT_INVD] = {EXIT_CACHE, exit_invd},
	[VMX_EXIT_INVLPG] = {EXIT_INVLPG, vmx_invlpg_exit},
	[VMX_EXIT_VMCALL] = {EXIT_HYPERCALL, exit_hypercall},
	[VMX_EXIT_VMCLEAR... VMX_EXIT_VMXON] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[VMX_EXIT_CR_ACCESS] = {EXIT_CONTROL_REGISTER, vmx_cr_exit},
	[VMX_EXIT_MOV_DR] = {EXIT_DEBUG_REGISTER, vmx_debug_register_exit},
	[VMX_EXIT_PORT] = {EXIT_PORT, port_exit},
	[VMX_EXIT_RDMSR] = {EXIT_RDMSR, exit_rdmsr},
	[VMX_EXIT_WRMSR] = {EXIT_WRMSR, exit_wrmsr},
	[VMX_EXIT_GUEST_STATE] = {EXIT_UNKNOWN, failed_entry},
	[VMX_EXIT_MSR_LOADING] = {EXIT_UNKNOWN, failed_entry},
	[VMX_EXIT_MACHINE_CHECK] = {EXIT_EXCEPTION, machine_check_at_entry},
	[VMX_EXIT_EPT_VIOLATION] = {EXIT_NESTED_FAULT, ept_violation_exit},
	[VMX_EXIT_INVEPT] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[VMX_EXIT_TIMER] = {EXIT_TIMER, vmx_timer_exit},
	[VMX_EXIT_INVVPID] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[VMX_EXIT_XSETBV] = {EXIT_XSETBV, exit_xsetbv},
	[VMX_EXIT_SEAMCALL] = {EXIT_VIRT_INSN, exit_undefined_instruction},
	[VMX_EXIT_TDCALL] = {EXIT_VIRT_INSN, exit_undefined_instruction},
};

static const struct exit_handler unknown = {EXIT_UNKNOWN, exit_unhandled};

static const struct exit_handler *handler_of(uint32_t reason)
{
	if (reason < ARRAY_SIZE(handlers) && handlers[reason].handle)
		return &handlers[reason];
	return &unknown;
}

/*
 * An event whose delivery exited has to be delivered again (28.2.4); an NMI blocks NMIs by
 * itself then, and may not find them blocked (27.3.1.5). The processor clears the valid bit
 * of the entry's field at each exit, but not at a failed entry, which says nothing new of
 * events (27.8).
 */
static void requeue_event(void)
{
	uint64_t event = vmread(VMCS_VECTORING_INFO);

	if (!(event & INTERRUPTION_VALID) || (vmread(VMCS_EXIT_REASON) & EXIT_FAILED_ENTRY))
		return;
	if (event & INTERRUPTION_ERROR_CODE)
		vmwrite(VMCS_ENTRY_ERROR_CODE, vmread(VMCS_VECTORING_ERROR_CODE));
	if ((event & INTERRUPTION_TYPE) == INTERRUPTION_NMI)
		vmwrite(VMCS_GUEST_INTERRUPTIBILITY,
			vmread(VMCS_GUEST_INTERRUPTIBILITY) & ~BLOCKING_NMI);
	vmwrite(VMCS_ENTRY_INSTRUCTION_LENGTH, vmread(VMCS_EXIT_INSTRUCTION_LENGTH));
	vmwrite(VMCS_ENTRY_INTERRUPTION, event & INTERRUPTION_EVENT);
}

void vmx_exit(struct vcpu *vcpu)
{
	vcpu->exit_start = rdtsc();
	requeue_event();
	trace_begin(vcpu, vmread(VMCS_GUEST_RIP));
	exit_dispatch(vcpu, handler_of(BASIC_EXIT_REASON(vmread(VMCS_EXIT_REASON))));
	vcpu->counter->cycles += rdtsc() - vcpu->exit_start;
	trace_end(vcpu);
}
