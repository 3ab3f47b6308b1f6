/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/paging.h"
#include "core/cpu.h"
#include "core/exit.h"
#include "core/panic.h"
#include "core/vendor.h"
#include "lib/errno.h"
#include "debug/console.h"
#include "mm/frames.h"
#include "mm/page_table.h"
#include "mm/shadow.h"
#include "vmi/mmu.h"

#define USER_LEVEL	3
#define OTHER_FRAMES	512u
#define POOL_PAGE_COST	(2 * PAGE_SIZE + 256) /* bytes, with the bookkeeping */
#define POOL_MOST	2048u		      /* 8 MiB of tables */
#define CR0_LMSW_BITS	0xfull
#define CR0_PDPTE_BITS	(CR0_CD | CR0_NW | CR0_PG)
#define CR4_PDPTE_BITS	(CR4_PAE | CR4_PSE | CR4_PGE | CR4_SMEP)
#define CR4_OF_PAGING	(CR4_PDPTE_BITS | CR4_SMAP)
#define CR4_USER_GUARDS (CR4_SMEP | CR4_SMAP)

_Static_assert(sizeof(struct shadow_context) <= PAGE_SIZE, "one frame each");

/* Which CR4 bit goes with which CPUID bit: APM volume 2, 3.1.3; those that the guest gets. */
static const struct {
	uint64_t bits;
	char word; /* d and c: leaf 1; b and C: EBX and ECX of leaf 7 */
	uint64_t feature;
} cr4_features[] = {
	{CR4_VME | CR4_PVI, 'd', BIT(1)}, {CR4_DE, 'd', BIT(2)},
	{CR4_PSE, 'd', BIT(3)},		  {CR4_TSD, 'd', BIT(4)},
	{CR4_PAE, 'd', BIT(6)},		  {CR4_MCE, 'd', BIT(7)},
	{CR4_PGE, 'd', BIT(13)},	  {CR4_OSFXSR, 'd', BIT(24)},
	{CR4_OSXMMEXCPT, 'd', BIT(25)},	  {CR4_OSXSAVE, 'c', BIT(26)},
	{CR4_FSGSBASE, 'b', BIT(0)},	  {CR4_SMEP, 'b', BIT(7)},
	{CR4_SMAP, 'b', BIT(20)},	  {CR4_UMIP, 'C', BIT(2)},
};

static uint64_t feature_word(char word)
{
	if (word == 'd')
		return cpuid(CPUID_FEATURES, 0).edx;
	if (word == 'c')
		return cpuid(CPUID_FEATURES, 0).ecx;
	if (cpuid(0, 0).eax < CPUID_STRUCTURED)
		return 0;
	return word == 'b' ? cpuid(CPUID_STRUCTURED, 0).ebx : cpuid(CPUID_STRUCTURED, 0).ecx;
}

static uint64_t cr4_bits;

static void read_cr4_bits(void)
{
	cr4_bits = CR4_PCE;
	for (unsigned int i = 0; i < ARRAY_SIZE(cr4_features); i++)
		if (feature_word(cr4_features[i].word) & cr4_features[i].feature)
			cr4_bits |= cr4_features[i].bits;
}

/* What is free, less what others may want later; a table has a page of links beside it. */
static unsigned int pool_size(void)
{
	uint64_t free = frames_free_count(), bytes = free > OTHER_FRAMES ? free - OTHER_FRAMES : 0;

	bytes *= PAGE_SIZE;
	return (unsigned int)max_u64(min_u64(bytes / POOL_PAGE_COST, POOL_MOST), SHADOW_POOL_LEAST);
}

int paging_prepare(void)
{
	uint64_t bits = cpuid(CPUID_EXT_ADDRESS_SIZES, 0).eax & CPUID_EXT8_EAX_PHYSICAL;
	unsigned int pages = pool_size();

	paging_init((unsigned int)min_u64(bits, PAGE_TABLE_ADDRESS_BITS),
		    cpu_largest_page() == 1 * GIB);
	read_cr4_bits();
	pr_info("shadow page tables: %u pages", pages);
	return shadow_init(pages);
}

int paging_attach(struct vcpu *vcpu)
{
	vcpu->shadow = frame_allocate();
	return vcpu->shadow ? 0 : -ENOMEM;
}

/*
 * What the processor runs with. It always pages, in PAE's format or long mode's. A guest that
 * does not page has no long mode, and knows nothing of users' pages.
 */
static struct guest_paging hardware_paging(const struct shadow_context *shadow)
{
	struct guest_paging hardware = shadow->guest;

	if (!(hardware.cr0 & CR0_PG)) {
		hardware.cr4 &= ~CR4_USER_GUARDS;
		hardware.efer &= ~(EFER_LME | EFER_LMA);
	}
	hardware.cr0 |= CR0_PG | CR0_WP;
	hardware.cr3 = shadow->hardware_root.raw;
	hardware.cr4 |= CR4_PAE;
	hardware.efer |= EFER_NXE;
	return hardware;
}

/* The end of whatever may have changed shadow tables. */
static void flush_if_needed(struct vcpu *vcpu)
{
	if (shadow_take_flush())
		vendor->flush(vcpu);
	vmi_mmu_tell(vcpu->shadow);
}

/* Without a load nothing that decides about translations has changed. */
static void load_registers(struct vcpu *vcpu)
{
	struct guest_paging hardware = hardware_paging(vcpu->shadow);

	vendor->load_paging(vcpu, &hardware);
	flush_if_needed(vcpu);
}

void paging_load(struct vcpu *vcpu, const struct guest_paging *guest)
{
	vmi_mmu_read_queue(vcpu->shadow);
	shadow_load(vcpu->shadow, guest);
	load_registers(vcpu);
}

void paging_start(struct vcpu *vcpu, const struct guest_paging *guest)
{
	*vcpu->shadow = (struct shadow_context){0};
	paging_load(vcpu, guest);
}

static bool pages_with_pae(const struct guest_paging *guest)
{
	return (guest->cr0 & CR0_PG) && (guest->cr4 & CR4_PAE) && !(guest->efer & EFER_LMA);
}

/* ---- faults ----------------------------------------------------------------------- */

static uint64_t page_of(gva_t address)
{
	return address.raw & ~(PAGE_SIZE - 1);
}

/* AC lifts SMAP, but not for what the processor reads by itself while a user runs. */
static bool smap_applies(const struct vcpu *vcpu)
{
	return vendor->privilege_level(vcpu) == USER_LEVEL ||
	       !(vendor->read_rflags(vcpu) & RFLAGS_AC);
}

/* A reserved bit in a shadow entry, or a guest that does not page at all: Vellum's own error. */
static void check_fault(const struct vcpu *vcpu, gva_t address, uint32_t error_code)
{
	if (!(error_code & FAULT_RESERVED) && (vcpu->shadow->guest.cr0 & CR0_PG))
		return;
	vendor->dump(vcpu);
	panic("shadow page tables: fault at %lx, error code %x", address.raw, error_code);
}

void exit_page_fault(struct vcpu *vcpu, gva_t address, uint32_t error_code)
{
	struct guest_access access = {
		.address = address,
		.write = error_code & FAULT_WRITE,
		.user = error_code & FAULT_USER,
		.fetch = error_code & FAULT_FETCH,
	};

	check_fault(vcpu, address, error_code);
	vmi_mmu_read_queue(vcpu->shadow);
	access.smap = vcpu->shadow->mode.smap && smap_applies(vcpu);
	if (shadow_fault(vcpu->shadow, &access, &error_code)) {
		vcpu_count_exit(vcpu, EXIT_HIDDEN_FAULT);
	} else {
		vcpu_count_exit(vcpu, EXIT_GUEST_FAULT);
		vendor->inject_page_fault(vcpu, address, error_code);
	}
	flush_if_needed(vcpu);
}

/* As if the program's own access had faulted: a table that is written leaves the sync. */
static bool allows_page(struct vcpu *vcpu, gva_t address, bool write)
{
	struct guest_access access = {
		.address = address,
		.write = write,
		.user = vendor->privilege_level(vcpu) == USER_LEVEL,
		.smap = vcpu->shadow->mode.smap && smap_applies(vcpu),
	};
	uint32_t error_code;
	bool allowed;

	vmi_mmu_read_queue(vcpu->shadow);
	allowed = shadow_fault(vcpu->shadow, &access, &error_code);
	if (!allowed)
		vendor->inject_page_fault(vcpu, address, error_code);
	flush_if_needed(vcpu);
	return allowed;
}

bool paging_allows(struct vcpu *vcpu, gva_t address, unsigned int size, bool write)
{
	gva_t last = gva(address.raw + size - 1);

	if (!(vcpu->shadow->guest.cr0 & CR0_PG))
		return true;
	if (!allows_page(vcpu, address, write))
		return false;
	return page_of(address) == page_of(last) || allows_page(vcpu, gva(page_of(last)), write);
}

/* ---- control registers -------------------------------------------------------------- */

uint64_t exit_read_control_register(const struct vcpu *vcpu, unsigned int number)
{
	const struct guest_paging *guest = &vcpu->shadow->guest;

	return number == 0 ? guest->cr0 : number == 3 ? guest->cr3 : guest->cr4;
}

static void finish(struct vcpu *vcpu, bool valid)
{
	if (valid)
		vendor->skip_instruction(vcpu);
	else
		vendor->inject_exception(vcpu, VECTOR_GP, 0);
}

/* The L bit of CS would change its meaning (APM volume 2, 14.6.2). */
static bool can_change_paging(const struct vcpu *vcpu, const struct guest_paging *guest, bool on)
{
	if (!(guest->efer & EFER_LME))
		return true;
	return !vendor->in_long_code(vcpu) && (!on || (guest->cr4 & CR4_PAE));
}

/* What MOV to CR0 answers with #GP (APM volume 2, 3.1.1). */
static bool is_valid_cr0(const struct vcpu *vcpu, const struct guest_paging *guest, uint64_t cr0)
{
	bool on = cr0 & CR0_PG;

	if (cr0 >> 32 || (on && !(cr0 & CR0_PE)) || ((cr0 & CR0_NW) && !(cr0 & CR0_CD)))
		return false;
	return on == !!(guest->cr0 & CR0_PG) || can_change_paging(vcpu, guest, on);
}

/* Long mode begins and ends with paging where EFER.LME is set. */
static uint64_t efer_with(uint64_t efer, uint64_t cr0)
{
	return (efer & EFER_LME) && (cr0 & CR0_PG) ? efer | EFER_LMA : efer & ~EFER_LMA;
}

bool paging_load_pdptes(struct vcpu *vcpu, const struct guest_paging *guest)
{
	return !pages_with_pae(guest) || shadow_load_pdptes(vcpu->shadow, guest);
}

/* Only a change of some bits makes a MOV read PAE's top entries (SDM volume 3A, 4.4.1). */
static bool follow_pdptes(struct vcpu *vcpu, const struct guest_paging *guest, bool changed)
{
	return !changed || paging_load_pdptes(vcpu, guest);
}

static bool load_cr0(struct vcpu *vcpu, uint64_t value)
{
	struct guest_paging guest = vcpu->shadow->guest;
	uint64_t changed = guest.cr0 ^ (value | CR0_ET);

	if (!is_valid_cr0(vcpu, &guest, value))
		return false;
	guest.cr0 = value | CR0_ET;
	guest.efer = efer_with(guest.efer, value);
	if (!follow_pdptes(vcpu, &guest, changed & CR0_PDPTE_BITS))
		return false;
	if (changed & (CR0_PG | CR0_WP)) {
		paging_load(vcpu, &guest);
	} else {
		vcpu->shadow->guest = guest;
		load_registers(vcpu);
	}
	return true;
}

static bool load_cr3(struct vcpu *vcpu, uint64_t value)
{
	struct guest_paging guest = vcpu->shadow->guest;

	if ((guest.efer & EFER_LMA) && !paging_address_is_valid(value))
		return false;
	guest.cr3 = value;
	if (!paging_load_pdptes(vcpu, &guest))
		return false;
	paging_load(vcpu, &guest);
	return true;
}

static bool is_valid_cr4(const struct guest_paging *guest, uint64_t cr4)
{
	if (cr4 & ~cr4_bits)
		return false;
	return (cr4 & CR4_PAE) || !(guest->efer & EFER_LMA);
}

static bool load_cr4(struct vcpu *vcpu, uint64_t value)
{
	struct guest_paging guest = vcpu->shadow->guest;
	uint64_t changed = guest.cr4 ^ value;

	if (!is_valid_cr4(&guest, value))
		return false;
	guest.cr4 = value;
	if (!follow_pdptes(vcpu, &guest, changed & CR4_PDPTE_BITS))
		return false;
	if (changed & CR4_OF_PAGING) {
		paging_load(vcpu, &guest);
	} else {
		vcpu->shadow->guest = guest;
		load_registers(vcpu);
	}
	return true;
}

void exit_write_control_register(struct vcpu *vcpu, unsigned int number, uint64_t value)
{
	bool valid = number == 0   ? load_cr0(vcpu, value)
		     : number == 3 ? load_cr3(vcpu, value)
				   : load_cr4(vcpu, value);

	finish(vcpu, valid);
}

void exit_clts(struct vcpu *vcpu)
{
	exit_write_control_register(vcpu, 0, vcpu->shadow->guest.cr0 & ~CR0_TS);
}

/* LMSW loads the low four bits, and can't clear PE. */
void exit_lmsw(struct vcpu *vcpu, uint16_t value)
{
	uint64_t cr0 = vcpu->shadow->guest.cr0 & ~(CR0_LMSW_BITS & ~CR0_PE);

	exit_write_control_register(vcpu, 0, cr0 | (value & CR0_LMSW_BITS));
}

static void invalidate(struct vcpu *vcpu, gva_t address)
{
	vmi_mmu_read_queue(vcpu->shadow);
	shadow_invalidate(vcpu->shadow, address);
	flush_if_needed(vcpu);
}

void exit_invlpg(struct vcpu *vcpu, gva_t address)
{
	invalidate(vcpu, address);
	vendor->skip_instruction(vcpu);
}

/* All that the guest has changed was told, so it is done when the queue is empty. */
static void flush_told(struct vcpu *vcpu)
{
	vmi_mmu_read_queue(vcpu->shadow);
	flush_if_needed(vcpu);
}

bool paging_invalidate(struct vcpu *vcpu, gva_t address)
{
	if (!vcpu->shadow)
		return false;
	if (shadow_is_untold(vcpu->shadow))
		invalidate(vcpu, address);
	else
		flush_told(vcpu);
	return true;
}

bool paging_fill_wanted(struct vcpu *vcpu)
{
	if (!vcpu->shadow)
		return false;
	vmi_mmu_read_queue(vcpu->shadow);
	shadow_fill_wanted(vcpu->shadow);
	flush_if_needed(vcpu);
	return true;
}

bool paging_flush(struct vcpu *vcpu)
{
	if (!vcpu->shadow)
		return false;
	if (shadow_is_untold(vcpu->shadow))
		load_cr3(vcpu, vcpu->shadow->guest.cr3);
	else
		flush_told(vcpu);
	return true;
}

void paging_write_efer(struct vcpu *vcpu, uint64_t value)
{
	struct guest_paging guest = vcpu->shadow->guest;
	uint64_t changed = guest.efer ^ value;

	guest.efer = value;
	if (changed & EFER_NXE) {
		paging_load(vcpu, &guest);
	} else {
		vcpu->shadow->guest = guest;
		load_registers(vcpu);
	}
}
