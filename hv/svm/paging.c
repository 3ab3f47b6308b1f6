/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Without nested paging: what the guest does to its page tables' registers exits, and so does
 * each page fault (APM volume 2, 15.8.1, 15.12.15).
 */
#include "core/paging.h"
#include "core/cpu.h"
#include "core/exit.h"
#include "mm/guest_memory.h"
#include "mm/physmap.h"
#include "svm/instruction.h"
#include "svm/operand.h"
#include "svm/svm.h"

#define PAGING_REGISTERS (BIT(0) | BIT(3) | BIT(4))

void svm_catch_paging(struct vmcb_control *control)
{
	control->intercept_cr_reads |= (uint16_t)PAGING_REGISTERS;
	control->intercept_cr_writes |= (uint16_t)PAGING_REGISTERS;
	control->intercept_exceptions |= (uint32_t)INTERCEPT_EXCEPTION(VECTOR_PF);
	control->intercept3 |= INTERCEPT3_INVLPG | INTERCEPT3_TASK_SWITCH;
	control->nested_control = 0;
}

static void load_paging(struct vcpu *vcpu, const struct guest_paging *hardware)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.cr0 = hardware->cr0;
	vmcb->save.cr3 = hardware->cr3;
	vmcb->save.cr4 = hardware->cr4;
	vmcb->save.efer = hardware->efer | EFER_SVME;
	vmcb->control.clean &= ~(uint32_t)CLEAN_CRX;
}

/* The four top entries of PAE may be in the processor, too: they come again with CR3. */
static void flush(struct vcpu *vcpu)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;

	control->tlb_control = TLB_CONTROL_FLUSH_ALL;
	control->clean &= ~(uint32_t)CLEAN_CRX;
}

/* Bochs does not load CR2 at VMRUN, so it is written here, too. */
static void inject_page_fault(struct vcpu *vcpu, gva_t address, uint32_t error_code)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.cr2 = address.raw;
	vmcb->control.clean &= ~(uint32_t)CLEAN_CR2;
	write_cr2(address.raw);
	svm_inject_exception(vcpu, VECTOR_PF, (int)error_code);
}

static uint64_t read_cr0_of(const struct vcpu *vcpu)
{
	return svm_guest_paging(vcpu).cr0;
}

static uint64_t read_cr4_of(const struct vcpu *vcpu)
{
	return svm_guest_paging(vcpu).cr4;
}

static uint64_t read_efer_of(const struct vcpu *vcpu)
{
	return svm_guest_paging(vcpu).efer;
}

static uint64_t read_rflags(const struct vcpu *vcpu)
{
	return vmcb_of(vcpu)->save.rflags;
}

static bool in_long_code(const struct vcpu *vcpu)
{
	return svm_in_64bit_code(&vmcb_of(vcpu)->save);
}

static int shared_init(void)
{
	int error = svm_bitmaps_init();

	return error ? error : paging_prepare();
}

static int vcpu_init(struct vcpu *vcpu)
{
	int error = paging_attach(vcpu);

	return error ? error : svm_vcpu_init(vcpu);
}

const struct vendor *svm_with_shadow_paging(void)
{
	static struct vendor shadow;

	shadow = svm_vendor;
	shadow.shared_init = shared_init;
	shadow.vcpu_init = vcpu_init;
	shadow.load_paging = load_paging;
	shadow.flush = flush;
	shadow.inject_page_fault = inject_page_fault;
	shadow.read_cr0 = read_cr0_of;
	shadow.read_cr4 = read_cr4_of;
	shadow.read_efer = read_efer_of;
	shadow.write_efer = paging_write_efer;
	shadow.read_rflags = read_rflags;
	shadow.in_long_code = in_long_code;
	return &shadow;
}

void svm_page_fault_exit(struct vcpu *vcpu)
{
	const struct vmcb_control *control = &vmcb_of(vcpu)->control;

	exit_page_fault(vcpu, gva(control->exit_info2), (uint32_t)control->exit_info1);
}

/* The instruction that exited; the guest goes on behind it. */
static struct svm_operand decode(struct vcpu *vcpu)
{
	struct svm_operand operand;
	struct vmcb *vmcb = vmcb_of(vcpu);

	if (svm_decode_operand(vcpu, &operand))
		exit_unhandled(vcpu);
	vmcb->control.next_rip = svm_rip_behind(&vmcb->save, operand.length);
	return operand;
}

static void store_register(struct vcpu *vcpu, const struct svm_operand *operand, uint64_t value)
{
	svm_write_register(vcpu, operand->rm, operand->wide ? value : (uint32_t)value);
}

/* False: the program may not touch its operand, and has the exception that says so. */
static bool reaches_operand(struct vcpu *vcpu, const struct svm_operand *operand, bool write)
{
	if (operand->is_within && (operand->may_write || !write))
		return paging_allows(vcpu, operand->address, sizeof(uint16_t), write);
	svm_inject_exception(vcpu, operand->in_stack ? VECTOR_SS : VECTOR_GP, 0);
	return false;
}

/* To memory it is 16 bits, to a register as many as the instruction's operand size. */
static bool store_smsw(struct vcpu *vcpu, const struct svm_operand *operand)
{
	struct guest_paging paging = svm_guest_paging(vcpu);
	uint16_t value = (uint16_t)paging.cr0;

	if (operand->is_memory) {
		if (!reaches_operand(vcpu, operand, true))
			return false;
		guest_memory_write(&paging, operand->address, &value, sizeof(value));
	} else if (operand->narrow) {
		svm_write_register(vcpu, operand->rm,
				   (svm_read_register(vcpu, operand->rm) & ~0xffffull) | value);
	} else {
		store_register(vcpu, operand, paging.cr0);
	}
	return true;
}

void svm_cr_read_exit(struct vcpu *vcpu)
{
	struct svm_operand operand = decode(vcpu);

	if (operand.opcode != OPCODE_GROUP_7)
		store_register(vcpu, &operand, exit_read_control_register(vcpu, operand.reg));
	else if (!store_smsw(vcpu, &operand))
		return;
	svm_skip_instruction(vcpu);
}

static void load_lmsw(struct vcpu *vcpu, const struct svm_operand *operand)
{
	struct guest_paging paging = svm_guest_paging(vcpu);
	uint16_t value = 0;

	if (!operand->is_memory)
		value = (uint16_t)svm_read_register(vcpu, operand->rm);
	else if (!reaches_operand(vcpu, operand, false))
		return;
	else
		guest_memory_read(&paging, operand->address, &value, sizeof(value));
	exit_lmsw(vcpu, value);
}

void svm_cr_write_exit(struct vcpu *vcpu)
{
	struct svm_operand operand = decode(vcpu);
	uint64_t value = svm_read_register(vcpu, operand.rm);

	if (operand.opcode == OPCODE_CLTS)
		exit_clts(vcpu);
	else if (operand.opcode == OPCODE_GROUP_7)
		load_lmsw(vcpu, &operand);
	else
		exit_write_control_register(vcpu, operand.reg,
					    operand.wide ? value : (uint32_t)value);
}

void svm_invlpg_exit(struct vcpu *vcpu)
{
	exit_invlpg(vcpu, decode(vcpu).address);
}
