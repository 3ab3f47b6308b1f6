/* SPDX-License-Identifier: GPL-2.0-only */
#include "svm/svm.h"
#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "mm/frames.h"

const struct vendor svm_vendor = {
	.name = "AMD-V",
	.hypercall_name = "VMMCALL",
	.hypercall = {0x0f, 0x01, 0xd9},
	.is_present = svm_is_present,
	.probe = svm_probe,
	.shared_init = svm_shared_init,
	.enable = svm_enable,
	.vcpu_init = svm_vcpu_init,
	.set_state = svm_set_state,
	.await_init = svm_await_init,
	.run = svm_run,
	.inject_exception = svm_inject_exception,
	.skip_instruction = svm_skip_instruction,
	.missing_for_nested = svm_missing_for_nested,
	.with_shadow_paging = svm_with_shadow_paging,
	.read_rip = svm_read_rip,
	.write_rip = svm_write_rip,
	.privilege_level = svm_privilege_level,
	.read_cr0 = svm_read_cr0,
	.read_cr4 = svm_read_cr4,
	.hides_msr = svm_hides_msr,
	.keeps_msr = svm_keeps_msr,
	.read_efer = svm_read_efer,
	.write_efer = svm_write_efer,
	.release_port = svm_release_port,
	.release_cpuid = svm_release_cpuid,
	.release_apic = svm_release_apic,
	.read_state = svm_read_state,
	.write_state = svm_write_state,
	.attend = svm_attend,
	.guard_breakpoints = svm_guard_breakpoints,
	.nested_name = "NPT",
	.nested_rights = svm_nested_rights,
	.guard_debug_registers = svm_guard_debug_registers,
	.write_dr6 = svm_write_dr6,
	.write_dr7 = svm_write_dr7,
	.read_fault_state = svm_read_fault_state,
	.dump = svm_dump,
};

bool svm_is_present(void)
{
	return cpuid(CPUID_EXT_MAX, 0).eax >= CPUID_SVM &&
	       (cpuid(CPUID_EXT_FEATURES, 0).ecx & CPUID_EXT1_ECX_SVM);
}

const char *svm_missing_for_nested(void)
{
	return cpuid(CPUID_SVM, 0).edx & SVM_FEATURE_NESTED_PAGING ? NULL : "nested paging";
}

int svm_probe(char *why, size_t size)
{
	uint64_t vm_cr;

	vm_cr = rdmsr(MSR_VM_CR);
	if (vm_cr & VM_CR_SVMDIS) {
		text_format(why, size,
			    "the firmware has switched AMD-V off%s (VM_CR is %lxh): "
			    "look for \"SVM Mode\" in its setup",
			    vm_cr & VM_CR_LOCK ? " and locked it" : "", vm_cr);
		return -ENODEV;
	}
	return 0;
}

int svm_shared_init(void)
{
	int error = svm_bitmaps_init();

	return error ? error : svm_memory_init();
}

/* The VMCB, and behind it the host's save area; both stay when INIT takes the processor. */
static int allocate_pages(struct vcpu *vcpu)
{
	hpa_t pages;
	int error;

	if (vcpu->arch)
		return 0;
	error = frames_allocate(2, 1, &pages);
	if (!error)
		vcpu->arch = phys_to_virt(pages);
	return error;
}

/*
 * Turns SVM on and the global interrupt flag off, for good: VMRUN sets it for the
 * guest, #VMEXIT clears it again. Nothing can interrupt Vellum (docs/tricks.md).
 */
int svm_enable(struct vcpu *vcpu)
{
	int error = allocate_pages(vcpu);

	if (error)
		return error;
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SVME);
	clgi();
	wrmsr(MSR_VM_HSAVE_PA, virt_to_phys(vcpu->arch).raw + PAGE_SIZE);
	return 0;
}
