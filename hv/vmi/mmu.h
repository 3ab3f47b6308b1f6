/* SPDX-License-Identifier: GPL-2.0-only */
/* With shadow page tables: what the ROM has noted of calls 38, 40, 44, 45 and 48. */
#ifndef VELLUM_VMI_MMU_H
#define VELLUM_VMI_MMU_H

#include "mm/shadow.h"
#include "vmi/vmi.h"

/* The page that the guest's ROM writes to; NULL: there is none, and all here does nothing. */
extern volatile struct vmi_rom_queue *vmi_mmu_queue;

/* Of a queue that is not empty. */
void vmi_mmu_empty_queue(struct shadow_context *context);

/*
 * Does what the queue says and empties it; before anything else that an exit does with page
 * tables. The guest can write what it likes there, and harms its own translations alone.
 */
static inline void vmi_mmu_read_queue(struct shadow_context *context)
{
	if (vmi_mmu_queue && vmi_mmu_queue->count)
		vmi_mmu_empty_queue(context);
}

/*
 * What the ROM has to know at the end of such an exit: of a wanted entry SetPxE is a hypercall,
 * and where the guest has changed tables without a call, or may have, InvalPage and FlushTLB
 * have something to do even with an empty queue.
 */
static inline void vmi_mmu_tell(const struct shadow_context *context)
{
	uint32_t at;

	if (!vmi_mmu_queue)
		return;
	at = (uint32_t)(context->wanted.raw >> PAGE_SHIFT) - vmi_mmu_queue->linear_frame;
	vmi_mmu_queue->wanted = context->wanted.raw && at < vmi_mmu_queue->linear_pages
					? (at << PAGE_SHIFT) + vmi_mmu_queue->linear_address +
						  (context->wanted.raw & 0xfff)
					: 0;
	vmi_mmu_queue->untold = shadow_is_untold(context);
}

#endif
