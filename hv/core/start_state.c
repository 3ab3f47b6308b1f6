/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/start_state.h"
#include "core/cpu.h"
#include "core/vcpu.h"
#include "guest/guest_image.h"
#include "lib/errno.h"
#include "mm/guest_memory.h"
#include "vmi/vmi.h"

/* Access rights: type, S, DPL, P; then AVL, L, D/B, G in bits 12 to 15 */
#define ACCESS_CODE16 0x009b
#define ACCESS_DATA16 0x0093
#define ACCESS_CODE32 0xc09b
#define ACCESS_DATA32 0xc093
#define ACCESS_LDT    0x0082
#define ACCESS_TSS    0x008b /* busy, 32 bits */

#define ACCESS_ACCESSED BIT(0)
#define ACCESS_WRITABLE BIT(1) /* of code: readable */
#define ACCESS_CODE	BIT(3)
#define ACCESS_S	BIT(4)
#define ACCESS_TYPE	0x9fu /* P, S and the type */
#define ACCESS_DPL	(3u << 5)
#define ACCESS_PRESENT	BIT(7)
#define ACCESS_LONG	BIT(13)

#define SELECTOR_INDEX 0xfff8u
#define SELECTOR_LOCAL BIT(2)
#define SELECTOR_RPL   3u

#define CR0_DEFINED    0xe005003fu
#define CR4_NOT_32BIT  (CR4_VMXE | CR4_SMXE | CR4_FRED | CR4_PCIDE | CR4_LA57 | CR4_CET)
#define RFLAGS_DEFINED 0x003d7fd5u /* less VM */

static struct guest_segment flat(uint16_t selector, uint16_t access, uint32_t limit)
{
	return (struct guest_segment){selector, access, limit, 0};
}

struct start_state start_state_kernel(struct vcpu *vcpu, const struct guest_entry *entry)
{
	struct guest_segment data = flat(entry->data_selector, ACCESS_DATA32, UINT32_MAX);

	vcpu->regs = (struct guest_registers){
		.rax = entry->eax,
		.rbx = entry->ebx,
		.rsi = entry->esi,
	};
	return (struct start_state){
		.cr0 = CR0_PE | CR0_ET,
		.rip = entry->eip,
		.rflags = RFLAGS_RESERVED,
		.cs = flat(entry->code_selector, ACCESS_CODE32, UINT32_MAX),
		.ds = data,
		.es = data,
		.ss = data,
		.fs = data,
		.gs = data,
		.ldtr = flat(0, ACCESS_LDT, UINT16_MAX),
		.tr = flat(0, ACCESS_TSS, UINT16_MAX),
		.gdtr = {.base = entry->gdt_base, .limit = entry->gdt_limit},
	};
}

struct start_state start_state_startup(struct vcpu *vcpu, uint8_t page)
{
	struct guest_segment data = flat(0, ACCESS_DATA16, UINT16_MAX);

	/* INIT leaves the processor's family, model and stepping in EDX. */
	vcpu->regs = (struct guest_registers){.rdx = cpuid(CPUID_FEATURES, 0).eax};
	return (struct start_state){
		.cr0 = CR0_ET,
		.rflags = RFLAGS_RESERVED,
		.cs = {(uint16_t)(page << 8), ACCESS_CODE16, UINT16_MAX, (uint32_t)page << 12},
		.ds = data,
		.es = data,
		.ss = data,
		.fs = data,
		.gs = data,
		.ldtr = flat(0, ACCESS_LDT, UINT16_MAX),
		.tr = flat(0, ACCESS_TSS, UINT16_MAX),
		.gdtr = {.limit = UINT16_MAX},
		.idtr = {.limit = UINT16_MAX},
	};
}

/* A null selector leaves the segment unusable. */
static int read_segment(const struct guest_paging *paging, const struct vmi_ap_state *ap,
			uint16_t selector, struct guest_segment *segment)
{
	uint32_t offset = selector & SELECTOR_INDEX;
	uint64_t descriptor;

	*segment = (struct guest_segment){.selector = selector};
	if (!(selector & ~SELECTOR_RPL))
		return 0;
	if ((selector & SELECTOR_LOCAL) || offset + sizeof(descriptor) - 1 > ap->gdtr_limit)
		return -EINVAL;
	if (guest_memory_read(paging, gva((uint32_t)(ap->gdtr_base + offset)), &descriptor,
			      sizeof(descriptor)))
		return -EFAULT;
	*segment = segment_in(descriptor, selector);
	return segment->access & ACCESS_PRESENT ? 0 : -EINVAL;
}

/* Code or data; loading a segment marks it accessed. */
static int read_code(const struct guest_paging *paging, const struct vmi_ap_state *ap,
		     uint16_t selector, struct guest_segment *segment)
{
	int error = read_segment(paging, ap, selector, segment);

	if (error || !segment->access)
		return error;
	segment->access |= ACCESS_ACCESSED;
	return segment->access & ACCESS_S ? 0 : -EINVAL;
}

/* Data, or code that can be read as such. */
static int read_data(const struct guest_paging *paging, const struct vmi_ap_state *ap,
		     uint16_t selector, struct guest_segment *segment)
{
	int error = read_code(paging, ap, selector, segment);

	if (error)
		return error;
	return (segment->access & (ACCESS_CODE | ACCESS_WRITABLE)) == ACCESS_CODE ? -EINVAL : 0;
}

static int read_segments(const struct guest_paging *paging, const struct vmi_ap_state *ap,
			 struct start_state *state)
{
	const struct {
		uint16_t selector;
		struct guest_segment *segment;
	} all[] = {
		{ap->ss, &state->ss}, {ap->ds, &state->ds}, {ap->es, &state->es},
		{ap->fs, &state->fs}, {ap->gs, &state->gs},
	};
	int error = read_code(paging, ap, ap->cs, &state->cs);

	for (unsigned int i = 0; i < ARRAY_SIZE(all) && !error; i++)
		error = read_data(paging, ap, all[i].selector, all[i].segment);
	return error ? error : read_segment(paging, ap, ap->ldtr, &state->ldtr);
}

static bool is_kernel_code(const struct guest_segment *cs)
{
	return (cs->access & ACCESS_CODE) && !(cs->access & (ACCESS_DPL | ACCESS_LONG)) &&
	       !(cs->selector & SELECTOR_RPL);
}

static bool is_kernel_stack(const struct guest_segment *ss)
{
	return (ss->access & ACCESS_WRITABLE) && !(ss->access & (ACCESS_CODE | ACCESS_DPL));
}

static bool is_ldt(const struct guest_segment *ldtr)
{
	return !ldtr->access || (ldtr->access & ACCESS_TYPE) == ACCESS_LDT;
}

/* Whether the processor has these bits it says best itself; Vellum can do without them. */
static bool has_cr4_bits(uint32_t cr4)
{
	uint64_t own = read_cr4();
	bool has = !write_cr4_checked(own | cr4);

	write_cr4(own);
	return has;
}

/* The processor starts in 32-bit code at CPL 0: nothing else is what VMI is for. */
static bool are_controls_sound(const struct vmi_ap_state *ap)
{
	if ((ap->cr0 & ~CR0_DEFINED) || !(ap->cr0 & CR0_PE))
		return false;
	if ((ap->cr0 & CR0_NW) && !(ap->cr0 & CR0_CD))
		return false;
	return !(ap->efer & ~(EFER_NXE | EFER_SCE)) && !(ap->cr4 & CR4_NOT_32BIT) &&
	       has_cr4_bits(ap->cr4);
}

static void load_registers(struct vcpu *vcpu, const struct vmi_ap_state *ap)
{
	vcpu->regs = (struct guest_registers){
		.rax = ap->eax,
		.rbx = ap->ebx,
		.rcx = ap->ecx,
		.rdx = ap->edx,
		.rbp = ap->ebp,
		.rsi = ap->esi,
		.rdi = ap->edi,
	};
}

int start_state_ap(struct vcpu *vcpu, const struct vmi_ap_state *ap, struct start_state *state)
{
	struct guest_paging paging = {ap->cr0, ap->cr3, ap->cr4, ap->efer};
	int error;

	if (!are_controls_sound(ap))
		return -EINVAL;
	*state = (struct start_state){
		.cr0 = ap->cr0 | CR0_ET,
		.cr3 = ap->cr3,
		.cr4 = ap->cr4,
		.efer = ap->efer,
		.rip = ap->eip,
		.rsp = ap->esp,
		.rflags = (ap->eflags & RFLAGS_DEFINED) | RFLAGS_RESERVED,
		.tr = flat(0, ACCESS_TSS, UINT16_MAX),
		.gdtr = {.base = ap->gdtr_base, .limit = ap->gdtr_limit},
		.idtr = {.base = ap->idtr_base, .limit = ap->idtr_limit},
	};
	error = read_segments(&paging, ap, state);
	if (error)
		return error;
	if (!is_kernel_code(&state->cs) || !is_kernel_stack(&state->ss) || !is_ldt(&state->ldtr))
		return -EINVAL;
	if (!state->ldtr.access)
		state->ldtr = flat(0, ACCESS_LDT, UINT16_MAX);
	load_registers(vcpu, ap);
	return 0;
}
