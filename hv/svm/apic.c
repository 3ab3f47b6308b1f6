/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes to the local APIC's page, which exit where the guest has several processors: AMD-V
 * has no exit for STARTUP, so it is caught where it is sent. Reads do not exit. A guest that
 * sends INIT and STARTUP by VMI's call has its page released: then nothing exits any more.
 */
#include "core/cpu.h"
#include "core/exit.h"
#include "core/smp.h"
#include "core/store.h"
#include "debug/console.h"
#include "dev/lapic.h"
#include "mm/guest_memory.h"
#include "svm/instruction.h"
#include "svm/svm.h"

#define SEGMENT_CODE_BIG BIT(10)
#define REGISTER_RSP	 4
#define OFFSET_IN_PAGE	 0xfffu
#define REGISTER_STEP	 16 /* between the APIC's registers */

static enum code_size code_size(const struct vmcb_save *save)
{
	if (svm_in_64bit_code(save))
		return CODE_64;
	return save->cs.attributes & SEGMENT_CODE_BIG ? CODE_32 : CODE_16;
}

/* As many bytes as can be read: the instruction may end right before a page that is not there. */
static unsigned int read_code(const struct vmcb_save *save, uint8_t code[INSTRUCTION_SIZE_MAX])
{
	struct guest_paging paging = {save->cr0, save->cr3, save->cr4, save->efer};
	uint64_t in_page = PAGE_SIZE - (svm_instruction_address(save, 0).raw & (PAGE_SIZE - 1));
	unsigned int size = (unsigned int)min_u64(in_page, INSTRUCTION_SIZE_MAX);

	if (guest_memory_read(&paging, svm_instruction_address(save, 0), code, size))
		return 0;
	if (size == INSTRUCTION_SIZE_MAX ||
	    guest_memory_read(&paging, svm_instruction_address(save, size), code + size,
			      INSTRUCTION_SIZE_MAX - size))
		return size;
	return INSTRUCTION_SIZE_MAX;
}

static uint64_t *register_at(struct vcpu *vcpu, unsigned int number)
{
	if (number == REGISTER_RSP)
		return &vmcb_of(vcpu)->save.rsp;
	return &vcpu->regs.rax + number;
}

static void refuse(struct vcpu *vcpu, const uint8_t *code)
{
	pr_warn_once("processor %u writes to its APIC in a way that Vellum does not know (code "
		     "%02x %02x %02x %02x at %lx): #GP; no more such lines",
		     vcpu->id, code[0], code[1], code[2], code[3], vmcb_of(vcpu)->save.rip);
	svm_inject_exception(vcpu, VECTOR_GP, 0);
}

/* In x2APIC mode nothing is at the page. */
static uint32_t read_register(uint32_t offset)
{
	return lapic_is_x2apic() ? UINT32_MAX : lapic_read(offset);
}

static void do_store(struct vcpu *vcpu, const struct store *store, uint32_t offset)
{
	uint64_t *reg = register_at(vcpu, store->reg);
	uint32_t value = store->is_immediate ? store->immediate : (uint32_t)*reg;

	if (store->exchanges)
		*reg = read_register(offset);
	exit_apic_write(offset, value);
}

void svm_apic_exit(struct vcpu *vcpu, gpa_t address)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	uint32_t offset = (uint32_t)address.raw & OFFSET_IN_PAGE;
	uint8_t code[INSTRUCTION_SIZE_MAX] = {0};
	unsigned int size = read_code(&vmcb->save, code);
	struct store store;

	if (store_decode(code, size, code_size(&vmcb->save), &store) ||
	    !is_aligned(offset, REGISTER_STEP)) {
		refuse(vcpu, code);
		return;
	}
	vmcb->control.next_rip = vmcb->save.rip + store.length;
	do_store(vcpu, &store, offset);
	svm_skip_instruction(vcpu);
	if (svm_apic_is_released()) /* by another processor: this one has an old translation */
		vmcb->control.tlb_control = TLB_CONTROL_FLUSH_ALL;
}
