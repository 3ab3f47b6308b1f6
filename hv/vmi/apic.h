/* SPDX-License-Identifier: GPL-2.0-only */
/* What the ROM's APIC calls (63, 64) have to know of the machine. */
#ifndef VELLUM_VMI_APIC_H
#define VELLUM_VMI_APIC_H

#include "lib/types.h"

/* Where the local APIC is unless somebody moves it: SDM volume 3A, 11.4.1 */
#define VMI_APIC_PAGE 0xfee00000u

/* True if an APIC with this APIC_BASE is what the ROM's window shows. */
bool vmi_apic_is_at_window(uint64_t base);

/* Where the ROM's data page is. Before it is known, notes are kept. */
void vmi_apic_set_data(uint8_t *page);

/*
 * Some processor of the guest has this APIC_BASE, or is about to. From the first one on that is
 * not at the window, the ROM looks at APIC_BASE in each call.
 */
void vmi_apic_note_base(uint64_t base);

#endif
