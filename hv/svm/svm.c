/* SPDX-License-Identifier: GPL-2.0-only */
#include "svm/svm.h"
#include "core/cpu.h"
#include "lib/errno.h"
#include "lib/printf.h"
#include "mm/frames.h"
#include "mm/physmap.h"

const struct vendor svm_vendor = {
	.name = "AMD-V",
	.hypercall_name = "VMMCALL",
	.hypercall = {0x0f, 0x01, 0xd9},
	.is_present = svm_is_present,
	.probe = svm_probe,
	.enable = svm_enable,
	.memory_init = svm_memory_init,
	.vcpu_init = svm_vcpu_init,
	.run = svm_run,
	.inject_exception = svm_inject_exception,
	.skip_instruction = svm_skip_instruction,
	.privilege_level = svm_privilege_level,
	.read_cr0 = svm_read_cr0,
	.read_cr4 = svm_read_cr4,
	.hides_msr = svm_hides_msr,
	.keeps_msr = svm_keeps_msr,
	.read_efer = svm_read_efer,
	.write_efer = svm_write_efer,
	.release_port = svm_release_port,
	.release_cpuid = svm_release_cpuid,
	.read_fault_state = svm_read_fault_state,
	.dump = svm_dump,
};

bool svm_is_present(void)
{
	return cpuid(CPUID_EXT_MAX, 0).eax >= CPUID_SVM &&
	       (cpuid(CPUID_EXT_FEATURES, 0).ecx & CPUID_EXT1_ECX_SVM);
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
	if (!(cpuid(CPUID_SVM, 0).edx & SVM_FEATURE_NESTED_PAGING)) {
		text_format(why, size,
			    "this AMD-V has no nested paging (CPUID 8000000Ah EDX bit 0), "
			    "and paging=shadow is not there yet");
		return -ENODEV;
	}
	return 0;
}

/*
 * Turns SVM on and the global interrupt flag off, for good: VMRUN sets it for the
 * guest, #VMEXIT clears it again. Nothing can interrupt Vellum (docs/tricks.md).
 */
int svm_enable(void)
{
	hpa_t save_area;
	int error = frames_allocate(1, 1, &save_area);

	if (error)
		return error;
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SVME);
	wrmsr(MSR_VM_HSAVE_PA, save_area.raw);
	asm volatile("clgi");
	return svm_bitmaps_init();
}
