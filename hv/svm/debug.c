/* SPDX-License-Identifier: GPL-2.0-only */
/* A vcpu's registers for the debugger, and what it wants to exit: APM volume 2, 15.12, 15.8. */
#include "core/cpu.h"
#include "core/guest_state.h"
#include "debug/debugger.h"
#include "mm/guest_memory.h"
#include "mm/image.h"
#include "mm/physmap.h"
#include "svm/instruction.h"
#include "svm/operand.h"
#include "svm/segment.h"
#include "svm/svm.h"

#define ALL_REGISTERS	0xffff
#define DEBUG_ADDRESSES 4 /* DR0 to DR3 */
#define OPCODE_INT3	0xcc
#define OPCODE_INTO	0xce
#define INT3_LENGTH	1
#define INTO_LENGTH	1
#define INT_LENGTH	2

static void read_segments(const struct vmcb_save *save, struct guest_state *state)
{
	state->es = svm_unpacked(&save->es);
	state->cs = svm_unpacked(&save->cs);
	state->ss = svm_unpacked(&save->ss);
	state->ds = svm_unpacked(&save->ds);
	state->fs = svm_unpacked(&save->fs);
	state->gs = svm_unpacked(&save->gs);
	state->ldtr = svm_unpacked(&save->ldtr);
	state->tr = svm_unpacked(&save->tr);
	state->gdtr = svm_unpacked(&save->gdtr);
	state->idtr = svm_unpacked(&save->idtr);
}

void svm_read_state(struct vcpu *vcpu, struct guest_state *state)
{
	struct vmcb_save *save = &vmcb_of(vcpu)->save;
	struct guest_paging paging = svm_guest_paging(vcpu);

	vmsave(vmcb_of(vcpu));	  /* FS, GS, TR and LDTR are in the processor until asked for */
	state->regs = vcpu->regs; /* RAX, too: within an exit the VMCB's is an old one */
	state->regs.rsp = save->rsp;
	state->rip = save->rip;
	state->rflags = save->rflags;
	state->cr0 = paging.cr0;
	state->cr2 = save->cr2;
	state->cr3 = paging.cr3;
	state->cr4 = paging.cr4;
	state->efer = paging.efer;
	state->dr6 = save->dr6;
	state->dr7 = save->dr7;
	state->halted = vcpu->halted;
	read_segments(save, state);
}

/* RAX goes both ways: an exit's end copies it from the registers into the VMCB. */
void svm_write_state(struct vcpu *vcpu, const struct guest_state *state)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vcpu->regs = state->regs;
	vcpu->halted = vcpu->halted && state->rip == vmcb->save.rip;
	vmcb->save.rax = state->regs.rax;
	vmcb->save.rsp = state->regs.rsp;
	vmcb->save.rip = state->rip;
	vmcb->save.rflags = state->rflags;
	if (state->rflags & RFLAGS_TF)
		vmcb->control.interrupt_state &= ~INTERRUPT_SHADOW;
}

/*
 * QEMU does not look at the intercept of #BP when it meets INT3, but at that of INT n, which is
 * another instruction on real processors. It is the only one without the next RIP that is
 * known to.
 */
void svm_guard_breakpoints(struct vcpu *vcpu, bool on)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;
	uint32_t software = cpuid(CPUID_SVM, 0).edx & SVM_FEATURE_NEXT_RIP ? 0 : INTERCEPT3_SWINT;

	control->intercept_exceptions &= ~(uint32_t)INTERCEPT_EXCEPTION(VECTOR_BP);
	control->intercept3 &= ~software;
	if (on) {
		control->intercept_exceptions |= INTERCEPT_EXCEPTION(VECTOR_BP);
		control->intercept3 |= software;
	}
	control->clean &= ~(uint32_t)CLEAN_INTERCEPTS;
}

void svm_guard_debug_registers(struct vcpu *vcpu, bool on)
{
	struct vmcb_control *control = &vmcb_of(vcpu)->control;

	control->intercept_dr_reads = on ? ALL_REGISTERS : 0;
	control->intercept_dr_writes = on ? ALL_REGISTERS : 0;
	control->clean &= ~(uint32_t)CLEAN_INTERCEPTS;
}

void svm_write_dr6(struct vcpu *vcpu, uint64_t value)
{
	vmcb_of(vcpu)->save.dr6 = value;
	vmcb_of(vcpu)->control.clean &= ~(uint32_t)CLEAN_DRX;
}

static bool is_vellums(uint64_t address)
{
	return address - physmap_base < physmap_limit ||
	       (address >= (uintptr_t)image_start && address < (uintptr_t)image_end);
}

static bool might_stop_vellum(void)
{
	uint64_t address[DEBUG_ADDRESSES];

	read_breakpoints(address);
	for (unsigned int i = 0; i < DEBUG_ADDRESSES; i++)
		if (is_vellums(address[i]))
			return true;
	return false;
}

/*
 * VMRUN loads it from the VMCB, and #VMEXIT has cleared the processor's own. QEMU looks for
 * breakpoints only at MOV DR7, so that is done, too, unless they are where Vellum itself is:
 * a 64-bit guest may use the same addresses.
 */
void svm_write_dr7(struct vcpu *vcpu, uint64_t value)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	vmcb->save.dr7 = value;
	vmcb->control.clean &= ~(uint32_t)CLEAN_DRX;
	write_dr7(might_stop_vellum() ? DR7_INITIAL : value);
}

/* As an exception the guest's #BP is the same, but that its RIP has to be moved here. */
void svm_breakpoint_exit(struct vcpu *vcpu)
{
	struct vmcb_save *save = &vmcb_of(vcpu)->save;

	if (debugger_takes_breakpoint(vcpu))
		return;
	save->rip = svm_rip_behind(save, INT3_LENGTH);
	svm_inject_exception(vcpu, VECTOR_BP, NO_ERROR_CODE);
}

static bool read_code(const struct vcpu *vcpu, unsigned int offset, uint8_t *byte)
{
	struct guest_paging paging = svm_guest_paging(vcpu);
	gva_t address = svm_instruction_address(&vmcb_of(vcpu)->save, offset);

	return !guest_memory_read(&paging, address, byte, 1);
}

/* The one that MOV DR is about. RAX if the code can't be read any more. */
static unsigned int general_register(const struct vcpu *vcpu)
{
	struct svm_operand operand;

	return svm_decode_operand(vcpu, &operand) ? 0 : operand.rm;
}

/*
 * Only where INT3 makes this exit, by svm_guard_breakpoints(). INT n is delivered with its RIP
 * behind it.
 */
void svm_software_interrupt_exit(struct vcpu *vcpu)
{
	struct vmcb *vmcb = vmcb_of(vcpu);
	uint8_t opcode = 0, vector = 0;

	if (read_code(vcpu, 0, &opcode) && opcode == OPCODE_INT3) {
		svm_breakpoint_exit(vcpu);
		return;
	}
	if (opcode == OPCODE_INTO) {
		vmcb->save.rip = svm_rip_behind(&vmcb->save, INTO_LENGTH);
		svm_inject_exception(vcpu, VECTOR_OF, NO_ERROR_CODE);
		return;
	}
	read_code(vcpu, 1, &vector);
	vmcb->save.rip = svm_rip_behind(&vmcb->save, INT_LENGTH);
	vmcb->control.event_injection = vector | EVENT_TYPE_SOFTWARE | EVENT_VALID;
}

void svm_debug_register_exit(struct vcpu *vcpu)
{
	uint64_t exit_code = vmcb_of(vcpu)->control.exit_code;
	bool write = exit_code >= SVM_EXIT_DR_WRITE;

	debugger_moves_register(vcpu, exit_code & 7, general_register(vcpu), write);
}
