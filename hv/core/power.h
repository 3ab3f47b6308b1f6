/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_POWER_H
#define VELLUM_CORE_POWER_H

/* Ports that reset a PC, and have done so since before ACPI */
#define PORT_KEYBOARD_COMMAND 0x64
#define PORT_RESET_CONTROL    0xcf9 /* PIIX and later */

/* Learns from ACPI how this machine is switched off. Once, before the guest runs. */
void power_init(void);

/* ACPI's state S5. Returns if the machine has none, or does not obey. */
void power_off(void);

/* Resets the machine, by every way that a PC has, one after the other. */
_Noreturn void power_reset(void);

#endif
