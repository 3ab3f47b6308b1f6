/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmx/vmx.h"
#include "core/cpu.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "mm/frames.h"
#include "mm/physmap.h"

const struct vendor vmx_vendor = {
	.name = "VT-x",
	.hypercall_name = "VMCALL",
	.hypercall = {0x0f, 0x01, 0xc1},
	.is_present = vmx_is_present,
	.probe = vmx_probe,
	.shared_init = vmx_shared_init,
	.enable = vmx_enable,
	.vcpu_init = vmx_vcpu_init,
	.set_state = vmx_set_state,
	.await_init = vmx_await_init,
	.init_exits = true,
	.await_startup = vmx_await_startup,
	.note_event = vmx_note_event,
	.run = vmx_run,
	.set_timer = vmx_set_timer,
	.inject_exception = vmx_inject_exception,
	.skip_instruction = vmx_skip_instruction,
	.missing_for_nested = vmx_missing_for_nested,
	.with_shadow_paging = vmx_with_shadow_paging,
	.read_rip = vmx_read_rip,
	.write_rip = vmx_write_rip,
	.privilege_level = vmx_privilege_level,
	.read_cr0 = vmx_read_cr0,
	.read_cr4 = vmx_read_cr4,
	.has_syscall = vmx_has_syscall,
	.hides_msr = vmx_hides_msr,
	.keeps_msr = vmx_keeps_msr,
	.memory_types_changed = vmx_memory_types_changed,
	.read_efer = vmx_read_efer,
	.write_efer = vmx_write_efer,
	.release_port = vmx_release_port,
	.read_state = vmx_read_state,
	.write_state = vmx_write_state,
	.guard_breakpoints = vmx_guard_breakpoints,
	.nested_name = "EPT",
	.nested_rights = vmx_nested_rights,
	.guard_debug_registers = vmx_guard_debug_registers,
	.write_dr6 = vmx_write_dr6,
	.write_dr7 = vmx_write_dr7,
	.read_fault_state = vmx_read_fault_state,
	.dump = vmx_dump,
};

bool vmx_is_present(void)
{
	return cpuid(CPUID_FEATURES, 0).ecx & CPUID_1_ECX_VMX;
}

/* Firmware may have locked VMX off (SDM volume 3C, 24.7); if it locked nothing, it is ours. */
static bool is_locked_off(uint64_t control)
{
	return (control & FEATURE_CONTROL_LOCK) && !(control & FEATURE_CONTROL_VMXON);
}

/* True if all of these controls may be 1: the high half of their capability MSR (A.3). */
static bool can_control(uint32_t msr, uint64_t bits)
{
	return (rdmsr(msr) >> 32 & bits) == bits;
}

static bool can_switch_efer_and_pat(void)
{
	return can_control(MSR_VMX_ENTRY, ENTRY_LOAD_EFER | ENTRY_LOAD_PAT) &&
	       can_control(MSR_VMX_EXIT,
			   EXIT_SAVE_EFER | EXIT_LOAD_EFER | EXIT_SAVE_PAT | EXIT_LOAD_PAT);
}

static bool can_wait_for_nmi_window(void)
{
	return can_control(MSR_VMX_PIN, PIN_NMI_EXITING | PIN_VIRTUAL_NMIS) &&
	       can_control(MSR_VMX_PROCESSOR, PROCESSOR_NMI_WINDOW);
}

static bool has_secondary(uint64_t bits)
{
	return can_control(MSR_VMX_PROCESSOR, PROCESSOR_SECONDARY) &&
	       can_control(MSR_VMX_SECONDARY, bits);
}

uint64_t vmx_ept_capabilities(void)
{
	if (!has_secondary(SECONDARY_EPT) && !has_secondary(SECONDARY_VPID))
		return 0;
	return rdmsr(MSR_VMX_EPT_VPID);
}

const char *vmx_missing_for_nested(void)
{
	uint64_t ept = vmx_ept_capabilities();

	if (!has_secondary(SECONDARY_EPT))
		return "extended page tables (EPT)";
	if (!has_secondary(SECONDARY_UNRESTRICTED))
		return "unrestricted guest mode";
	if (!can_switch_efer_and_pat())
		return "EFER and PAT switching";
	if (!(ept & EPT_CAP_4_LEVELS) || !(ept & EPT_CAP_WRITE_BACK))
		return "write-back EPT of four levels";
	if (!(ept & EPT_CAP_INVEPT) || !(ept & EPT_CAP_INVEPT_ALL))
		return "INVEPT of all contexts";
	return NULL;
}

static const char *missing_capability(void)
{
	if (!can_control(MSR_VMX_PROCESSOR, PROCESSOR_IO_BITMAPS | PROCESSOR_MSR_BITMAPS))
		return "I/O and MSR bitmaps";
	return can_wait_for_nmi_window() ? NULL : "virtual NMIs and their window";
}

int vmx_probe(char *why, size_t size)
{
	uint64_t control;
	const char *missing;

	control = rdmsr(MSR_FEATURE_CONTROL);
	if (is_locked_off(control)) {
		text_format(why, size,
			    "the firmware has switched VT-x off and locked it (FEATURE_CONTROL is "
			    "%lxh): look for \"Virtualization Technology\" in its setup",
			    control);
		return -ENODEV;
	}
	missing = missing_capability();
	if (missing) {
		text_format(why, size, "this VT-x lacks %s", missing);
		return -ENODEV;
	}
	return 0;
}

uint64_t vmx_fix_cr0(uint64_t cr0)
{
	return (cr0 | rdmsr(MSR_VMX_CR0_FIXED0)) & rdmsr(MSR_VMX_CR0_FIXED1);
}

uint64_t vmx_fix_cr4(uint64_t cr4)
{
	return (cr4 | rdmsr(MSR_VMX_CR4_FIXED0)) & rdmsr(MSR_VMX_CR4_FIXED1);
}

uint32_t vmx_controls(uint32_t msr, uint64_t wanted)
{
	uint64_t capability;

	if (msr <= MSR_VMX_ENTRY && (rdmsr(MSR_VMX_BASIC) & VMX_BASIC_TRUE_CONTROLS))
		msr += MSR_VMX_TRUE_OFFSET;
	capability = rdmsr(msr);
	return (uint32_t)((wanted | (uint32_t)capability) & capability >> 32);
}

static void unlock(void)
{
	uint64_t control = rdmsr(MSR_FEATURE_CONTROL);

	if (!(control & FEATURE_CONTROL_LOCK))
		wrmsr(MSR_FEATURE_CONTROL, control | FEATURE_CONTROL_LOCK | FEATURE_CONTROL_VMXON);
}

/* VMXON with a region of its own (24.11.5). */
static int vmxon(void)
{
	uint32_t *region = frame_allocate();
	hpa_t address;
	bool failed;

	if (!region)
		return -ENOMEM;
	*region = (uint32_t)(rdmsr(MSR_VMX_BASIC) & VMX_BASIC_REVISION);
	address = virt_to_phys(region);
	asm volatile("vmxon %1; setna %0" : "=qm"(failed) : "m"(address) : "cc", "memory");
	if (failed)
		pr_error("VMXON failed, although the processor has VT-x and nothing forbids it");
	return failed ? -ENODEV : 0;
}

int vmx_shared_init(void)
{
	int error = vmx_bitmaps_init();

	return error ? error : vmx_memory_init();
}

int vmx_enable(struct vcpu *vcpu)
{
	int error;

	(void)vcpu;
	unlock();
	/* An entry leaves CD and NW as they are (27.3.2.1): the guest starts with Vellum's. */
	write_cr0(vmx_fix_cr0(read_cr0() & ~(CR0_CD | CR0_NW)));
	write_cr4(vmx_fix_cr4(read_cr4() | CR4_VMXE));
	error = vmxon();
	if (!error)
		vmx_flush();
	return error;
}
