/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Task switches, which VT-x does not do by itself: SDM volume 3A, 8.3 and volume 3C,
 * 26.4.2. 32-bit tasks; the processor has checked the new TSS's type, presence, limit
 * and privilege before it exits. What a kernel needs is here: Linux takes its double
 * faults through a task gate. Anything else is #TS in the guest, as for a bad TSS.
 *
 * First all of the new task is read and checked, then nothing can fail any more: the guest
 * never is in a state that VT-x would not enter. So #TS comes in the old task's context,
 * where the processor would raise it for a bad segment in the new one's.
 */
#include "core/cpu.h"
#include "core/exit.h"
#include "mm/guest_memory.h"
#include "vmx/vmx.h"

/* Exit qualification: table 28-2 */
#define SWITCH_SELECTOR(info) ((uint16_t)(info))
#define SWITCH_SOURCE(info)   ((unsigned int)((info) >> 30 & 3))
enum { SWITCH_CALL, SWITCH_IRET, SWITCH_JMP, SWITCH_GATE };

#define SELECTOR_INDEX	  0xfff8u
#define SELECTOR_NOT_NULL 0xfffcu
#define SELECTOR_LDT	  BIT(2)
#define SELECTOR_RPL	  3u
#define DESCRIPTOR_BUSY	  BIT(41)
#define DESCRIPTOR_G	  BIT(55)
#define TSS32_TYPES	  0x9du /* of the access byte: P, S, the type less "busy" */
#define TSS32_AVAILABLE	  0x89u
#define LDT_TYPES	  0x9fu
#define ACCESS_ACCESSED	  BIT(0)
#define ACCESS_WRITABLE	  BIT(1) /* data; of code: readable */
#define ACCESS_CONFORMING BIT(2)
#define ACCESS_CODE	  BIT(3)
#define ACCESS_S	  BIT(4)
#define ACCESS_PRESENT	  BIT(7)
#define ACCESS_BIG	  BIT(14)
#define ACCESS_UNUSABLE	  BIT(16)
#define ACCESS_V86_DATA	  0xf3u
#define RFLAGS_NT	  BIT(14)
#define RFLAGS_DEFINED	  0x3f7fd5u
#define DR7_LOCAL	  0x155ull /* L0 to L3 and LE end with the task */
#define CR0_TS		  BIT(3)
#define VECTOR_TS	  10u

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

struct segment {
	uint16_t selector;
	uint32_t base, limit;
	uint64_t access;
};

/* A task as its TSS describes it, read and checked. */
struct task {
	uint16_t selector;
	uint64_t descriptor; /* of the TSS */
	struct tss32 tss;
	struct guest_paging paging;
	struct segment segments[SEGMENT_TR]; /* ES to LDTR */
};

static struct guest_paging current_paging(void)
{
	return (struct guest_paging){vmread(VMCS_GUEST_CR0), vmread(VMCS_GUEST_CR3),
				     vmread(VMCS_GUEST_CR4), vmread(VMCS_GUEST_EFER)};
}

static uint64_t read_field(enum vmcs_field of_es, enum vmcs_segment segment)
{
	return vmread(segment_field(of_es, segment));
}

static uint16_t selector_of(enum vmcs_segment segment)
{
	return (uint16_t)read_field(VMCS_GUEST_ES_SELECTOR, segment);
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

/* Bits 55:40 of a descriptor are the access rights, but for the four limit bits. */
static uint64_t access_in(uint64_t descriptor)
{
	return descriptor >> 40 & 0xf0ff;
}

static struct segment segment_in(uint64_t descriptor, uint16_t selector)
{
	return (struct segment){selector, base_in(descriptor), limit_in(descriptor),
				access_in(descriptor)};
}

/* A selector's descriptor in the GDT, or in the LDT if its TI bit says so. */
static bool find_descriptor(const struct segment *ldt, uint16_t selector, gva_t *address)
{
	bool local = selector & SELECTOR_LDT;
	uint64_t base = local ? ldt->base : vmread(VMCS_GUEST_GDTR_BASE);
	uint64_t limit = local ? ldt->limit : vmread(VMCS_GUEST_GDTR_LIMIT);
	uint32_t offset = selector & SELECTOR_INDEX;

	*address = gva(base + offset);
	return offset + 7u <= limit;
}

static bool read_descriptor(const struct guest_paging *paging, const struct segment *ldt,
			    uint16_t selector, uint64_t *descriptor)
{
	gva_t address;

	return find_descriptor(ldt, selector, &address) &&
	       !guest_memory_read(paging, address, descriptor, sizeof(*descriptor));
}

/* The TSS of a selector of the GDT: what the processor has found good or set itself. */
static void set_busy(const struct guest_paging *paging, uint16_t selector, bool busy)
{
	uint64_t descriptor;
	gva_t address;

	if (!find_descriptor(NULL, selector & (uint16_t)~SELECTOR_LDT, &address) ||
	    guest_memory_read(paging, address, &descriptor, sizeof(descriptor)))
		return;
	descriptor = busy ? descriptor | DESCRIPTOR_BUSY : descriptor & ~DESCRIPTOR_BUSY;
	guest_memory_write(paging, address, &descriptor, sizeof(descriptor));
}

/* ---- what the new task is: SDM volume 3A, table 8-1 ---- */

static bool is_null(uint16_t selector)
{
	return !(selector & SELECTOR_NOT_NULL);
}

static bool is_good_code(uint64_t access, unsigned int cpl)
{
	if (!(access & ACCESS_CODE))
		return false;
	return access & ACCESS_CONFORMING ? ACCESS_DPL(access) <= cpl : ACCESS_DPL(access) == cpl;
}

static bool is_good_stack(const struct segment *ss, unsigned int cpl)
{
	return !(ss->access & ACCESS_CODE) && (ss->access & ACCESS_WRITABLE) &&
	       ACCESS_DPL(ss->access) == cpl && (ss->selector & SELECTOR_RPL) == cpl;
}

static bool is_good_data(const struct segment *data, unsigned int cpl)
{
	unsigned int rpl = data->selector & SELECTOR_RPL;

	if ((data->access & ACCESS_CODE) && !(data->access & ACCESS_WRITABLE))
		return false;
	if ((data->access & ACCESS_CODE) && (data->access & ACCESS_CONFORMING))
		return true;
	return ACCESS_DPL(data->access) >= cpl && ACCESS_DPL(data->access) >= rpl;
}

static bool is_good(enum vmcs_segment which, const struct segment *segment, unsigned int cpl)
{
	if (!(segment->access & ACCESS_S) || !(segment->access & ACCESS_PRESENT))
		return false;
	if (which == SEGMENT_CS)
		return is_good_code(segment->access, cpl);
	if (which == SEGMENT_SS)
		return is_good_stack(segment, cpl);
	return is_good_data(segment, cpl);
}

static bool read_segment(struct task *task, enum vmcs_segment which, uint32_t selector)
{
	struct segment *segment = &task->segments[which];
	unsigned int cpl = task->tss.cs & SELECTOR_RPL;
	uint64_t descriptor;

	*segment = (struct segment){(uint16_t)selector, 0, 0, ACCESS_UNUSABLE};
	if (task->tss.eflags & RFLAGS_VM) {
		*segment = (struct segment){(uint16_t)selector, (selector & UINT16_MAX) << 4,
					    UINT16_MAX, ACCESS_V86_DATA};
		return true;
	}
	if (is_null((uint16_t)selector))
		return which != SEGMENT_CS && which != SEGMENT_SS;
	if (!read_descriptor(&task->paging, &task->segments[SEGMENT_LDTR], (uint16_t)selector,
			     &descriptor))
		return false;
	*segment = segment_in(descriptor, (uint16_t)selector);
	segment->access |= ACCESS_ACCESSED;
	return is_good(which, segment, cpl);
}

static bool read_ldt(struct task *task)
{
	uint16_t selector = (uint16_t)task->tss.ldt;
	struct segment *ldt = &task->segments[SEGMENT_LDTR];
	uint64_t descriptor;

	*ldt = (struct segment){selector, 0, 0, ACCESS_UNUSABLE};
	if (is_null(selector))
		return true;
	if ((selector & SELECTOR_LDT) ||
	    !read_descriptor(&task->paging, NULL, selector, &descriptor))
		return false;
	*ldt = segment_in(descriptor, selector);
	return (ldt->access & LDT_TYPES) == ACCESS_LDT;
}

static bool read_segments(struct task *task)
{
	const struct tss32 *tss = &task->tss;

	return read_ldt(task) && read_segment(task, SEGMENT_CS, tss->cs) &&
	       read_segment(task, SEGMENT_SS, tss->ss) && read_segment(task, SEGMENT_ES, tss->es) &&
	       read_segment(task, SEGMENT_DS, tss->ds) && read_segment(task, SEGMENT_FS, tss->fs) &&
	       read_segment(task, SEGMENT_GS, tss->gs);
}

static bool is_tss32(uint64_t descriptor)
{
	return (access_in(descriptor) & TSS32_TYPES) == TSS32_AVAILABLE &&
	       limit_in(descriptor) >= sizeof(struct tss32) - 1;
}

/* The TSS and its descriptor are where the old task's CR3 says, all else where the new one's. */
static bool read_new_task(struct task *task, uint16_t selector)
{
	task->selector = selector;
	task->paging = current_paging();
	if ((selector & SELECTOR_LDT) ||
	    !read_descriptor(&task->paging, NULL, selector, &task->descriptor) ||
	    !is_tss32(task->descriptor) ||
	    guest_memory_read(&task->paging, gva(base_in(task->descriptor)), &task->tss,
			      sizeof(task->tss)))
		return false;
	if (task->paging.cr0 & CR0_PG)
		task->paging.cr3 = task->tss.cr3;
	return read_segments(task);
}

static bool read_old_tss(struct tss32 *tss)
{
	struct guest_paging paging = current_paging();

	return ACCESS_IS_32BIT_TSS(read_field(VMCS_GUEST_ES_ACCESS, SEGMENT_TR)) &&
	       !guest_memory_read(&paging, gva(read_field(VMCS_GUEST_ES_BASE, SEGMENT_TR)), tss,
				  sizeof(*tss));
}

/* ---- the switch ---- */

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
	vmwrite(VMCS_GUEST_RFLAGS, (tss->eflags & RFLAGS_DEFINED) | RFLAGS_RESERVED);
}

static void leave_old_task(struct vcpu *vcpu, struct tss32 *tss, unsigned int source,
			   uint64_t event)
{
	struct guest_paging paging = current_paging();
	uint32_t eflags = (uint32_t)vmread(VMCS_GUEST_RFLAGS);

	save_state(vcpu, tss, resume_at(source, event),
		   source == SWITCH_IRET ? eflags & ~(uint32_t)RFLAGS_NT : eflags);
	guest_memory_write(&paging, gva(read_field(VMCS_GUEST_ES_BASE, SEGMENT_TR)), tss,
			   sizeof(*tss));
	if (source == SWITCH_IRET || source == SWITCH_JMP)
		set_busy(&paging, selector_of(SEGMENT_TR), false);
}

static void mark_new_task(struct task *task, unsigned int source)
{
	struct guest_paging paging = current_paging();
	uint16_t link = selector_of(SEGMENT_TR);

	if (source == SWITCH_CALL || source == SWITCH_GATE) {
		task->tss.eflags |= RFLAGS_NT;
		guest_memory_write(&paging, gva(base_in(task->descriptor)), &link, sizeof(link));
	}
	if (source != SWITCH_IRET)
		set_busy(&paging, task->selector, true);
}

static void load_segment(enum vmcs_segment which, const struct segment *segment)
{
	vmwrite(segment_field(VMCS_GUEST_ES_SELECTOR, which), segment->selector);
	vmwrite(segment_field(VMCS_GUEST_ES_BASE, which), segment->base);
	vmwrite(segment_field(VMCS_GUEST_ES_LIMIT, which), segment->limit);
	vmwrite(segment_field(VMCS_GUEST_ES_ACCESS, which), segment->access);
}

static void load_segments(const struct task *task)
{
	struct segment tr = segment_in(task->descriptor | DESCRIPTOR_BUSY, task->selector);

	for (enum vmcs_segment which = SEGMENT_ES; which < SEGMENT_TR; which++)
		load_segment(which, &task->segments[which]);
	load_segment(SEGMENT_TR, &tr);
}

/* As MOV to CR3 does; no entry drops translations by itself. */
static void load_paging(uint64_t cr3)
{
	vmwrite(VMCS_GUEST_CR3, cr3);
	if (vmread(VMCS_GUEST_CR0) & CR0_PG)
		vmx_flush();
}

/*
 * The switch ends what STI or MOV SS blocked, also because the new task may have IF clear
 * (27.3.1.5). An NMI through a task gate blocks NMIs, and IRET unblocks them.
 */
static void load_interruptibility(unsigned int source, uint64_t event)
{
	uint64_t blocking = vmread(VMCS_GUEST_INTERRUPTIBILITY) & ~(BLOCKING_STI | BLOCKING_MOV_SS);

	if (source == SWITCH_IRET)
		blocking &= ~BLOCKING_NMI;
	if (event && (event & INTERRUPTION_TYPE) == INTERRUPTION_NMI)
		blocking |= BLOCKING_NMI;
	vmwrite(VMCS_GUEST_INTERRUPTIBILITY, blocking);
}

/* An exception through a task gate leaves its error code on the new task's stack. */
static void push_error_code(const struct task *task, uint64_t event)
{
	const struct segment *ss = &task->segments[SEGMENT_SS];
	uint32_t code = (uint32_t)vmread(VMCS_VECTORING_ERROR_CODE);
	uint32_t mask = ss->access & ACCESS_BIG ? UINT32_MAX : UINT16_MAX;
	uint32_t esp = task->tss.esp;

	if (!(event & INTERRUPTION_VALID) || !(event & INTERRUPTION_ERROR_CODE))
		return;
	esp = (esp & ~mask) | ((esp - (uint32_t)sizeof(code)) & mask);
	vmwrite(VMCS_GUEST_RSP, esp);
	guest_memory_write(&task->paging, gva((uint32_t)(ss->base + (esp & mask))), &code,
			   sizeof(code));
}

static void enter_new_task(struct vcpu *vcpu, const struct task *task, unsigned int source,
			   uint64_t event)
{
	load_segments(task);
	vmwrite(VMCS_GUEST_CR0, vmread(VMCS_GUEST_CR0) | CR0_TS);
	vmwrite(VMCS_GUEST_DR7, vmread(VMCS_GUEST_DR7) & ~DR7_LOCAL);
	load_paging(task->paging.cr3);
	load_registers(vcpu, &task->tss);
	load_interruptibility(source, event);
	push_error_code(task, event);
}

void vmx_task_switch_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);
	unsigned int source = SWITCH_SOURCE(info);
	uint64_t event = source == SWITCH_GATE ? vmread(VMCS_VECTORING_INFO) : 0;
	struct tss32 old;
	struct task task;

	if (!read_old_tss(&old) || !read_new_task(&task, SWITCH_SELECTOR(info)) ||
	    !vmx_load_pdptes(task.paging.cr0, task.paging.cr3)) {
		vmx_inject_exception(vcpu, VECTOR_TS, SWITCH_SELECTOR(info) & ~SELECTOR_RPL);
		return;
	}
	vmwrite(VMCS_ENTRY_INTERRUPTION, 0); /* the switch delivers the event */
	leave_old_task(vcpu, &old, source, event);
	mark_new_task(&task, source);
	enter_new_task(vcpu, &task, source, event);
}
