/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "debug/console.h"
#include "lib/printf.h"
#include "mm/guest_memory.h"
#include "mm/physmap.h"
#include "svm/instruction.h"
#include "svm/svm.h"

static void dump_registers(const struct vcpu *vcpu)
{
	const struct guest_registers *r = &vcpu->regs;
	const struct vmcb_save *s = &vmcb_of(vcpu)->save;
	struct guest_paging p = svm_guest_paging(vcpu);

	pr_error("  rip %016lx rsp %016lx rflags %08lx cpl %u", s->rip, s->rsp, s->rflags, s->cpl);
	pr_error("  rax %016lx rbx %016lx rcx %016lx rdx %016lx", r->rax, r->rbx, r->rcx, r->rdx);
	pr_error("  rsi %016lx rdi %016lx rbp %016lx r8  %016lx", r->rsi, r->rdi, r->rbp, r->r8);
	pr_error("  cr0 %08lx cr2 %016lx cr3 %016lx cr4 %08lx efer %lx", p.cr0, s->cr2, p.cr3,
		 p.cr4, p.efer);
}

static void dump_segment(const char *name, const struct vmcb_segment *segment)
{
	pr_error("  %s %04x base %016lx limit %08x attributes %03x", name, segment->selector,
		 segment->base, segment->limit, segment->attributes);
}

static void dump_segments(const struct vmcb_save *s)
{
	dump_segment("cs  ", &s->cs);
	dump_segment("ss  ", &s->ss);
	dump_segment("ds  ", &s->ds);
	dump_segment("tr  ", &s->tr);
	dump_segment("gdtr", &s->gdtr);
	dump_segment("idtr", &s->idtr);
}

static void dump_exit(const struct vmcb_control *c)
{
	pr_error("  exit code %lx info1 %lx info2 %lx event %lx", c->exit_code, c->exit_info1,
		 c->exit_info2, c->exit_interrupt_info);
}

void svm_read_fault_state(const struct vcpu *vcpu, struct fault_state *state)
{
	const struct vmcb_save *s = &vmcb_of(vcpu)->save;

	*state = (struct fault_state){
		.paging = svm_guest_paging(vcpu),
		.long_mode = s->efer & EFER_LMA,
		.idt = gva(s->idtr.base),
		.idt_limit = s->idtr.limit,
		.stack = gva(s->ss.base + s->rsp),
	};
}

void svm_dump(const struct vcpu *vcpu)
{
	const struct vmcb *vmcb = vmcb_of(vcpu);

	/* FS, GS, TR and LDTR are in the processor until asked for. */
	asm volatile("vmsave" ::"a"(virt_to_phys(vmcb).raw) : "memory");
	dump_exit(&vmcb->control);
	if (vmcb->control.exit_code == SVM_EXIT_SHUTDOWN)
		pr_error("  (after a shutdown the manual promises none of what follows: 15.14.3)");
	dump_registers(vcpu);
	dump_segments(&vmcb->save);
}
