/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "debug/console.h"
#include "lib/printf.h"
#include "mm/guest_memory.h"
#include "vmx/vmx.h"

static void dump_registers(const struct vcpu *vcpu)
{
	const struct guest_registers *r = &vcpu->regs;
	struct guest_paging paging = vmx_guest_paging(vcpu);

	pr_error("  rip %016lx rsp %016lx rflags %08lx cpl %u", vmread(VMCS_GUEST_RIP),
		 vmread(VMCS_GUEST_RSP), vmread(VMCS_GUEST_RFLAGS), vmx_privilege_level(vcpu));
	pr_error("  rax %016lx rbx %016lx rcx %016lx rdx %016lx", r->rax, r->rbx, r->rcx, r->rdx);
	pr_error("  rsi %016lx rdi %016lx rbp %016lx r8  %016lx", r->rsi, r->rdi, r->rbp, r->r8);
	pr_error("  cr0 %08lx cr2 %016lx cr3 %016lx cr4 %08lx efer %lx", paging.cr0, read_cr2(),
		 paging.cr3, paging.cr4, paging.efer);
}

static void dump_segment(const char *name, enum vmcs_segment segment)
{
	pr_error("  %s %04lx base %016lx limit %08lx access %04lx", name,
		 vmread(segment_field(VMCS_GUEST_ES_SELECTOR, segment)),
		 vmread(segment_field(VMCS_GUEST_ES_BASE, segment)),
		 vmread(segment_field(VMCS_GUEST_ES_LIMIT, segment)),
		 vmread(segment_field(VMCS_GUEST_ES_ACCESS, segment)));
}

static void dump_segments(void)
{
	dump_segment("cs  ", SEGMENT_CS);
	dump_segment("ss  ", SEGMENT_SS);
	dump_segment("ds  ", SEGMENT_DS);
	dump_segment("es  ", SEGMENT_ES);
	dump_segment("fs  ", SEGMENT_FS);
	dump_segment("gs  ", SEGMENT_GS);
	dump_segment("ldtr", SEGMENT_LDTR);
	dump_segment("tr  ", SEGMENT_TR);
	pr_error("  gdtr base %016lx limit %04lx", vmread(VMCS_GUEST_GDTR_BASE),
		 vmread(VMCS_GUEST_GDTR_LIMIT));
	pr_error("  idtr base %016lx limit %04lx", vmread(VMCS_GUEST_IDTR_BASE),
		 vmread(VMCS_GUEST_IDTR_LIMIT));
}

static void dump_exit(void)
{
	pr_error("  exit reason %lx qualification %lx interruption %lx vectoring %lx",
		 vmread(VMCS_EXIT_REASON), vmread(VMCS_EXIT_QUALIFICATION),
		 vmread(VMCS_EXIT_INTERRUPTION), vmread(VMCS_VECTORING_INFO));
}

/* What an entry checks beside registers and segments: SDM volume 3C, 27.2.1 and 27.3.1. */
static void dump_entry(void)
{
	pr_error("  real cr0 %08lx cr3 %016lx cr4 %08lx dr7 %lx debugctl %lx pat %016lx",
		 vmread(VMCS_GUEST_CR0), vmread(VMCS_GUEST_CR3), vmread(VMCS_GUEST_CR4),
		 vmread(VMCS_GUEST_DR7), vmread(VMCS_GUEST_DEBUGCTL), vmread_or_0(VMCS_GUEST_PAT));
	pr_error("  interruptibility %lx activity %lx pending debug %lx link pointer %016lx",
		 vmread(VMCS_GUEST_INTERRUPTIBILITY), vmread(VMCS_GUEST_ACTIVITY),
		 vmread(VMCS_GUEST_PENDING_DEBUG), vmread(VMCS_LINK_POINTER));
	pr_error("  controls: pin %lx processor %lx secondary %lx exit %lx entry %lx",
		 vmread(VMCS_PIN_CONTROLS), vmread(VMCS_PROCESSOR_CONTROLS),
		 vmread_or_0(VMCS_SECONDARY_CONTROLS), vmread(VMCS_EXIT_CONTROLS),
		 vmread(VMCS_ENTRY_CONTROLS));
	pr_error("  to inject %lx error code %lx length %lx", vmread(VMCS_ENTRY_INTERRUPTION),
		 vmread(VMCS_ENTRY_ERROR_CODE), vmread(VMCS_ENTRY_INSTRUCTION_LENGTH));
	pr_error("  pdptes %016lx %016lx %016lx %016lx", vmread_or_0(VMCS_GUEST_PDPTE0),
		 vmread_or_0(VMCS_GUEST_PDPTE0 + 2), vmread_or_0(VMCS_GUEST_PDPTE0 + 4),
		 vmread_or_0(VMCS_GUEST_PDPTE0 + 6));
}

void vmx_read_fault_state(const struct vcpu *vcpu, struct fault_state *state)
{
	struct guest_paging paging = vmx_guest_paging(vcpu);

	*state = (struct fault_state){
		.paging = paging,
		.long_mode = paging.efer & EFER_LMA,
		.idt = gva(vmread(VMCS_GUEST_IDTR_BASE)),
		.idt_limit = (uint32_t)vmread(VMCS_GUEST_IDTR_LIMIT),
		.stack = gva(vmread(segment_field(VMCS_GUEST_ES_BASE, SEGMENT_SS)) +
			     vmread(VMCS_GUEST_RSP)),
	};
}

void vmx_dump(const struct vcpu *vcpu)
{
	dump_exit();
	dump_registers(vcpu);
	dump_segments();
	dump_entry();
}
