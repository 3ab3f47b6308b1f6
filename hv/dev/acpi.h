/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The little of ACPI that a hypervisor with one guest needs: which ports end the
 * machine's day, and how many processors the guest shall find. Tables are read in
 * place, through the physmap; one with a wrong length or checksum isn't there.
 */
#ifndef VELLUM_DEV_ACPI_H
#define VELLUM_DEV_ACPI_H

#include "dev/acpi_tables.h"
#include "lib/types.h"

/* Where the boot loader or UEFI says that the root pointer is; hpa(0): it does not say. */
void acpi_set_rsdp(hpa_t rsdp);

/*
 * The root pointer: where acpi_set_rsdp() was told, if one is there. Else that of a BIOS
 * machine: first KiB of the EBDA, then 0xe0000-0xfffff, on 16-byte boundaries (ACPI 6.4,
 * 5.2.5.1). hpa(0) if there is none.
 */
hpa_t acpi_find_rsdp(void);

/* The first table with this signature that the RSDT or XSDT lists; NULL if there is none. */
struct acpi_header *acpi_find_table(const char signature[ACPI_SIGNATURE_SIZE]);

/* How power-off and reset reach the machine (FADT). */
struct acpi_power {
	uint16_t pm1a_control;	   /* port of 2 bytes; 0: there is none */
	uint16_t pm1b_control;	   /* the same */
	bool has_reset;		   /* the two below are valid */
	struct acpi_address reset; /* of 1 byte, in memory, I/O or PCI space */
	uint8_t reset_value;
	uint16_t smi_command; /* port that turns ACPI on; 0: it always is */
	uint8_t acpi_enable;  /* written there */
	bool has_soft_off;    /* the two below are valid */
	uint8_t soft_off_a;   /* SLP_TYP of state S5 for PM1a control, 0 to 7 */
	uint8_t soft_off_b;   /* and for PM1b */
};

/* What tells the time (FADT). */
struct acpi_clocks {
	uint16_t pm_timer; /* port of 4 bytes; 0: there is none */
	uint8_t century;   /* CMOS index of the real-time clock's century; 0: it has none */
};

/* -ENODEV without a FADT; all 0 then. */
int acpi_read_clocks(struct acpi_clocks *clocks);

/* -ENODEV without a FADT. What the FADT lacks is 0 or false then, too. */
int acpi_read_power(struct acpi_power *power);

/* Processors that the MADT lists as enabled; 0 without a MADT. */
unsigned int acpi_count_cpus(void);

/*
 * Their APIC ids in the table's order, but for the boot processor's: at most max. Returns how
 * many there are in ids then.
 */
unsigned int acpi_list_cpus(uint32_t boot_apic_id, uint32_t *ids, unsigned int max);

/*
 * Leaves keep processors in the MADT, and takes all others out of it for good: the one
 * with boot_apic_id stays, then as many enabled ones as possible in the table's
 * order. keep is at least 1. Returns how many stay; -ENODEV without a MADT.
 *
 * Clearing the enabled bit would not do: Linux counts such processors as possible, and
 * takes them in later when the DSDT says that they are present.
 */
int acpi_disable_cpus(unsigned int keep, uint32_t boot_apic_id);

#endif
