/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of vmx/ share; core/ sees only vmx_vendor. */
#ifndef VELLUM_VMX_VMX_H
#define VELLUM_VMX_VMX_H

#include "core/vcpu.h"
#include "core/vendor.h"
#include "mm/shadow.h"
#include "vmx/vmcs.h"

/* MSRs of VMX: SDM volume 3D, appendix A */
#define MSR_FEATURE_CONTROL   0x0000003au
#define FEATURE_CONTROL_LOCK  BIT(0)
#define FEATURE_CONTROL_VMXON BIT(2) /* outside of SMX */
#define MSR_VMX_FIRST	      0x00000480u
#define MSR_VMX_BASIC	      0x00000480u
#define MSR_VMX_PIN	      0x00000481u
#define MSR_VMX_PROCESSOR     0x00000482u
#define MSR_VMX_EXIT	      0x00000483u
#define MSR_VMX_ENTRY	      0x00000484u
#define MSR_VMX_MISC	      0x00000485u
#define MSR_VMX_CR0_FIXED0    0x00000486u
#define MSR_VMX_CR0_FIXED1    0x00000487u
#define MSR_VMX_CR4_FIXED0    0x00000488u
#define MSR_VMX_CR4_FIXED1    0x00000489u
#define MSR_VMX_SECONDARY     0x0000048bu
#define MSR_VMX_EPT_VPID      0x0000048cu
#define MSR_VMX_TRUE_OFFSET   0x0000000cu /* from a control's MSR to its "true" one */
#define MSR_VMX_LAST	      0x00000493u
#define MSR_PEBS_ENABLE	      0x000003f1u
#define MSR_RTIT_FIRST	      0x00000560u
#define MSR_RTIT_LAST	      0x00000587u
#define MSR_DS_AREA	      0x00000600u
#define MSR_FEEDBACK_FIRST    0x000017d0u /* hardware feedback: SDM volume 3B, 15.6 */
#define MSR_FEEDBACK_LAST     0x000017d4u

#define VMX_BASIC_REVISION	0x7fffffffu
#define VMX_BASIC_TRUE_CONTROLS BIT(55)

/* A change of this bit of the TSC is a count of the preemption timer: A.6 */
#define VMX_MISC_TIMER_RATE(misc) ((unsigned int)((misc)&31))

#define EPT_CAP_4_LEVELS   BIT(6)
#define EPT_CAP_WRITE_BACK BIT(14)
#define EPT_CAP_2M	   BIT(16)
#define EPT_CAP_1G	   BIT(17)
#define EPT_CAP_INVEPT	   BIT(20)
#define EPT_CAP_INVEPT_ALL BIT(26)
#define VPID_CAP_INVVPID   BIT(32)
#define VPID_CAP_SINGLE	   BIT(41)

/* vmx.c: is VMX there, and on with it */
bool vmx_is_present(void);
const char *vmx_missing_for_nested(void);
int vmx_probe(char *why, size_t size);
int vmx_shared_init(void);
int vmx_enable(struct vcpu *vcpu);

/*
 * The controls of a field (MSR_VMX_PIN ...) that has wanted set as far as the processor
 * can, and all that it insists on.
 */
uint32_t vmx_controls(uint32_t msr, uint64_t wanted);
uint64_t vmx_fix_cr0(uint64_t cr0);
uint64_t vmx_fix_cr4(uint64_t cr4);

/* EPT_CAP_*; 0 without EPT and VPIDs. */
uint64_t vmx_ept_capabilities(void);

/* bitmaps.c: which MSRs and ports exit */
int vmx_bitmaps_init(void);
hpa_t vmx_msr_bitmap(void);
hpa_t vmx_port_bitmap(void);
bool vmx_hides_msr(uint32_t msr);
bool vmx_keeps_msr(uint32_t msr);
void vmx_release_port(struct vcpu *vcpu, uint16_t port);

/* ept.c: guest-physical to host-physical */
int vmx_memory_init(void);
uint64_t vmx_ept_pointer(void);
const char *vmx_nested_rights(uint64_t entry, char text[VENDOR_RIGHTS_SIZE]);

/* Drops all cached translations: an entry drops none of the guest's by itself. */
void vmx_flush(void);
bool vmx_map_more(struct vcpu *vcpu, gpa_t address);
void vmx_memory_types_changed(void);

/* paging.c: with paging=shadow */
const struct vendor *vmx_with_shadow_paging(void);
void vmx_catch_paging(void);
void vmx_page_fault_exit(struct vcpu *vcpu);
void vmx_paging_register_exit(struct vcpu *vcpu);
void vmx_invlpg_exit(struct vcpu *vcpu);

/* vcpu.c: the VMCS of a vcpu, and the neutral questions about it */
int vmx_vcpu_init(struct vcpu *vcpu);
void vmx_set_state(struct vcpu *vcpu, const struct start_state *state);
void vmx_await_init(struct vcpu *vcpu);
void vmx_await_startup(struct vcpu *vcpu);
_Noreturn void vmx_run(struct vcpu *vcpu);
void vmx_entry_failed(struct vcpu *vcpu); /* returns if VMLAUNCH has to be repeated */
void vmx_inject_exception(struct vcpu *vcpu, unsigned int vector, int error_code);
uint64_t vmx_read_rip(const struct vcpu *vcpu);
void vmx_write_rip(struct vcpu *vcpu, uint64_t rip);
unsigned int vmx_privilege_level(const struct vcpu *vcpu);
uint64_t vmx_read_cr0(const struct vcpu *vcpu);
uint64_t vmx_read_cr4(const struct vcpu *vcpu);
uint64_t vmx_read_efer(const struct vcpu *vcpu);
void vmx_write_efer(struct vcpu *vcpu, uint64_t value);

/* The control registers as the guest has loaded them. */
struct guest_paging vmx_guest_paging(const struct vcpu *vcpu);

/* instruction.c */
gva_t vmx_instruction_address(void);
bool vmx_in_64bit_code(void);
bool vmx_has_syscall(const struct vcpu *vcpu);
void vmx_skip_instruction(struct vcpu *vcpu);

/* A single step that is due, with no instruction that ends now to raise it, stays pending. */
void vmx_keep_single_step(void);

/* Behind STI or MOV SS it has to, or the next entry fails (27.3.1.5). */
void vmx_keep_single_step_in_shadow(void);

/* control_registers.c: writes that touch the bits that VMX insists on */
void vmx_cr_exit(struct vcpu *vcpu);
bool vmx_load_pdptes(uint64_t cr0, uint64_t cr3);
void vmx_load_cache_control(uint64_t cr0);

/* General registers by their number in an instruction. */
uint64_t vmx_read_register(const struct vcpu *vcpu, unsigned int number);
void vmx_write_register(struct vcpu *vcpu, unsigned int number, uint64_t value);

/* task_switch.c */
void vmx_task_switch_exit(struct vcpu *vcpu);

/* nmi.c */
void vmx_note_event(struct exception_frame *frame);
void vmx_pass_on(struct vcpu *vcpu);
void vmx_nmi_exit(struct vcpu *vcpu);

/* An interrupt that the APIC takes for delivered: once more when the guest can take it. */
void vmx_delay_interrupt(struct vcpu *vcpu, unsigned int vector);
void vmx_interrupt_window_exit(struct vcpu *vcpu);

/* Nothing waits any longer. */
void vmx_close_windows(void);

/* quick_exit.c: called by entry.asm after each exit, with some of the registers */
void vmx_quick_exit(struct vcpu *vcpu);

/* timer.c */
bool vmx_set_timer(struct vcpu *vcpu, uint64_t deadline, void (*due)(struct vcpu *vcpu));
void vmx_timer_exit(struct vcpu *vcpu);

/* debug.c */
void vmx_read_state(struct vcpu *vcpu, struct guest_state *state);
void vmx_write_state(struct vcpu *vcpu, const struct guest_state *state);
void vmx_guard_breakpoints(struct vcpu *vcpu, bool on);
void vmx_guard_debug_registers(struct vcpu *vcpu, bool on);
void vmx_write_dr6(struct vcpu *vcpu, uint64_t value);
void vmx_write_dr7(struct vcpu *vcpu, uint64_t value);
void vmx_breakpoint_exit(struct vcpu *vcpu);
void vmx_debug_register_exit(struct vcpu *vcpu);

/* exit.c: called by entry.asm for what that passes on, with all registers */
void vmx_exit(struct vcpu *vcpu);

/* dump.c */
void vmx_read_fault_state(const struct vcpu *vcpu, struct fault_state *state);
void vmx_dump(const struct vcpu *vcpu);

#endif
