/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nested page tables: APM volume 2, 15.25. The nested entries say write-back
 * everywhere; the guest's PAT and the machine's MTRRs then give every access the type
 * that it has without Vellum (15.25.8), so only the page size has to mind the MTRRs.
 */
#include <stdatomic.h>

#include "core/cpu.h"
#include "core/smp.h"
#include "dev/lapic.h"
#include "lib/printf.h"
#include "mm/mmu.h"
#include "svm/svm.h"

/* A nested walk is a user access, and a guest's page tables are written (15.25.5). */
#define NPT_FLAGS (PAGE_PRESENT | PAGE_WRITE | PAGE_USER)

static uint64_t apic_page; /* that is caught; 0: none is */
static atomic_bool apic_released;

static uint64_t entry_flags(enum memory_type type)
{
	(void)type;
	return NPT_FLAGS;
}

/* AMD-V has no exit for STARTUP: with several processors it is caught where it is sent. */
static int catch_apic(void)
{
	if (smp_guest_count() == 1)
		return 0;
	apic_page = lapic_page().raw;
	return mmu_map_page(gpa(apic_page), NPT_FLAGS & ~PAGE_WRITE);
}

bool svm_catches_apic(gpa_t address)
{
	return apic_page && align_down(address.raw, PAGE_SIZE) == apic_page;
}

/* Only a permission is added, so other processors' old translations do no harm (apic.c). */
void svm_release_apic(void)
{
	if (apic_page && !atomic_exchange(&apic_released, true))
		mmu_map_page(gpa(apic_page), NPT_FLAGS);
}

bool svm_apic_is_released(void)
{
	return atomic_load(&apic_released);
}

int svm_memory_init(void)
{
	const struct mmu_format format = {entry_flags, NPT_FLAGS, cpu_largest_page()};
	int error = mmu_init(&format);

	return error ? error : catch_apic();
}

const char *svm_nested_rights(uint64_t entry, char text[VENDOR_RIGHTS_SIZE])
{
	text_format(text, VENDOR_RIGHTS_SIZE, "%s%s%s", entry & PAGE_WRITE ? "write" : "read-only",
		    entry & PAGE_USER ? " user" : "", entry & PAGE_NX ? " NX" : "");
	return text;
}

bool svm_map_more(struct vcpu *vcpu, gpa_t address)
{
	bool flush;
	bool mapped = mmu_map_more(address, &flush);

	if (flush)
		vmcb_of(vcpu)->control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	return mapped;
}
