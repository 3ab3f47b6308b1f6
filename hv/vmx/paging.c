/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Without nested paging: what the guest does to its page tables' registers exits, and so does
 * each page fault (SDM volume 3C, 26.1.3, 26.2). What an instruction is about, VT-x says itself
 * (28.2.1), so nothing is decoded here.
 *
 * VT-x needs PE and PG set where there is no unrestricted guest, and that needs EPT (27.2.1.1):
 * a guest that does not page runs on EPT where both are there. Elsewhere it has tables that map
 * all where it is, and real mode ends it.
 */
#include "core/paging.h"
#include "core/cpu.h"
#include "core/exit.h"
#include "vmx/vmx.h"

#define PAGING_CONTROLS	 (PROCESSOR_INVLPG | PROCESSOR_CR3_LOAD | PROCESSOR_CR3_STORE)
#define UNPAGED_CONTROLS (SECONDARY_EPT | SECONDARY_UNRESTRICTED)
#define INVVPID_SINGLE	 1
#define CR0_PAGING	 (CR0_PE | CR0_WP | CR0_NW | CR0_CD | CR0_PG)

/* What neither changes translations nor has to be hidden: the guest writes it by itself. */
#define CR4_NOT_PAGING                                                                            \
	(CR4_VME | CR4_PVI | CR4_TSD | CR4_DE | CR4_MCE | CR4_PCE | CR4_OSFXSR | CR4_OSXMMEXCPT | \
	 CR4_UMIP | CR4_FSGSBASE | CR4_OSXSAVE)

static bool can_run_unpaged, has_vpid;

/*
 * EFER is the same for Vellum and the guest, but for what each entry and exit sets, LME and
 * LMA: old processors can't switch it, and the rest but SCE has to be set in both.
 */
static void share_efer(void)
{
	vmwrite(VMCS_EXIT_CONTROLS,
		vmread(VMCS_EXIT_CONTROLS) & ~(EXIT_SAVE_EFER | EXIT_LOAD_EFER));
	vmwrite(VMCS_ENTRY_CONTROLS, vmread(VMCS_ENTRY_CONTROLS) & ~ENTRY_LOAD_EFER);
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) & ~EFER_SCE);
}

/* Without VPIDs each entry and exit drops all translations (29.4.3.1). */
static void init_secondary(void)
{
	uint64_t off = UNPAGED_CONTROLS | SECONDARY_INVPCID | (has_vpid ? 0 : SECONDARY_VPID);

	vmwrite(VMCS_SECONDARY_CONTROLS, vmread(VMCS_SECONDARY_CONTROLS) & ~off);
}

void vmx_catch_paging(void)
{
	vmwrite(VMCS_PROCESSOR_CONTROLS, vmread(VMCS_PROCESSOR_CONTROLS) | PAGING_CONTROLS);
	vmwrite(VMCS_EXCEPTION_BITMAP, vmread(VMCS_EXCEPTION_BITMAP) | BIT(VECTOR_PF));
	vmwrite(VMCS_CR0_MASK, CR0_NE | CR0_PAGING);
	vmwrite(VMCS_CR4_MASK, ~CR4_NOT_PAGING);
	init_secondary();
	share_efer();
}

static void load_long_mode(bool on)
{
	uint64_t controls = vmread(VMCS_ENTRY_CONTROLS) & ~ENTRY_IA32E;

	vmwrite(VMCS_ENTRY_CONTROLS, on ? controls | ENTRY_IA32E : controls);
}

static void load_registers(uint64_t cr0, uint64_t cr3, uint64_t cr4)
{
	vmwrite(VMCS_GUEST_CR0, cr0 | CR0_NE);
	vmwrite(VMCS_GUEST_CR3, cr3);
	vmwrite(VMCS_GUEST_CR4, cr4 | CR4_VMXE);
}

static void switch_ept(bool on)
{
	uint64_t controls = vmread(VMCS_SECONDARY_CONTROLS) & ~UNPAGED_CONTROLS;

	vmwrite(VMCS_SECONDARY_CONTROLS, on ? controls | UNPAGED_CONTROLS : controls);
}

static void load_paging(struct vcpu *vcpu, const struct guest_paging *hardware)
{
	const struct guest_paging *guest = &vcpu->shadow->guest;
	bool unpaged = can_run_unpaged && !(guest->cr0 & CR0_PG);

	if (!can_run_unpaged && !(guest->cr0 & CR0_PE))
		exit_real_mode(vcpu);
	vmwrite(VMCS_CR0_SHADOW, guest->cr0);
	vmwrite(VMCS_CR4_SHADOW, guest->cr4);
	vmx_load_cache_control(guest->cr0);
	load_long_mode(hardware->efer & EFER_LMA);
	if (can_run_unpaged)
		switch_ept(unpaged);
	if (unpaged)
		load_registers(guest->cr0, guest->cr3, guest->cr4);
	else
		load_registers(hardware->cr0, hardware->cr3, hardware->cr4);
}

/* The four top entries of PAE come with each entry (27.3.2.1). */
static void flush(struct vcpu *vcpu)
{
	struct {
		uint64_t vpid, address;
	} descriptor = {vmread(VMCS_VPID), 0};

	(void)vcpu;
	if (has_vpid)
		asm volatile("invvpid %0, %1" ::"m"(descriptor), "r"((uint64_t)INVVPID_SINGLE)
			     : "cc", "memory");
}

static void inject_page_fault(struct vcpu *vcpu, gva_t address, uint32_t error_code)
{
	write_cr2(address.raw);
	vmx_inject_exception(vcpu, VECTOR_PF, (int)error_code);
}

static uint64_t read_efer_of(const struct vcpu *vcpu)
{
	return vmx_guest_paging(vcpu).efer;
}

static uint64_t read_rflags(const struct vcpu *vcpu)
{
	(void)vcpu;
	return vmread(VMCS_GUEST_RFLAGS);
}

static bool in_long_code(const struct vcpu *vcpu)
{
	(void)vcpu;
	return vmx_in_64bit_code();
}

/* The bits that the guest writes by itself come to what core/ knows. */
static void follow_registers(struct vcpu *vcpu)
{
	vcpu->shadow->guest = vmx_guest_paging(vcpu);
}

static void write_efer(struct vcpu *vcpu, uint64_t value)
{
	follow_registers(vcpu);
	paging_write_efer(vcpu, value);
	wrmsr(MSR_EFER, (rdmsr(MSR_EFER) & ~EFER_SCE) | (value & EFER_SCE));
}

static int shared_init(void)
{
	const uint64_t invvpid = VPID_CAP_INVVPID | VPID_CAP_SINGLE;
	int error = vmx_bitmaps_init();

	has_vpid = (vmx_ept_capabilities() & invvpid) == invvpid;
	if (!error && can_run_unpaged)
		error = vmx_memory_init();
	return error ? error : paging_prepare();
}

static int vcpu_init(struct vcpu *vcpu)
{
	int error = paging_attach(vcpu);

	return error ? error : vmx_vcpu_init(vcpu);
}

const struct vendor *vmx_with_shadow_paging(void)
{
	static struct vendor shadow;

	can_run_unpaged = !vmx_missing_for_nested();
	shadow = vmx_vendor;
	if (!can_run_unpaged)
		shadow.memory_types_changed = NULL; /* without EPT the MTRRs apply */
	shadow.shared_init = shared_init;
	shadow.vcpu_init = vcpu_init;
	shadow.load_paging = load_paging;
	shadow.flush = flush;
	shadow.inject_page_fault = inject_page_fault;
	shadow.read_efer = read_efer_of;
	shadow.write_efer = write_efer;
	shadow.read_rflags = read_rflags;
	shadow.in_long_code = in_long_code;
	return &shadow;
}

static bool injects_nothing(void)
{
	return !(vmread(VMCS_ENTRY_INTERRUPTION) & INTERRUPTION_VALID);
}

/*
 * An IRET that faults has unblocked NMIs all the same. One whose fault the guest does not see is
 * executed again, and till then the guest is still in its NMI handler (28.7.1.2).
 */
static void block_nmis_again(void)
{
	if ((vmread(VMCS_EXIT_INTERRUPTION) & INTERRUPTION_NMI_UNBLOCKED) && injects_nothing())
		vmwrite(VMCS_GUEST_INTERRUPTIBILITY,
			vmread(VMCS_GUEST_INTERRUPTIBILITY) | BLOCKING_NMI);
}

/*
 * The exit saves RF as the #PF would have pushed it (28.3.3). What is delivered again is none: an
 * INT n or an interrupt, which push what was there before it.
 */
static void forget_resume_flag(void)
{
	uint64_t event = vmread(VMCS_ENTRY_INTERRUPTION);

	if ((event & INTERRUPTION_VALID) && (event & INTERRUPTION_TYPE) != INTERRUPTION_EXCEPTION)
		vmwrite(VMCS_GUEST_RFLAGS, vmread(VMCS_GUEST_RFLAGS) & ~RFLAGS_RF);
}

void vmx_page_fault_exit(struct vcpu *vcpu)
{
	vmx_keep_single_step_in_shadow();
	exit_page_fault(vcpu, gva(vmread(VMCS_EXIT_QUALIFICATION)),
			(uint32_t)vmread(VMCS_EXIT_ERROR_CODE));
	block_nmis_again();
	forget_resume_flag();
}

/* Outside of 64-bit code registers have 32 bits. */
static uint64_t operand(const struct vcpu *vcpu, uint64_t info)
{
	uint64_t value = vmx_read_register(vcpu, CR_EXIT_REGISTER(info));

	return vmx_in_64bit_code() ? value : (uint32_t)value;
}

/* The others are read from their shadows, without an exit. */
static void read_cr3_exit(struct vcpu *vcpu, uint64_t info)
{
	vmx_write_register(vcpu, CR_EXIT_REGISTER(info),
			   exit_read_control_register(vcpu, CR_EXIT_NUMBER(info)));
	vmx_skip_instruction(vcpu);
}

/* CLTS and SMSW do not exit. */
void vmx_paging_register_exit(struct vcpu *vcpu)
{
	uint64_t info = vmread(VMCS_EXIT_QUALIFICATION);

	follow_registers(vcpu);
	if (CR_EXIT_TYPE(info) == CR_EXIT_MOV_FROM)
		read_cr3_exit(vcpu, info);
	else if (CR_EXIT_TYPE(info) == CR_EXIT_LMSW)
		exit_lmsw(vcpu, (uint16_t)CR_EXIT_LMSW_VALUE(info));
	else
		exit_write_control_register(vcpu, CR_EXIT_NUMBER(info), operand(vcpu, info));
}

void vmx_invlpg_exit(struct vcpu *vcpu)
{
	exit_invlpg(vcpu, gva(vmread(VMCS_EXIT_QUALIFICATION)));
}
