/* SPDX-License-Identifier: GPL-2.0-only */
#include "vmi/mmu.h"
#include "lib/string.h"

#define ITEM_KIND (VMI_QUEUE_ALLOCATED | VMI_QUEUE_RELEASED)

volatile struct vmi_rom_queue *vmi_mmu_queue;

/* Where the guest says that its kernel sees page tables. */
static bool find_entry(uint32_t address, gpa_t *entry)
{
	uint64_t offset = (uint32_t)(address - vmi_mmu_queue->linear_address);

	*entry = gpa(offset + ((uint64_t)vmi_mmu_queue->linear_frame << PAGE_SHIFT));
	return offset >> PAGE_SHIFT < vmi_mmu_queue->linear_pages;
}

/* A table that is mapped for a moment, elsewhere, may be there no more: so all is forgotten. */
static void take_change(uint32_t address)
{
	gpa_t entry;

	if (find_entry(address, &entry))
		shadow_entry_changed(entry);
	else
		shadow_forget();
}

static void take_item(uint32_t item)
{
	uint32_t kind = item & ITEM_KIND;
	gpa_t page = gpa(item & ~(PAGE_SIZE - 1));

	if (!kind)
		take_change(item);
	else if (kind == VMI_QUEUE_ALLOCATED)
		shadow_announce(page);
	else if (kind == VMI_QUEUE_RELEASED)
		shadow_release(page);
}

/* Only kernels with two levels have these calls: of others there is nothing to do. */
void vmi_mmu_empty_queue(struct shadow_context *context)
{
	uint32_t count = (uint32_t)min_u64(vmi_mmu_queue->count, VMI_QUEUE_ITEMS);

	if (context->mode.format == PAGING_32BIT)
		for (uint32_t i = 0; i < count; i++)
			take_item(vmi_mmu_queue->item[i]);
	vmi_mmu_queue->count = 0;
}
