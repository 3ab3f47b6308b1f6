/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VELLUM_CORE_POWER_H
#define VELLUM_CORE_POWER_H

/* Ports that reset a PC, and have done so since before ACPI */
#define PORT_KEYBOARD_COMMAND 0x64
#define PORT_RESET_CONTROL    0xcf9 /* PIIX and later */

/* Resets the machine, by every way that a PC has, one after the other. */
_Noreturn void power_reset(void);

#endif
