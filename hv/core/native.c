/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/exception.h"
#include "core/launch.h"
#include "lib/errno.h"
#include "lib/string.h"
#include "mm/frames.h"
#include "mm/image.h"
#include "mm/physmap.h"

extern const uint8_t native_trampoline[], native_trampoline_end[]; /* native_entry.asm */

struct table_pointer32 {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

/*
 * What the trampoline loads once paging is off; native_entry.asm has the offsets. The first
 * two are the operand of its last instruction, a far jump.
 */
struct native_handover {
	uint32_t eip;
	uint16_t code_selector;
	uint16_t data_selector;
	struct table_pointer32 gdt;
	struct table_pointer32 idt;
	uint32_t eax, ebx, esi;
} __attribute__((packed));

_Static_assert(offsetof(struct native_handover, data_selector) == 6, "native_entry.asm");
_Static_assert(offsetof(struct native_handover, gdt) == 8, "native_entry.asm");
_Static_assert(offsetof(struct native_handover, idt) == 14, "native_entry.asm");
_Static_assert(offsetof(struct native_handover, code_selector) == 4, "native_entry.asm");
_Static_assert(offsetof(struct native_handover, eax) == 20, "native_entry.asm");
_Static_assert(offsetof(struct native_handover, ebx) == 24, "native_entry.asm");
_Static_assert(offsetof(struct native_handover, esi) == 28, "native_entry.asm");

static struct native_handover handover_for(const struct guest_entry *entry)
{
	return (struct native_handover){
		.eip = entry->eip,
		.code_selector = entry->code_selector,
		.data_selector = entry->data_selector,
		.gdt = {entry->gdt_limit, entry->gdt_base},
		.eax = entry->eax,
		.ebx = entry->ebx,
		.esi = entry->esi,
	};
}

/* The page stays Vellum's after the jump: the guest's memory map leaves it out. */
int launch_native(const struct guest_entry *entry)
{
	uint64_t size = (uint64_t)(native_trampoline_end - native_trampoline);
	struct native_handover handover = handover_for(entry);
	void (*trampoline)(uint64_t handover, uint64_t code_selector);
	hpa_t page;
	int error = frames_allocate(1, 1, &page);

	if (!error)
		error = image_map_identity(page);
	if (error)
		return error;
	memcpy(phys_to_virt(page), native_trampoline, size);
	memcpy(phys_to_virt(hpa(page.raw + size)), &handover, sizeof(handover));
	trampoline = (void (*)(uint64_t, uint64_t))page.raw;
	trampoline(page.raw + size, CODE32_SELECTOR);
	__builtin_unreachable();
}
