/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Task switches, which VT-x does not do by itself: SDM volume 3A, 8.3 and volume 3C,
 * 26.4.2. 32-bit tasks; the processor has checked the new TSS's type, presence, limit
 * and privilege before it exits. What a kernel needs is here: Linux takes its double
 * faults through a task gate. Anything else is #TS in the guest, as for a bad TSS.
 */
#include "core/cpu.h"
#include "core/exit.h"
#include "mm/guest_memory.h"
#include "vmx/vmx.h"

/* Exit qualification: table 28-2 */
#define SWITCH_SELECTOR(info) ((uint16_t)(info))
#define SWITCH_SOURCE(info)   ((unsigned int)((info) >> 30 & 3))
enum { SWITCH_CALL, SWITCH_IRET, SWITCH_JMP, SWITCH_GATE };

#define SELECTOR_INDEX	   0xfff8u
#define SELECTOR_LDT	   BIT(2)
#define SELECTOR_RPL	   3u
#define DESCRIPTOR_BUSY	   BIT(41)
#define DESCRIPTOR_CODE	   BIT(43)
#define DESCRIPTOR_S	   BIT(44)
#define DESCRIPTOR_PRESENT BIT(47)
#define DESCRIPTOR_G	   BIT(55)
#define ACCESS_ACCESSED	   BIT(0)
#define ACCESS_UNUSABLE	   BIT(16)
#define ACCESS_V86_DATA	   0xf3u
#define RFLAGS_NT	   BIT(14)
#define CR0_TS		   BIT(3)
#define VECTOR_TS	   10u

/* SDM volume 3A, figure 8-2 */
struct tss32 {
	uint32_t link;
	uint32_t stacks[6];
	uint32_t cr3, eip, eflags;
	uint32_t eax, ecx, edx, ebx, esp, ebp, esi, edi;
	uint32_t es, cs, ss, ds, fs, gs, ldt;
	uint16_t trap, io_map;
};

_Static_assert(sizeof(struct tss32) == 104, "SDM volume 3A, figure 8-2");

static struct guest_paging current_paging(void)
{
	return (struct guest_paging){vmread(VMCS_GUEST_CR0), vmread(VMCS_GUEST_CR3),
				     vmread(VMCS_GUEST_CR4), vmread(VMCS_GUEST_EFER)};
}

static uint64_t segment_base(enum vmcs_segment segment)
{
	return vmread(segment_field(VMCS_GUEST_ES_BASE, segment));
}

static uint16_t selector_of(enum vmcs_segment segment)
{
	return (uint16_t)vmread(segment_field(VMCS_GUEST_ES_SELECTOR, segment));
}

/* Linear address of a selector's descriptor, 0 if its table is too short. */
static uint64_t descriptor_address(uint16_t selector)
{
	bool local = selector & SELECTOR_LDT;
	uint64_t base = local ? segment_base(SEGMENT_LDTR) : vmread(VMCS_GUEST_GDTR_BASE);
	uint64_t limit = vmread(local ? segment_field(VMCS_GUEST_ES_LIMIT, SEGMENT_LDTR)
				      : VMCS_GUEST_GDTR_LIMIT);
	uint32_t offset = selector & SELECTOR_INDEX;

	return offset + 7u <= limit ? base + offset : 0;
}

static bool read_descriptor(uint16_t selector, uint64_t *descriptor)
{
	struct guest_paging paging = current_paging();
	uint64_t address = descriptor_address(selector);

	return address && !guest_memory_read(&paging, gva(address), descriptor, 8);
}

static void set_busy(uint16_t selector, bool busy)
{
	struct guest_paging paging = current_paging();
	uint64_t address = descriptor_address(selector), descriptor;

	if (!address || guest_memory_read(&paging, gva(address), &descriptor, 8))
		return;
	descriptor = busy ? descriptor | DESCRIPTOR_BUSY : descriptor & ~DESCRIPTOR_BUSY;
	guest_memory_write(&paging, gva(address), &descriptor, 8);
}

static uint32_t base_in(uint64_t descriptor)
{
	return (uint32_t)(descriptor >> 16 & 0xffffff) | (uint32_t)(descriptor >> 56) << 24;
}

static uint32_t limit_in(uint64_t descriptor)
{
	uint32_t limit = (uint32_t)(descriptor & 0xffff) | (uint32_t)(descriptor >> 32 & 0xf0000);

	return descriptor & DESCRIPTOR_G ? limit << 12 | 0xfff : limit;
}

static void set_segment(enum vmcs_segment segment, uint16_t selector, uint64_t base, uint32_t limit,
			uint64_t access)
{
	vmwrite(segment_field(VMCS_GUEST_ES_SELECTOR, segment), selector);
	vmwrite(segment_field(VMCS_GUEST_ES_BASE, segment), base);
	vmwrite(segment_field(VMCS_GUEST_ES_LIMIT, segment), limit);
	vmwrite(segment_field(VMCS_GUEST_ES_ACCESS, segment), access);
}

/* Bits 55:40 of a descriptor are the access rights, but for the four limit bits. */
static uint64_t access_in(uint64_t descriptor)
{
	return descriptor >> 40 & 0xf0ff;
}

static bool load_segment(enum vmcs_segment segment, uint16_t selector, bool v86)
{
	uint64_t descriptor;

	if (v86) {
		set_segment(segment, selector, (uint64_t)selector << 4, 0xffff, ACCESS_V86_DATA);
		return true;
	}
	if (!(selector & SELECTOR_INDEX)) {
		set_segment(segment, selector, 0, 0, ACCESS_UNUSABLE);
		return segment != SEGMENT_CS && segment != SEGMENT_SS;
	}
	if (!read_descriptor(selector, &descriptor) || !(descriptor & DESCRIPTOR_PRESENT) ||
	    !(descriptor & DESCRIPTOR_S) ||
	    (segment == SEGMENT_CS && !(descriptor & DESCRIPTOR_CODE)))
		return false;
	set_segment(segment, selector, base_in(descriptor), limit_in(descriptor),
		    access_in(descriptor) | ACCESS_ACCESSED);
	return true;
}

static bool load_ldt(uint16_t selector)
{
	uint64_t descriptor;

	if (!(selector & SELECTOR_INDEX)) {
		set_segment(SEGMENT_LDTR, selector, 0, 0, ACCESS_UNUSABLE);
		return true;
	}
	if ((selector & SELECTOR_LDT) || !read_descriptor(selector, &descriptor) ||
	    !(descriptor & DESCRIPTOR_PRESENT))
		return false;
	set_segment(SEGMENT_LDTR, selector, base_in(descriptor), limit_in(descriptor),
		    access_in(descriptor));
	return true;
}

static void save_state(const struct vcpu *vcpu, struct tss32 *tss, uint32_t eip, uint32_t eflags)
{
	tss->eip = eip;
	tss->eflags = eflags;
	tss->eax = (uint32_t)vcpu->regs.rax;
	tss->ecx = (uint32_t)vcpu->regs.rcx;
	tss->edx = (uint32_t)vcpu->regs.rdx;
	tss->ebx = (uint32_t)vcpu->regs.rbx;
	tss->esp = (uint32_t)vmread(VMCS_GUEST_RSP);
	tss->ebp = (uint32_t)vcpu->regs.rbp;
	tss->esi = (uint32_t)vcpu->regs.rsi;
	tss->edi = (uint32_t)vcpu->regs.rdi;
	tss->es = selector_of(SEGMENT_ES);
	tss->cs = selector_of(SEGMENT_CS);
	tss->ss = selector_of(SEGMENT_SS);
	tss->ds = selector_of(SEGMENT_DS);
	tss->fs = selector_of(SEGMENT_FS);
	tss->gs = selector_of(SEGMENT_GS);
}

/* CR3 and the PDPTEs that go with it; 32-bit tasks don't exist in long mode. */
static void load_paging(uint32_t cr3)
{
	if (!(vmread(VMCS_GUEST_CR0) & CR0_PG))
		return;
	vmwrite(VMCS_GUEST_CR3, cr3);
	vmx_load_pdptes(vmread(VMCS_GUEST_CR0), cr3);
}

static bool load_segments(const struct tss32 *tss)
{
	bool v86 = tss->eflags & RFLAGS_VM;

	return load_ldt((uint16_t)tss->ldt) && load_segment(SEGMENT_CS, (uint16_t)tss->cs, v86) &&
	       load_segment(SEGMENT_SS, (uint16_t)tss->ss, v86) &&
	       load_segment(SEGMENT_ES, (uint16_t)tss->es, v86) &&
	       load_segment(SEGMENT_DS, (uint16_t)tss->ds, v86) &&
	       load_segment(SEGMENT_FS, (uint16_t)tss->fs, v86) &&
	       load_segment(SEGMENT_GS, (uint16_t)tss->gs, v86);
}

static void load_registers(struct vcpu *vcpu, const struct tss32 *tss)
{
	vcpu->regs.rax = tss->eax;
	vcpu->regs.rcx = tss->ecx;
	vcpu->regs.rdx = tss->edx;
	vcpu->regs.rbx = tss->ebx;
	vcpu->regs.rbp = tss->ebp;
	vcpu->regs.rsi = tss->esi;
	vcpu->regs.rdi = tss->edi;
	vmwrite(VMCS_GUEST_RSP, tss->esp);
	vmwrite(VMCS_GUEST_RIP, tss->eip);
	vmwrite(VMCS_GUEST_RFLAGS, tss->eflags | RFLAGS_RESERVED);
}

/* An exception through a task gate leaves its error code on the new task's stack. */
static void push_error_code(uint64_t event)
{
	struct guest_paging paging = current_paging();
	uint32_t code = (uint32_t)vmread(VMCS_VECTORING_ERROR_CODE);
	uint64_t esp = (uint32_t)(vmread(VMCS_GUEST_RSP) - sizeof(code));

	if (!(event & INTERRUPTION_VALID) || !(event & INTERRUPTION_ERROR_CODE))
		return;
	vmwrite(VMCS_GUEST_RSP, esp);
	guest_memory_write(&paging, gva(segment_base(SEGMENT_SS) + esp), &code, sizeof(code));
}

/* Where the old task goes on: behind a CALL, JMP, IRET or INT n, at the fault otherwise. */
static uint32_t resume_at(unsigned int source, uint64_t event)
{
	uint64_t type = event & INTERRUPTION_TYPE;
	uint64_t rip = vmread(VMCS_GUEST_RIP);
	bool instruction = source != SWITCH_GATE || type == INTERRUPTION_SOFTWARE ||
			   type == INTERRUPTION_SOFTWARE_EXCEPTION ||
			   type == INTERRUPTION_PRIVILEGED;

	return (uint32_t)(instruction ? rip + vmread(VMCS_EXIT_INSTRUCTION_LENGTH) : rip);
}

static bool leave_old_task(struct vcpu *vcpu, unsigned int source, uint64_t event)
{
	struct guest_paging paging = current_paging();
	gva_t address = gva(segment_base(SEGMENT_TR));
	uint32_t eflags = (uint32_t)vmread(VMCS_GUEST_RFLAGS);
	struct tss32 tss;

	if (guest_memory_read(&paging, address, &tss, sizeof(tss)))
		return false;
	save_state(vcpu, &tss, resume_at(source, event),
		   source == SWITCH_IRET ? eflags & ~(uint32_t)RFLAGS_NT : eflags);
	if (guest_memory_write(&paging, address, &tss, sizeof(tss)))
		return false;
	if (source == SWITCH_IRET || source == SWITCH_JMP)
		set_busy(selector_of(SEGMENT_TR), false);
	return true;
}

static bool enter_new_task(struct vcpu *vcpu, unsigned int source, uint16_t selector,
			   uint64_t event)
{
	struct guest_paging paging = current_paging();
	bool nested = source == SWITCH_CALL || source == SWITCH_GATE;
	uint64_t descriptor;
	struct tss32 tss;
	uint32_t link = selector_of(SEGMENT_TR);

	if (!read_descriptor(selector, &descriptor) ||
	    guest_memory_read(&paging, gva(base_in(descriptor)), &tss, sizeof(tss)))
		return false;
	if (nested) {
		tss.eflags |= RFLAGS_NT;
		guest_memory_write(&paging, gva(base_in(descriptor)), &link, sizeof(link));
	}
	if (source != SWITCH_IRET)
		set_busy(selector, true);
	set_segment(SEGMENT_TR, selector, base_in(descriptor), limit_in(descriptor),
		    access_in(descriptor | DESCRIPTOR_BUSY));
	vmwrite(VMCS_GUEST_CR0, vmread(VMCS_GUEST_CR0) | CR0_TS);
	load_paging(tss.cr3);
	load_registers(vcpu, &tss);
	if (!load_segments(&tss))
		return false;
	push_error_code(event);
	return true;
}

void vmx_task_switch_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);
	uint64_t event = vmread(VMCS_VECTORING_INFO);
	uint16_t selector = SWITCH_SELECTOR(info);
	unsigned int source = SWITCH_SOURCE(info);

	vmwrite(VMCS_ENTRY_INTERRUPTION, 0); /* the switch delivers the event */
	if (source != SWITCH_GATE)
		event = 0;
	if (!leave_old_task(vcpu, source, event) || !enter_new_task(vcpu, source, selector, event))
		vmx_inject_exception(vcpu, VECTOR_TS, selector & ~SELECTOR_RPL);
}
