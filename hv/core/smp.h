/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several processors: Vellum starts all that the machine has; the guest gets some of them,
 * and starts these by INIT and STARTUP as it would on the bare machine.
 *
 * On VT-x both of them exit on the processor that they reach. AMD-V has no exit for
 * STARTUP; there INIT takes the processor out of Vellum, and the sender's command register
 * is caught, so that what follows leads the processor back into Vellum (docs/smp.md).
 */
#ifndef VELLUM_CORE_SMP_H
#define VELLUM_CORE_SMP_H

#include "core/boot_info.h"
#include "core/vcpu.h"
#include "guest/e820.h"
#include "lib/types.h"

struct vmi_ap_state;

/* Finds the processors in the MADT, before anything is taken out of that. */
void smp_find_processors(void);

/*
 * Takes a page below 1 MiB out of the guest's map, for processors to start in, if the
 * machine has more than one. Without such a page only the boot processor is used.
 */
void smp_take_page(const struct boot_info *boot, struct e820_map *guest_map);

/* How many processors can be used. */
unsigned int smp_present_count(void);

/* The guest gets the first count of the processors, as far as there are so many; at least 1. */
void smp_give(unsigned int count);

/* How many the guest has; those that did not start included. */
unsigned int smp_guest_count(void);

/* Fills the page that processors start in, before the nested page tables are made. -ENOMEM. */
int smp_prepare(void);

/*
 * Starts every processor but this one. The guest's wait for its STARTUP then, the others
 * halt. One that does not come is named on the console. -ENOMEM.
 */
int smp_start(void);

/*
 * The guest writes command to its APIC's command register, the destination in the upper
 * half. True: it was an INIT or STARTUP, and all is done; false: the hardware has to see it.
 */
bool smp_write_command(uint64_t command);

/*
 * The processor's next STARTUP starts it in this state (VMI call 62), whatever page that
 * names. -ENODEV: the guest has no such processor.
 */
int smp_set_ap_state(uint32_t apic_id, const struct vmi_ap_state *state);

/* For the last words: no other processor runs the guest from here on. */
void smp_stop_others(void);

#endif
