/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of svm/ share; core/ sees only svm_vendor. */
#ifndef VELLUM_SVM_SVM_H
#define VELLUM_SVM_SVM_H

#include "core/cpu.h"
#include "core/vcpu.h"
#include "core/vendor.h"
#include "mm/physmap.h"
#include "mm/shadow.h"
#include "svm/vmcb.h"

/* MSRs of SVM: APM volume 2, 15.30 */
#define MSR_VM_CR	0xc0010114u
#define MSR_VM_HSAVE_PA 0xc0010117u
#define MSR_IGNNE	0xc0010115u
#define MSR_SMM_CTL	0xc0010116u
#define MSR_SVM_KEY	0xc0010118u

/* MSRs that say what lies at which physical address: BKDG and PPR, MSR C001_00xx */
#define MSR_SYSCFG	  0xc0010010u
#define MSR_IORR_FIRST	  0xc0010016u
#define MSR_IORR_LAST	  0xc0010019u
#define MSR_TOP_MEM	  0xc001001au
#define MSR_TOP_MEM2	  0xc001001du
#define MSR_MMIO_CFG_BASE 0xc0010058u
#define MSR_SMM_ADDR	  0xc0010112u
#define MSR_SMM_MASK	  0xc0010113u

#define VM_CR_LOCK   BIT(3)
#define VM_CR_SVMDIS BIT(4)

/* CPUID 8000000Ah EDX */
#define SVM_FEATURE_NESTED_PAGING BIT(0)
#define SVM_FEATURE_NEXT_RIP	  BIT(3)

static inline struct vmcb *vmcb_of(const struct vcpu *vcpu)
{
	return vcpu->arch;
}

/* The control registers as the guest has loaded them. */
static inline struct guest_paging svm_guest_paging(const struct vcpu *vcpu)
{
	const struct vmcb_save *save = &vmcb_of(vcpu)->save;

	if (vcpu->shadow)
		return vcpu->shadow->guest;
	return (struct guest_paging){save->cr0, save->cr3, save->cr4, save->efer & ~EFER_SVME};
}

/*
 * FS, GS, TR, LDTR, and the MSRs of SYSCALL and SYSENTER: from the processor into a VMCB and
 * the other way (15.5.2)
 */
static inline void vmsave(const struct vmcb *vmcb)
{
	asm volatile("vmsave" ::"a"(virt_to_phys(vmcb).raw) : "memory");
}

static inline void vmload(const struct vmcb *vmcb)
{
	asm volatile("vmload" ::"a"(virt_to_phys(vmcb).raw) : "memory");
}

/* The global interrupt flag (15.17) */
static inline void clgi(void)
{
	asm volatile("clgi" ::: "memory");
}

static inline void stgi(void)
{
	asm volatile("stgi" ::: "memory");
}

/* svm.c: is SVM there, and on with it */
bool svm_is_present(void);
const char *svm_missing_for_nested(void);
int svm_probe(char *why, size_t size);
int svm_shared_init(void);
int svm_enable(struct vcpu *vcpu);

/* bitmaps.c: which MSRs and ports exit */
int svm_bitmaps_init(void);
hpa_t svm_msr_bitmap(void);
hpa_t svm_port_bitmap(void);
bool svm_hides_msr(uint32_t msr);
bool svm_keeps_msr(uint32_t msr);
void svm_release_port(struct vcpu *vcpu, uint16_t port);

/* npt.c: the format of nested page tables, and the page that is caught there */
int svm_memory_init(void);
const char *svm_nested_rights(uint64_t entry, char text[VENDOR_RIGHTS_SIZE]);
bool svm_map_more(struct vcpu *vcpu, gpa_t address);
bool svm_catches_apic(gpa_t address);
void svm_release_apic(void);
bool svm_apic_is_released(void);

/* paging.c: with paging=shadow */
const struct vendor *svm_with_shadow_paging(void);
void svm_catch_paging(struct vmcb_control *control);
void svm_page_fault_exit(struct vcpu *vcpu);
void svm_cr_read_exit(struct vcpu *vcpu);
void svm_cr_write_exit(struct vcpu *vcpu);
void svm_invlpg_exit(struct vcpu *vcpu);

/* vcpu.c: the VMCB of a vcpu, and the neutral questions about it */
int svm_vcpu_init(struct vcpu *vcpu);
void svm_set_state(struct vcpu *vcpu, const struct start_state *state);
void svm_await_init(struct vcpu *vcpu);
void svm_release_cpuid(struct vcpu *vcpu);
_Noreturn void svm_run(struct vcpu *vcpu);
void svm_inject_exception(struct vcpu *vcpu, unsigned int vector, int error_code);
/* The guest's IRET, at which an NMI comes that had to wait. */
void svm_iret_exit(struct vcpu *vcpu);
uint64_t svm_read_rip(const struct vcpu *vcpu);
void svm_write_rip(struct vcpu *vcpu, uint64_t rip);
unsigned int svm_privilege_level(const struct vcpu *vcpu);
uint64_t svm_read_cr0(const struct vcpu *vcpu);
uint64_t svm_read_cr4(const struct vcpu *vcpu);
uint64_t svm_read_efer(const struct vcpu *vcpu);
void svm_write_efer(struct vcpu *vcpu, uint64_t value);

/* apic.c: a write to the local APIC's page */
void svm_apic_exit(struct vcpu *vcpu, gpa_t address);

/* debug.c */
void svm_read_state(struct vcpu *vcpu, struct guest_state *state);
void svm_write_state(struct vcpu *vcpu, const struct guest_state *state);
void svm_guard_breakpoints(struct vcpu *vcpu, bool on);
void svm_guard_debug_registers(struct vcpu *vcpu, bool on);
void svm_write_dr6(struct vcpu *vcpu, uint64_t value);
void svm_write_dr7(struct vcpu *vcpu, uint64_t value);
void svm_breakpoint_exit(struct vcpu *vcpu);
void svm_software_interrupt_exit(struct vcpu *vcpu);
void svm_debug_register_exit(struct vcpu *vcpu);

/* attention.c: exits that are there to look at the debugger's line */
void svm_attend(struct vcpu *vcpu);
void svm_interrupt_exit(struct vcpu *vcpu);
void svm_interrupt_window_exit(struct vcpu *vcpu);
void svm_halt_exit(struct vcpu *vcpu);
void svm_pause_exit(struct vcpu *vcpu);

/* instruction.c */
void svm_skip_instruction(struct vcpu *vcpu);

/* quick_exit.c: called by entry.asm after each #VMEXIT, with some of the registers */
void svm_quick_exit(struct vcpu *vcpu);

/* exit.c: called by entry.asm for what that passes on, with all registers */
void svm_exit(struct vcpu *vcpu);

/* dump.c */
void svm_read_fault_state(const struct vcpu *vcpu, struct fault_state *state);
void svm_dump(const struct vcpu *vcpu);

#endif
