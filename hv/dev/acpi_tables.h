/* SPDX-License-Identifier: GPL-2.0-only */
/* The ACPI tables that Vellum reads, as far as it reads them. Sections are of ACPI 6.4. */
#ifndef VELLUM_DEV_ACPI_TABLES_H
#define VELLUM_DEV_ACPI_TABLES_H

#include "lib/types.h"

/* 5.2.5.3: root pointer */
#define ACPI_RSDP_SIGNATURE	 "RSD PTR "
#define ACPI_RSDP_SIGNATURE_SIZE 8
#define ACPI_RSDP_V1_SIZE	 20 /* what checksum covers */
#define ACPI_RSDP_HAS_XSDT	 2  /* from this revision on */

struct acpi_rsdp {
	char signature[ACPI_RSDP_SIGNATURE_SIZE];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length; /* from here on since revision 2 */
	uint64_t xsdt;
	uint8_t extended_checksum;
	uint8_t reserved[3];
} __attribute__((packed));

_Static_assert(sizeof(struct acpi_rsdp) == 36, "RSDP");

/* 5.2.6: what every other table starts with. All bytes of a table sum up to 0 */
#define ACPI_SIGNATURE_SIZE 4

struct acpi_header {
	char signature[ACPI_SIGNATURE_SIZE];
	uint32_t length; /* of the table, this header included */
	uint8_t revision;
	uint8_t checksum;
	char oem_id[6];
	char oem_table_id[8];
	uint32_t oem_revision;
	uint32_t creator_id;
	uint32_t creator_revision;
} __attribute__((packed));

_Static_assert(sizeof(struct acpi_header) == 36, "table header");

/* 5.2.3.2: generic address structure */
enum acpi_space {
	ACPI_SPACE_MEMORY = 0,
	ACPI_SPACE_IO = 1,
	ACPI_SPACE_PCI_CONFIG = 2,
};

struct acpi_address {
	uint8_t space; /* enum acpi_space */
	uint8_t bit_width;
	uint8_t bit_offset;
	uint8_t access_size;
	uint64_t address;
} __attribute__((packed));

/* 5.2.9: fixed description table */
#define ACPI_FADT_SIGNATURE "FACP"
#define ACPI_FADT_RESET_REG BIT(10) /* flags: reset_register is there */

struct acpi_fadt {
	struct acpi_header header;
	uint8_t unused1[4];
	uint32_t dsdt; /* 40: physical address */
	uint8_t unused2[4];
	uint32_t smi_command; /* 48: port; 0: ACPI is always on */
	uint8_t acpi_enable;  /* what to write there to turn it on */
	uint8_t unused3[11];
	uint32_t pm1a_control; /* 64: port of the PM1a control block */
	uint32_t pm1b_control; /* 0: there is none */
	uint8_t unused4[4];
	uint32_t pm_timer; /* 76: port */
	uint8_t unused5[28];
	uint8_t century; /* 108: CMOS index, 0: there is none */
	uint8_t unused6[3];
	uint32_t flags; /* 112 */
	struct acpi_address reset_register;
	uint8_t reset_value; /* 128 */
	uint8_t unused7[11];
	uint64_t x_dsdt; /* 140: goes before dsdt */
	uint8_t unused8[24];
	struct acpi_address x_pm1a_control; /* 172: goes before the field above */
	struct acpi_address x_pm1b_control;
	uint8_t unused9[12];
	struct acpi_address x_pm_timer; /* 208 */
} __attribute__((packed));

_Static_assert(offsetof(struct acpi_fadt, dsdt) == 40, "FADT");
_Static_assert(offsetof(struct acpi_fadt, smi_command) == 48, "FADT");
_Static_assert(offsetof(struct acpi_fadt, pm1a_control) == 64, "FADT");
_Static_assert(offsetof(struct acpi_fadt, pm_timer) == 76, "FADT");
_Static_assert(offsetof(struct acpi_fadt, century) == 108, "FADT");
_Static_assert(offsetof(struct acpi_fadt, flags) == 112, "FADT");
_Static_assert(offsetof(struct acpi_fadt, reset_value) == 128, "FADT");
_Static_assert(offsetof(struct acpi_fadt, x_dsdt) == 140, "FADT");
_Static_assert(offsetof(struct acpi_fadt, x_pm1a_control) == 172, "FADT");
_Static_assert(offsetof(struct acpi_fadt, x_pm_timer) == 208, "FADT");

/* 4.8.3.2: PM1 control */
#define ACPI_PM1_SCI_EN	       BIT(0) /* ACPI is on */
#define ACPI_PM1_SLP_TYP_SHIFT 10
#define ACPI_PM1_SLP_TYP       (7u << ACPI_PM1_SLP_TYP_SHIFT)
#define ACPI_PM1_SLP_EN	       BIT(13)

/* 5.2.12: processors and interrupt controllers */
#define ACPI_MADT_SIGNATURE "APIC"

struct acpi_madt {
	struct acpi_header header;
	uint32_t local_apic;
	uint32_t flags;
} __attribute__((packed));

struct acpi_madt_entry {
	uint8_t type;
	uint8_t length; /* this header included */
} __attribute__((packed));

#define ACPI_MADT_LOCAL_APIC   0
#define ACPI_MADT_LOCAL_X2APIC 9

#define ACPI_CPU_ENABLED BIT(0) /* table 5.47: flags of both kinds of processor */

struct acpi_local_apic {
	struct acpi_madt_entry entry;
	uint8_t processor_uid;
	uint8_t apic_id;
	uint32_t flags;
} __attribute__((packed));

struct acpi_local_x2apic {
	struct acpi_madt_entry entry;
	uint16_t reserved;
	uint32_t apic_id;
	uint32_t flags;
	uint32_t processor_uid;
} __attribute__((packed));

#endif
