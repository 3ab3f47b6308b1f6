// SPDX-License-Identifier: GPL-2.0-only
#include "vmi/apic.h"

#include <stdatomic.h>

#include "vmi/vmi.h"

#define APIC_BASE_X2APIC  BIT(10)
#define APIC_BASE_ENABLED BIT(11)
#define APIC_BASE_ADDRESS 0x000ffffffffff000ull
#define APIC_BASE_WHERE	  (APIC_BASE_ADDRESS | APIC_BASE_ENABLED | APIC_BASE_X2APIC)

/* In the ROM's data page, which the guest may write: what it says there harms the guest alone. */
static _Atomic(uint32_t) *told;
static atomic_bool moved;

bool vmi_apic_is_at_window(uint64_t base)
{
	return (base & APIC_BASE_WHERE) == (VMI_APIC_PAGE | APIC_BASE_ENABLED);
}

static void tell(void)
{
	if (told && atomic_load(&moved))
		atomic_store(told, 1);
}

void vmi_apic_set_data(uint8_t *page)
{
	told = (_Atomic(uint32_t) *)(void *)(page + VMI_ROM_APIC_MOVED);
	tell();
}

void vmi_apic_note_base(uint64_t base)
{
	if (!vmi_apic_is_at_window(base))
		atomic_store(&moved, true);
	tell();
}
