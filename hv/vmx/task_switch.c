/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Task switches, which VT-x does not do by itself: SDM volume 3A, 8.3 and volume 3C,
 * 26.4.2. 32-bit tasks; the processor has checked the new TSS's type, presence, limit
 * and privilege before it exits. What a kernel needs is here: Linux takes its double
 * faults through a task gate. Anything else is #TS in the guest, as for a bad TSS.
 *
 * First all of the new task is read and checked, then only the push of an error code can
 * fail: the guest never is in a state that VT-x would not enter. So an exception for a bad
 * segment comes in the old task's context, where the processor would raise it in the new
 * one's.
 */
#include "core/cpu.h"
#include "core/descriptor.h"
#include "core/exit.h"
#include "core/paging.h"
#include "mm/guest_memory.h"
#include "vmx/segment.h"
#include "vmx/vmx.h"

/* Exit qualification: table 28-2 */
#define SWITCH_SELECTOR(info) ((uint16_t)(info))
#define SWITCH_SOURCE(info)   ((unsigned int)((info) >> 30 & 3))
enum { SWITCH_CALL, SWITCH_IRET, SWITCH_JMP, SWITCH_GATE };

#define SELECTOR_INDEX	    0xfff8u
#define SELECTOR_NOT_NULL   0xfffcu
#define SELECTOR_LDT	    BIT(2)
#define SELECTOR_RPL	    3u
#define DESCRIPTOR_ACCESSED BIT(40)
#define DESCRIPTOR_BUSY	    BIT(41)
#define TSS32_TYPES	    0x9du /* of the access byte: P, S, the type less "busy" */
#define TSS32_AVAILABLE	    0x89u
#define LDT_TYPES	    0x9fu
#define ACCESS_ACCESSED	    BIT(0)
#define ACCESS_WRITABLE	    BIT(1) /* data; of code: readable */
#define ACCESS_CONFORMING   BIT(2)
#define ACCESS_EXPANDS_DOWN BIT(2) /* of data */
#define ACCESS_CODE	    BIT(3)
#define ACCESS_S	    BIT(4)
#define ACCESS_PRESENT	    BIT(7)
#define ACCESS_BIG	    BIT(14)
#define ACCESS_V86_DATA	    0xf3u
#define RFLAGS_NT	    BIT(14)
#define RFLAGS_DEFINED	    0x3f7fd5u
#define TSS_TRAP	    BIT(0)
#define OLD_TSS_LIMIT	    0x5fu  /* the last byte that a switch saves, of GS */
#define ERROR_EXTERNAL	    BIT(0) /* SDM volume 3A, 6.13 */
#define PF_WRITE	    BIT(1)
#define PF_USER		    BIT(2)
#define DR7_LOCAL	    0x155ull /* L0 to L3 and LE end with the task */
#define CR0_TS		    BIT(3)

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

/* An exception with a selector for its error code, 0 for none. */
struct fault {
	unsigned int vector;
	uint16_t selector;
};

/* A task as its TSS describes it, read and checked. */
struct task {
	uint16_t selector;
	uint64_t descriptor; /* of the TSS */
	struct tss32 tss;
	struct guest_paging paging;
	struct guest_segment segments[SEGMENT_TR]; /* ES to LDTR */
	struct fault fault;			   /* why it is no good */
};

static uint64_t read_field(enum vmcs_field of_es, enum vmcs_segment segment)
{
	return vmread(segment_field(of_es, segment));
}

static uint16_t selector_of(enum vmcs_segment segment)
{
	return (uint16_t)read_field(VMCS_GUEST_ES_SELECTOR, segment);
}

/* A selector's descriptor in the GDT, or in the LDT if its TI bit says so. */
static bool find_descriptor(const struct guest_segment *ldt, uint16_t selector, gva_t *address)
{
	bool local = selector & SELECTOR_LDT;
	uint64_t base = local ? ldt->base : vmread(VMCS_GUEST_GDTR_BASE);
	uint64_t limit = local ? ldt->limit : vmread(VMCS_GUEST_GDTR_LIMIT);
	uint32_t offset = selector & SELECTOR_INDEX;

	*address = gva(base + offset);
	return offset + 7u <= limit;
}

static bool read_descriptor(const struct guest_paging *paging, const struct guest_segment *ldt,
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

static bool is_good_stack(const struct guest_segment *ss, unsigned int cpl)
{
	return !(ss->access & ACCESS_CODE) && (ss->access & ACCESS_WRITABLE) &&
	       ACCESS_DPL(ss->access) == cpl && (ss->selector & SELECTOR_RPL) == cpl;
}

static bool is_good_data(const struct guest_segment *data, unsigned int cpl)
{
	unsigned int rpl = data->selector & SELECTOR_RPL;

	if ((data->access & ACCESS_CODE) && !(data->access & ACCESS_WRITABLE))
		return false;
	if ((data->access & ACCESS_CODE) && (data->access & ACCESS_CONFORMING))
		return true;
	return ACCESS_DPL(data->access) >= cpl && ACCESS_DPL(data->access) >= rpl;
}

static bool is_good(enum vmcs_segment which, const struct guest_segment *segment, unsigned int cpl)
{
	if (!(segment->access & ACCESS_S))
		return false;
	if (which == SEGMENT_CS)
		return is_good_code(segment->access, cpl);
	if (which == SEGMENT_SS)
		return is_good_stack(segment, cpl);
	return is_good_data(segment, cpl);
}

static bool refuse(struct task *task, unsigned int vector, uint16_t selector)
{
	task->fault = (struct fault){vector, selector};
	return false;
}

static bool check_segment(struct task *task, enum vmcs_segment which)
{
	const struct guest_segment *segment = &task->segments[which];

	if (!is_good(which, segment, task->tss.cs & SELECTOR_RPL))
		return refuse(task, VECTOR_TS, segment->selector);
	if (!(segment->access & ACCESS_PRESENT))
		return refuse(task, which == SEGMENT_SS ? VECTOR_SS : VECTOR_NP, segment->selector);
	return true;
}

static bool read_segment(struct task *task, enum vmcs_segment which, uint32_t selector)
{
	struct guest_segment *segment = &task->segments[which];
	uint64_t descriptor;

	*segment = (struct guest_segment){.selector = (uint16_t)selector};
	if (task->tss.eflags & RFLAGS_VM) {
		*segment = (struct guest_segment){(uint16_t)selector, ACCESS_V86_DATA, UINT16_MAX,
						  (selector & UINT16_MAX) << 4};
		return true;
	}
	if (is_null((uint16_t)selector) && which != SEGMENT_CS && which != SEGMENT_SS)
		return true;
	if (is_null((uint16_t)selector) ||
	    !read_descriptor(&task->paging, &task->segments[SEGMENT_LDTR], (uint16_t)selector,
			     &descriptor))
		return refuse(task, VECTOR_TS, (uint16_t)selector);
	*segment = segment_in(descriptor, (uint16_t)selector);
	return check_segment(task, which);
}

static bool read_ldt(struct task *task)
{
	uint16_t selector = (uint16_t)task->tss.ldt;
	struct guest_segment *ldt = &task->segments[SEGMENT_LDTR];
	uint64_t descriptor;

	*ldt = (struct guest_segment){.selector = selector};
	if (is_null(selector))
		return true;
	if ((selector & SELECTOR_LDT) ||
	    !read_descriptor(&task->paging, NULL, selector, &descriptor))
		return refuse(task, VECTOR_TS, selector);
	*ldt = segment_in(descriptor, selector);
	return (ldt->access & LDT_TYPES) == ACCESS_LDT || refuse(task, VECTOR_TS, selector);
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
	return (descriptor_access(descriptor) & TSS32_TYPES) == TSS32_AVAILABLE &&
	       descriptor_limit(descriptor) >= sizeof(struct tss32) - 1;
}

/* The TSS and its descriptor are where the old task's CR3 says, all else where the new one's. */
static bool read_new_task(const struct vcpu *vcpu, struct task *task, uint16_t selector)
{
	task->selector = selector;
	task->paging = vmx_guest_paging(vcpu);
	if ((selector & SELECTOR_LDT) ||
	    !read_descriptor(&task->paging, NULL, selector, &task->descriptor) ||
	    !is_tss32(task->descriptor) ||
	    guest_memory_read(&task->paging, gva(descriptor_base(task->descriptor)), &task->tss,
			      sizeof(task->tss)))
		return refuse(task, VECTOR_TS, selector);
	if (task->paging.cr0 & CR0_PG)
		task->paging.cr3 = task->tss.cr3;
	return read_segments(task);
}

static bool read_old_tss(const struct vcpu *vcpu, struct tss32 *tss)
{
	struct guest_paging paging = vmx_guest_paging(vcpu);

	return ACCESS_IS_32BIT_TSS(read_field(VMCS_GUEST_ES_ACCESS, SEGMENT_TR)) &&
	       read_field(VMCS_GUEST_ES_LIMIT, SEGMENT_TR) >= OLD_TSS_LIMIT &&
	       !guest_memory_read(&paging, gva(read_field(VMCS_GUEST_ES_BASE, SEGMENT_TR)), tss,
				  OLD_TSS_LIMIT + 1);
}

static bool load_pdptes(struct vcpu *vcpu, const struct guest_paging *paging)
{
	return vcpu->shadow ? paging_load_pdptes(vcpu, paging)
			    : vmx_load_pdptes(paging->cr0, paging->cr3);
}

/* All that can be wrong with a switch: SDM volume 3A, table 8-1; 4.4.1 for the PDPTEs. */
static bool read_tasks(struct vcpu *vcpu, struct tss32 *old, struct task *task, uint16_t selector)
{
	if (!read_old_tss(vcpu, old))
		return refuse(task, VECTOR_TS, selector);
	if (!read_new_task(vcpu, task, selector))
		return false;
	return load_pdptes(vcpu, &task->paging) || refuse(task, VECTOR_GP, 0);
}

/* True if the event is none of the program's own INT n, INT3 and INTO (6.13). */
static bool is_external(uint64_t event)
{
	uint64_t type = event & INTERRUPTION_TYPE;

	return (event & INTERRUPTION_VALID) && type != INTERRUPTION_SOFTWARE &&
	       type != INTERRUPTION_SOFTWARE_EXCEPTION;
}

static int error_code_for(uint16_t selector, uint64_t event)
{
	return (int)((selector & ~SELECTOR_RPL) | (is_external(event) ? ERROR_EXTERNAL : 0));
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
	struct guest_paging paging = vmx_guest_paging(vcpu);
	uint32_t eflags = (uint32_t)vmread(VMCS_GUEST_RFLAGS);

	save_state(vcpu, tss, resume_at(source, event),
		   source == SWITCH_IRET ? eflags & ~(uint32_t)RFLAGS_NT : eflags);
	guest_memory_write(&paging, gva(read_field(VMCS_GUEST_ES_BASE, SEGMENT_TR)), tss,
			   OLD_TSS_LIMIT + 1);
	if (source == SWITCH_IRET || source == SWITCH_JMP)
		set_busy(&paging, selector_of(SEGMENT_TR), false);
}

static void mark_new_task(const struct vcpu *vcpu, struct task *task, unsigned int source)
{
	struct guest_paging paging = vmx_guest_paging(vcpu);
	uint16_t link = selector_of(SEGMENT_TR);

	if (source == SWITCH_CALL || source == SWITCH_GATE) {
		task->tss.eflags |= RFLAGS_NT;
		guest_memory_write(&paging, gva(descriptor_base(task->descriptor)), &link,
				   sizeof(link));
	}
	if (source != SWITCH_IRET)
		set_busy(&paging, task->selector, true);
}

/* The processor marks a descriptor in memory as it loads it; then so is what it has loaded. */
static void mark_accessed(const struct task *task, struct guest_segment *segment)
{
	uint64_t descriptor;
	gva_t address;

	if (!segment->access || (segment->access & ACCESS_ACCESSED))
		return;
	segment->access |= ACCESS_ACCESSED;
	if (!find_descriptor(&task->segments[SEGMENT_LDTR], segment->selector, &address) ||
	    guest_memory_read(&task->paging, address, &descriptor, sizeof(descriptor)))
		return;
	descriptor |= DESCRIPTOR_ACCESSED;
	guest_memory_write(&task->paging, address, &descriptor, sizeof(descriptor));
}

static void load_segments(struct task *task)
{
	struct guest_segment tr = segment_in(task->descriptor | DESCRIPTOR_BUSY, task->selector);

	for (enum vmcs_segment which = SEGMENT_ES; which <= SEGMENT_GS; which++)
		mark_accessed(task, &task->segments[which]);
	for (enum vmcs_segment which = SEGMENT_ES; which < SEGMENT_TR; which++)
		vmx_set_segment(which, &task->segments[which]);
	vmx_set_segment(SEGMENT_TR, &tr);
}

/* As MOV to CR3 does; no entry drops translations by itself. */
static void load_paging(struct vcpu *vcpu, const struct guest_paging *paging)
{
	if (vcpu->shadow) {
		paging_load(vcpu, paging);
		return;
	}
	vmwrite(VMCS_GUEST_CR3, paging->cr3);
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

static bool is_within(const struct guest_segment *segment, uint32_t offset, uint32_t size)
{
	uint32_t last = offset + size - 1;
	uint32_t top = segment->access & ACCESS_BIG ? UINT32_MAX : UINT16_MAX;

	if (last < offset)
		return false;
	if (segment->access & ACCESS_EXPANDS_DOWN)
		return offset > segment->limit && last <= top;
	return last <= segment->limit;
}

/* What goes wrong in an event's delivery combines with it: it is the event of this entry again. */
static void fail_delivery(struct vcpu *vcpu, uint64_t event, unsigned int vector, int error_code)
{
	vmwrite(VMCS_ENTRY_INTERRUPTION, event & INTERRUPTION_EVENT);
	vmx_inject_exception(vcpu, vector, error_code);
}

static void fail_stack_page(struct vcpu *vcpu, const struct task *task, uint64_t event,
			    uint32_t address)
{
	bool user = task->tss.eflags & RFLAGS_VM || task->tss.cs & SELECTOR_RPL;

	write_cr2(address);
	fail_delivery(vcpu, event, VECTOR_PF, (int)(PF_WRITE | (user ? PF_USER : 0)));
}

/* An exception through a task gate leaves its error code on the new task's stack. */
static bool push_error_code(struct vcpu *vcpu, const struct task *task, uint64_t event)
{
	const struct guest_segment *ss = &task->segments[SEGMENT_SS];
	uint32_t code = (uint32_t)vmread(VMCS_VECTORING_ERROR_CODE);
	uint32_t mask = ss->access & ACCESS_BIG ? UINT32_MAX : UINT16_MAX;
	uint32_t esp = (task->tss.esp - (uint32_t)sizeof(code)) & mask, address = ss->base + esp;

	if (!(event & INTERRUPTION_VALID) || !(event & INTERRUPTION_ERROR_CODE))
		return true;
	if (!is_within(ss, esp, sizeof(code))) {
		fail_delivery(vcpu, event, VECTOR_SS, ERROR_EXTERNAL);
		return false;
	}
	if (guest_memory_write(&task->paging, gva(address), &code, sizeof(code))) {
		fail_stack_page(vcpu, task, event, address);
		return false;
	}
	vmwrite(VMCS_GUEST_RSP, (task->tss.esp & ~mask) | esp);
	return true;
}

/* The T bit of the new TSS: #DB before the task's first instruction (SDM volume 3B, 18.3.1.5). */
static void trap_task(struct vcpu *vcpu)
{
	write_dr6(read_dr6() | DR6_BT);
	vmwrite(VMCS_GUEST_DR7, vmread(VMCS_GUEST_DR7) & ~DR7_GD);
	vmx_inject_exception(vcpu, VECTOR_DB, NO_ERROR_CODE);
}

static void enter_new_task(struct vcpu *vcpu, struct task *task, unsigned int source,
			   uint64_t event)
{
	load_segments(task);
	load_paging(vcpu, &task->paging);
	vmwrite(VMCS_GUEST_CR0, vmread(VMCS_GUEST_CR0) | CR0_TS);
	vmwrite(VMCS_GUEST_DR7, vmread(VMCS_GUEST_DR7) & ~DR7_LOCAL);
	load_registers(vcpu, &task->tss);
	load_interruptibility(source, event);
	if (push_error_code(vcpu, task, event) && (task->tss.trap & TSS_TRAP))
		trap_task(vcpu);
}

void vmx_task_switch_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);
	unsigned int source = SWITCH_SOURCE(info);
	uint64_t event = source == SWITCH_GATE ? vmread(VMCS_VECTORING_INFO) : 0;
	struct tss32 old;
	struct task task;

	if (!read_tasks(vcpu, &old, &task, SWITCH_SELECTOR(info))) {
		vmx_inject_exception(vcpu, task.fault.vector,
				     error_code_for(task.fault.selector, event));
		return;
	}
	vmwrite(VMCS_ENTRY_INTERRUPTION, 0); /* the switch delivers the event */
	leave_old_task(vcpu, &old, source, event);
	mark_new_task(vcpu, &task, source);
	enter_new_task(vcpu, &task, source, event);
}
