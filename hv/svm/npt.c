/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nested page tables: APM volume 2, 15.25. The nested entries say write-back
 * everywhere; the guest's PAT and the machine's MTRRs then give every access the type
 * that it has without Vellum (15.25.8), so only the page size has to mind the MTRRs.
 */
#include "core/cpu.h"
#include "core/guest_space.h"
#include "mm/page_table.h"
#include "svm/svm.h"

/* A nested walk is a user access, and a guest's page tables are written (15.25.5). */
#define NPT_FLAGS (PAGE_PRESENT | PAGE_WRITE | PAGE_USER)

static struct page_table npt;

static uint64_t entry_flags(enum memory_type type)
{
	(void)type;
	return NPT_FLAGS;
}

int svm_memory_init(void)
{
	int error = page_table_init(&npt, NPT_FLAGS, cpu_largest_page());

	return error ? error : guest_space_map(&npt, entry_flags);
}

hpa_t svm_nested_root(void)
{
	return npt.root;
}

bool svm_map_more(struct vcpu *vcpu, gpa_t address)
{
	bool forgotten;
	int error = guest_space_map_more(&npt, address, entry_flags, &forgotten);

	if (forgotten)
		vmcb_of(vcpu)->control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	return !error;
}
