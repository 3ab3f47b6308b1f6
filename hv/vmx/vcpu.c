/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "core/event.h"
#include "core/exception.h"
#include "core/exit.h"
#include "core/paging.h"
#include "core/panic.h"
#include "core/processor.h"
#include "core/start_state.h"
#include "debug/console.h"
#include "debug/debugger.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/physmap.h"
#include "vmx/errors.h"
#include "vmx/segment.h"
#include "vmx/vmx.h"

_Noreturn void vmx_run_loop(struct vcpu *vcpu); /* entry.asm */
extern const uint8_t vmx_exit_entry[];

#define GUEST_VPID 1 /* one guest; 0 is the host's */
#define NO_LINK	   UINT64_MAX

static void init_controls(void)
{
	vmwrite(VMCS_PIN_CONTROLS, vmx_controls(MSR_VMX_PIN, 0));
	vmwrite(VMCS_PROCESSOR_CONTROLS,
		vmx_controls(MSR_VMX_PROCESSOR,
			     PROCESSOR_IO_BITMAPS | PROCESSOR_MSR_BITMAPS | PROCESSOR_SECONDARY));
	vmwrite(VMCS_SECONDARY_CONTROLS,
		vmx_controls(MSR_VMX_SECONDARY, SECONDARY_EPT | SECONDARY_UNRESTRICTED |
							SECONDARY_VPID | SECONDARY_RDTSCP |
							SECONDARY_INVPCID | SECONDARY_XSAVES |
							SECONDARY_USER_WAIT));
	vmwrite(VMCS_EXIT_CONTROLS,
		vmx_controls(MSR_VMX_EXIT, EXIT_HOST_64BIT | EXIT_SAVE_DEBUG | EXIT_SAVE_PAT |
						   EXIT_LOAD_PAT | EXIT_SAVE_EFER |
						   EXIT_LOAD_EFER));
	vmwrite(VMCS_ENTRY_CONTROLS,
		vmx_controls(MSR_VMX_ENTRY, ENTRY_LOAD_DEBUG | ENTRY_LOAD_PAT | ENTRY_LOAD_EFER));
	vmwrite(VMCS_EXCEPTION_BITMAP, exit_exceptions());
	vmwrite(VMCS_VPID, GUEST_VPID);
}

/* With mask and match alike each #PF does what the exception bitmap says (25.6.3). */
static void init_unused_controls(void)
{
	vmwrite(VMCS_PAGE_FAULT_MASK, 0);
	vmwrite(VMCS_PAGE_FAULT_MATCH, 0);
	vmwrite(VMCS_CR3_TARGET_COUNT, 0);
	vmwrite(VMCS_TSC_OFFSET, 0);
	vmwrite(VMCS_EXIT_MSR_STORE_COUNT, 0);
	vmwrite(VMCS_EXIT_MSR_LOAD_COUNT, 0);
	vmwrite(VMCS_ENTRY_MSR_LOAD_COUNT, 0);
	vmwrite(VMCS_ENTRY_INTERRUPTION, 0);
	vmwrite(VMCS_ENTRY_ERROR_CODE, 0);
	vmwrite(VMCS_ENTRY_INSTRUCTION_LENGTH, 0);
}

static void init_tables(void)
{
	vmwrite(VMCS_IO_BITMAP_A, vmx_port_bitmap().raw);
	vmwrite(VMCS_IO_BITMAP_B, vmx_port_bitmap().raw + PAGE_SIZE);
	vmwrite(VMCS_MSR_BITMAP, vmx_msr_bitmap().raw);
	vmwrite(VMCS_EPT_POINTER, vmx_ept_pointer());
	vmwrite(VMCS_LINK_POINTER, NO_LINK);
	vmwrite(VMCS_XSS_EXITING, 0);
}

/*
 * CR0.NE and CR4.VMXE are 1 in VMX operation; the guest sees what it wrote itself. SMXE and
 * FRED are of features that it does not have: reserved bits.
 */
static void init_masks(void)
{
	vmwrite(VMCS_CR0_MASK, CR0_NE);
	vmwrite(VMCS_CR4_MASK, CR4_VMXE | CR4_SMXE | CR4_FRED);
}

/* What an exit returns to. entry.asm writes HOST_RSP. */
static void init_host(void)
{
	vmwrite(VMCS_HOST_CR0, read_cr0());
	vmwrite(VMCS_HOST_CR3, read_cr3());
	vmwrite(VMCS_HOST_CR4, read_cr4());
	vmwrite(VMCS_HOST_EFER, rdmsr(MSR_EFER));
	vmwrite(VMCS_HOST_PAT, rdmsr(MSR_PAT));
	vmwrite(VMCS_HOST_RIP, (uintptr_t)vmx_exit_entry);
}

/* 64-bit code at CPL 0 does without data segments (27.2.3), and Vellum has no SYSENTER. */
static void init_host_segments(void)
{
	const struct descriptor_tables *tables = &processor_current()->tables;

	vmwrite(VMCS_HOST_CS_SELECTOR, CODE64_SELECTOR);
	vmwrite(VMCS_HOST_ES_SELECTOR, 0);
	vmwrite(VMCS_HOST_SS_SELECTOR, 0);
	vmwrite(VMCS_HOST_DS_SELECTOR, 0);
	vmwrite(VMCS_HOST_FS_SELECTOR, 0);
	vmwrite(VMCS_HOST_GS_SELECTOR, 0);
	vmwrite(VMCS_HOST_TR_SELECTOR, TSS_SELECTOR);
	vmwrite(VMCS_HOST_FS_BASE, 0);
	vmwrite(VMCS_HOST_GS_BASE, 0);
	vmwrite(VMCS_HOST_TR_BASE, (uintptr_t)tables->tss);
	vmwrite(VMCS_HOST_GDTR_BASE, (uintptr_t)tables->gdt);
	vmwrite(VMCS_HOST_IDTR_BASE, exception_idt_base());
	vmwrite(VMCS_HOST_SYSENTER_CS, 0);
	vmwrite(VMCS_HOST_SYSENTER_ESP, 0);
	vmwrite(VMCS_HOST_SYSENTER_EIP, 0);
}

/* What INIT leaves as it is; the state that the vcpu starts in has no word for it. */
static void init_guest_msrs(void)
{
	vmwrite(VMCS_GUEST_PAT, PAT_INITIAL);
	vmwrite(VMCS_GUEST_SYSENTER_CS, 0);
	vmwrite(VMCS_GUEST_SYSENTER_ESP, 0);
	vmwrite(VMCS_GUEST_SYSENTER_EIP, 0);
}

/*
 * VMCLEAR promises nothing of the fields (25.11.3), so all that entries and exits look at
 * are written here, those that say "nothing" too.
 */
static void init_fields(const struct vcpu *vcpu)
{
	init_controls();
	init_unused_controls();
	init_tables();
	init_masks();
	init_host();
	init_host_segments();
	init_guest_msrs();
	if (vcpu->shadow)
		vmx_catch_paging();
}

static void make_current(uint32_t *vmcs)
{
	hpa_t address = virt_to_phys(vmcs);

	*vmcs = (uint32_t)(rdmsr(MSR_VMX_BASIC) & VMX_BASIC_REVISION);
	asm volatile("vmclear %0; vmptrld %0" ::"m"(address) : "cc", "memory");
}

int vmx_vcpu_init(struct vcpu *vcpu)
{
	uint32_t *vmcs = frame_allocate();

	if (!vmcs)
		return -ENOMEM;
	vcpu->arch = vmcs;
	make_current(vmcs);
	init_fields(vcpu);
	return 0;
}

static void set_segments(const struct start_state *state)
{
	vmx_set_segment(SEGMENT_ES, &state->es);
	vmx_set_segment(SEGMENT_CS, &state->cs);
	vmx_set_segment(SEGMENT_SS, &state->ss);
	vmx_set_segment(SEGMENT_DS, &state->ds);
	vmx_set_segment(SEGMENT_FS, &state->fs);
	vmx_set_segment(SEGMENT_GS, &state->gs);
	vmx_set_segment(SEGMENT_LDTR, &state->ldtr);
	vmx_set_segment(SEGMENT_TR, &state->tr);
	vmwrite(VMCS_GUEST_GDTR_BASE, state->gdtr.base);
	vmwrite(VMCS_GUEST_GDTR_LIMIT, state->gdtr.limit);
	vmwrite(VMCS_GUEST_IDTR_BASE, state->idtr.base);
	vmwrite(VMCS_GUEST_IDTR_LIMIT, state->idtr.limit);
}

static void set_control_registers(const struct start_state *state)
{
	vmwrite(VMCS_GUEST_CR0, state->cr0 | CR0_NE);
	vmwrite(VMCS_CR0_SHADOW, state->cr0);
	vmwrite(VMCS_GUEST_CR3, state->cr3);
	vmwrite(VMCS_GUEST_CR4, state->cr4 | CR4_VMXE);
	vmwrite(VMCS_CR4_SHADOW, state->cr4);
	vmwrite(VMCS_GUEST_EFER, state->efer);
	vmwrite(VMCS_ENTRY_CONTROLS, vmread(VMCS_ENTRY_CONTROLS) & ~(uint64_t)ENTRY_IA32E);
}

/* Nothing is under way, and nothing is held back. */
static void set_quiet(struct vcpu *vcpu)
{
	memset(&vcpu->pending, 0, sizeof(vcpu->pending));
	vmx_close_windows();
	vmwrite(VMCS_GUEST_ACTIVITY, ACTIVITY_ACTIVE);
	vmwrite(VMCS_GUEST_INTERRUPTIBILITY, 0);
	vmwrite(VMCS_GUEST_PENDING_DEBUG, 0);
	vmwrite(VMCS_ENTRY_INTERRUPTION, 0);
	vmwrite(VMCS_GUEST_DR7, DR7_INITIAL);
	vmwrite(VMCS_GUEST_DEBUGCTL, 0);
	write_dr6(DR6_INITIAL);
	clear_breakpoints();
}

static void set_pdptes(const struct start_state *state)
{
	for (unsigned int i = 0; i < PDPTE_COUNT; i++)
		vmwrite(VMCS_GUEST_PDPTE0 + 2 * i, 0);
	if ((state->cr0 & CR0_PG) && (state->cr4 & CR4_PAE) &&
	    !vmx_load_pdptes(state->cr0, state->cr3))
		pr_warn_once("the PDPTEs at %lx are not valid: the guest starts without; no more "
			     "such lines",
			     state->cr3);
}

void vmx_set_state(struct vcpu *vcpu, const struct start_state *state)
{
	set_segments(state);
	set_control_registers(state);
	set_quiet(vcpu);
	vmwrite(VMCS_GUEST_RFLAGS, state->rflags);
	vmwrite(VMCS_GUEST_RIP, state->rip);
	vmwrite(VMCS_GUEST_RSP, state->rsp);
	vmx_flush(); /* as INIT does */
	if (vcpu->shadow)
		paging_start(vcpu, &(struct guest_paging){state->cr0, state->cr3, state->cr4,
							  state->efer});
	else
		set_pdptes(state);
}

/*
 * Not in the state that waits for STARTUP, where an INIT would stay pending, and come after
 * the guest's STARTUP (25.4.2). NMIs are none of this processor's business until then.
 */
void vmx_await_init(struct vcpu *vcpu)
{
	(void)vcpu;
	vmwrite(VMCS_GUEST_ACTIVITY, ACTIVITY_HALTED);
	vmwrite(VMCS_GUEST_INTERRUPTIBILITY, BLOCKING_NMI);
}

void vmx_await_startup(struct vcpu *vcpu)
{
	(void)vcpu;
	vmwrite(VMCS_GUEST_ACTIVITY, ACTIVITY_WAIT_FOR_STARTUP);
}

void vmx_run(struct vcpu *vcpu)
{
	if (debugger_is_on)
		debugger_vcpu_starts(vcpu);
	vmx_run_loop(vcpu);
}

/*
 * Called by entry.asm: the registers there are the guest's. A machine check in the midst of
 * VMLAUNCH leaves the VMCS not launched (SDM volume 3D, VMLAUNCH), and VMRESUME fails.
 */
void vmx_entry_failed(struct vcpu *vcpu)
{
	uint64_t error = vmread(VMCS_INSTRUCTION_ERROR);

	if (error == VMX_ERROR_RESUME_NOT_LAUNCHED)
		return;
	vmx_dump(vcpu);
	panic("entry to the guest failed: %s (VM-instruction error %lu, SDM volume 3C, 31.4)",
	      vmx_instruction_error_text(error), error);
}

/* In real mode exceptions have no error codes, and an entry with one fails (27.2.1.3). */
static void queue_exception(unsigned int vector, int error_code)
{
	uint64_t event = vector | INTERRUPTION_EXCEPTION | INTERRUPTION_VALID;

	if (error_code != NO_ERROR_CODE && (vmread(VMCS_GUEST_CR0) & CR0_PE)) {
		event |= INTERRUPTION_ERROR_CODE;
		vmwrite(VMCS_ENTRY_ERROR_CODE, (uint64_t)error_code);
	}
	vmwrite(VMCS_ENTRY_INTERRUPTION, event);
}

/*
 * What becomes of an exception that comes upon the delivery of an event. Exceptions and
 * software interrupts come again by themselves, since the guest is still at their
 * instruction; what the machine has sent does not, and waits.
 */
static enum event_outcome combine(struct vcpu *vcpu, uint64_t event, unsigned int vector)
{
	unsigned int first = event & INTERRUPTION_VECTOR;

	switch (event & INTERRUPTION_TYPE) {
	case INTERRUPTION_EXCEPTION:
		return event_combine(first, vector);
	case INTERRUPTION_EXTERNAL:
		vmx_delay_interrupt(vcpu, first);
		return EVENT_SECOND;
	case INTERRUPTION_NMI:
		vcpu->pending.nmi = true;
		return EVENT_SECOND;
	default:
		return EVENT_SECOND;
	}
}

void vmx_inject_exception(struct vcpu *vcpu, unsigned int vector, int error_code)
{
	uint64_t event = vmread(VMCS_ENTRY_INTERRUPTION);
	enum event_outcome outcome = EVENT_SECOND;

	if (event & INTERRUPTION_VALID)
		outcome = combine(vcpu, event, vector);
	if (outcome == EVENT_SHUTDOWN)
		exit_triple_fault(vcpu);
	if (outcome == EVENT_DOUBLE_FAULT)
		queue_exception(VECTOR_DF, 0);
	else
		queue_exception(vector, error_code);
}

uint64_t vmx_read_rip(const struct vcpu *vcpu)
{
	return vmread(VMCS_GUEST_RIP);
}

void vmx_write_rip(struct vcpu *vcpu, uint64_t rip)
{
	vmwrite(VMCS_GUEST_RIP, rip);
}

unsigned int vmx_privilege_level(const struct vcpu *vcpu)
{
	return ACCESS_DPL(vmread(segment_field(VMCS_GUEST_ES_ACCESS, SEGMENT_SS)));
}

static uint64_t shadowed(enum vmcs_field value, enum vmcs_field mask, enum vmcs_field shadow)
{
	uint64_t hidden = vmread(mask);

	return (vmread(value) & ~hidden) | (vmread(shadow) & hidden);
}

uint64_t vmx_read_cr0(const struct vcpu *vcpu)
{
	return shadowed(VMCS_GUEST_CR0, VMCS_CR0_MASK, VMCS_CR0_SHADOW);
}

uint64_t vmx_read_cr4(const struct vcpu *vcpu)
{
	return shadowed(VMCS_GUEST_CR4, VMCS_CR4_MASK, VMCS_CR4_SHADOW);
}

uint64_t vmx_read_efer(const struct vcpu *vcpu)
{
	return vmread(VMCS_GUEST_EFER);
}

void vmx_write_efer(struct vcpu *vcpu, uint64_t value)
{
	vmwrite(VMCS_GUEST_EFER, value);
}

struct guest_paging vmx_guest_paging(const struct vcpu *vcpu)
{
	const struct shadow_context *shadow = vcpu->shadow;

	return (struct guest_paging){
		.cr0 = vmx_read_cr0(vcpu),
		.cr3 = shadow ? shadow->guest.cr3 : vmread(VMCS_GUEST_CR3),
		.cr4 = vmx_read_cr4(vcpu),
		.efer = shadow ? shadow->guest.efer : vmread(VMCS_GUEST_EFER),
	};
}
