// SPDX-License-Identifier: GPL-2.0-only
#include "dev/acpi.h"

#include "lib/errno.h"
#include "lib/string.h"
#include "mm/physmap.h"

/* Where the RSDP is searched */
#define EBDA_SEGMENT_AT 0x40e /* BIOS data area: real-mode segment of the EBDA */
#define EBDA_SEARCHED	KIB
#define BIOS_START	0xe0000
#define BIOS_END	0x100000
#define RSDP_ALIGN	16

#define PORT_LIMIT 0x10000

static hpa_t known_rsdp; /* 0: to be searched */

static bool is_mapped(uint64_t address, uint64_t size)
{
	return address < physmap_limit && size <= physmap_limit - address;
}

static uint8_t sum_bytes(const void *start, uint64_t size)
{
	const uint8_t *byte = start;
	uint8_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + byte[i]);
	return sum;
}

static bool is_rsdp(const struct acpi_rsdp *rsdp)
{
	return memcmp(rsdp->signature, ACPI_RSDP_SIGNATURE, ACPI_RSDP_SIGNATURE_SIZE) == 0 &&
	       sum_bytes(rsdp, ACPI_RSDP_V1_SIZE) == 0;
}

/* end is beyond the last byte to look at; hpa(0) if nothing is found. */
static hpa_t scan_for_rsdp(uint64_t start, uint64_t end)
{
	end = min_u64(end, physmap_limit);
	for (uint64_t at = start; at + ACPI_RSDP_V1_SIZE <= end; at += RSDP_ALIGN) {
		if (is_rsdp(phys_to_virt(hpa(at))))
			return hpa(at);
	}
	return hpa(0);
}

static uint64_t ebda_start(void)
{
	uint16_t segment;

	memcpy(&segment, phys_to_virt(hpa(EBDA_SEGMENT_AT)), sizeof(segment));
	return (uint64_t)segment << 4;
}

void acpi_set_rsdp(hpa_t rsdp)
{
	known_rsdp = rsdp;
}

static bool is_known_rsdp_right(void)
{
	return known_rsdp.raw != 0 && is_mapped(known_rsdp.raw, ACPI_RSDP_V1_SIZE) &&
	       is_rsdp(phys_to_virt(known_rsdp));
}

hpa_t acpi_find_rsdp(void)
{
	uint64_t ebda = ebda_start();
	hpa_t rsdp = hpa(0);

	if (is_known_rsdp_right())
		return known_rsdp;
	if (ebda != 0)
		rsdp = scan_for_rsdp(ebda, ebda + EBDA_SEARCHED);
	return rsdp.raw != 0 ? rsdp : scan_for_rsdp(BIOS_START, BIOS_END);
}

/* NULL if no whole table with a right checksum lies at the address. */
static struct acpi_header *table_at(uint64_t address)
{
	struct acpi_header *table = phys_to_virt(hpa(address));

	if (address == 0 || !is_mapped(address, sizeof(*table)))
		return NULL;
	if (table->length < sizeof(*table) || !is_mapped(address, table->length))
		return NULL;
	return sum_bytes(table, table->length) == 0 ? table : NULL;
}

static bool has_signature(const struct acpi_header *table, const char *signature)
{
	return memcmp(table->signature, signature, ACPI_SIGNATURE_SIZE) == 0;
}

/* root is the RSDT or XSDT: a header, then addresses of entry_size bytes each. */
static struct acpi_header *find_in_root(const struct acpi_header *root, size_t entry_size,
					const char *signature)
{
	const uint8_t *entries = (const uint8_t *)(root + 1);
	size_t count = (root->length - sizeof(*root)) / entry_size;

	for (size_t i = 0; i < count; i++) {
		uint64_t address = 0;
		struct acpi_header *table;

		memcpy(&address, entries + i * entry_size, entry_size);
		table = table_at(address);
		if (table != NULL && has_signature(table, signature))
			return table;
	}
	return NULL;
}

/* Revision 2 has a second checksum, over all of the pointer and so over xsdt. */
static bool has_xsdt(hpa_t address)
{
	const struct acpi_rsdp *rsdp = phys_to_virt(address);

	return rsdp->revision >= ACPI_RSDP_HAS_XSDT && is_mapped(address.raw, sizeof(*rsdp)) &&
	       rsdp->length == sizeof(*rsdp) && sum_bytes(rsdp, sizeof(*rsdp)) == 0;
}

struct acpi_header *acpi_find_table(const char signature[ACPI_SIGNATURE_SIZE])
{
	const struct acpi_rsdp *rsdp;
	const struct acpi_header *root;
	hpa_t address = acpi_find_rsdp();

	if (address.raw == 0)
		return NULL;
	rsdp = phys_to_virt(address);
	root = has_xsdt(address) ? table_at(rsdp->xsdt) : NULL;
	if (root != NULL && has_signature(root, "XSDT"))
		return find_in_root(root, sizeof(uint64_t), signature);
	root = table_at(rsdp->rsdt);
	if (root != NULL && has_signature(root, "RSDT"))
		return find_in_root(root, sizeof(uint32_t), signature);
	return NULL;
}

/* The extended field counts if it names an I/O port; else the old one, which may be 0. */
static uint16_t choose_port(uint32_t port, const struct acpi_address *extended)
{
	if (extended->space == ACPI_SPACE_IO && extended->address != 0 &&
	    extended->address < PORT_LIMIT)
		return (uint16_t)extended->address;
	return port < PORT_LIMIT ? (uint16_t)port : 0;
}

/* AML: ACPI 6.4, 20.2.3 and 20.2.5.4 */
#define AML_ZERO    0x00
#define AML_ONE	    0x01
#define AML_BYTE    0x0a
#define AML_PACKAGE 0x12
#define S5_NAME	    "_S5_"
#define S5_SIZE	    4

/* A part of a table that is still to be read; running over the end reads as 0. */
struct aml {
	const uint8_t *at, *end;
};

static uint8_t aml_byte(struct aml *aml)
{
	return aml->at < aml->end ? *aml->at++ : 0;
}

/* Its upper two bits tell how many bytes of length follow. */
static void aml_skip_package_length(struct aml *aml)
{
	for (unsigned int more = aml_byte(aml) >> 6; more > 0; more--)
		aml_byte(aml);
}

/* One of the short integers that a sleep type can be; -1 for anything else. */
static int aml_sleep_type(struct aml *aml)
{
	uint8_t prefix = aml_byte(aml);
	uint8_t value = prefix == AML_BYTE ? aml_byte(aml) : prefix;

	if (prefix != AML_ZERO && prefix != AML_ONE && prefix != AML_BYTE)
		return -1;
	return value <= ACPI_PM1_SLP_TYP >> ACPI_PM1_SLP_TYP_SHIFT ? value : -1;
}

/* 7.4.2: Name (\_S5, Package () { type for PM1a, type for PM1b, ... }) */
static void read_s5(struct aml aml, struct acpi_power *power)
{
	int a, b;

	if (aml_byte(&aml) != AML_PACKAGE)
		return;
	aml_skip_package_length(&aml);
	aml_byte(&aml); /* number of elements */
	a = aml_sleep_type(&aml);
	b = aml_sleep_type(&aml);
	if (a < 0 || b < 0)
		return;
	power->has_soft_off = true;
	power->soft_off_a = (uint8_t)a;
	power->soft_off_b = (uint8_t)b;
}

/* Vellum has no AML interpreter: it looks for the name, and for a package behind it. */
static void find_s5(const struct acpi_fadt *fadt, struct acpi_power *power)
{
	const struct acpi_header *dsdt = table_at(fadt->x_dsdt ? fadt->x_dsdt : fadt->dsdt);
	const uint8_t *start = (const uint8_t *)(dsdt + 1);

	if (dsdt == NULL)
		return;
	for (uint32_t i = 0; i + S5_SIZE <= dsdt->length - sizeof(*dsdt); i++)
		if (memcmp(start + i, S5_NAME, S5_SIZE) == 0)
			read_s5((struct aml){start + i + S5_SIZE,
					     (const uint8_t *)dsdt + dsdt->length},
				power);
}

/* An older, shorter table reads as if it had zeros behind its end. -ENODEV. */
static int read_fadt(struct acpi_fadt *fadt)
{
	const struct acpi_header *table = acpi_find_table(ACPI_FADT_SIGNATURE);

	memset(fadt, 0, sizeof(*fadt));
	if (table == NULL)
		return -ENODEV;
	memcpy(fadt, table, min_u64(table->length, sizeof(*fadt)));
	return 0;
}

int acpi_read_clocks(struct acpi_clocks *clocks)
{
	struct acpi_fadt fadt;
	int error = read_fadt(&fadt);

	clocks->pm_timer = choose_port(fadt.pm_timer, &fadt.x_pm_timer);
	clocks->century = fadt.century;
	return error;
}

int acpi_read_power(struct acpi_power *power)
{
	struct acpi_fadt fadt;

	memset(power, 0, sizeof(*power));
	if (read_fadt(&fadt))
		return -ENODEV;
	power->pm1a_control = choose_port(fadt.pm1a_control, &fadt.x_pm1a_control);
	power->pm1b_control = choose_port(fadt.pm1b_control, &fadt.x_pm1b_control);
	power->has_reset = (fadt.flags & ACPI_FADT_RESET_REG) && fadt.reset_register.address != 0;
	power->reset = fadt.reset_register;
	power->reset_value = fadt.reset_value;
	power->smi_command = fadt.smi_command < PORT_LIMIT ? (uint16_t)fadt.smi_command : 0;
	power->acpi_enable = fadt.acpi_enable;
	find_s5(&fadt, power);
	return 0;
}

/* The entry behind this one, or the first for NULL; NULL at the end, or where it is broken. */
static struct acpi_madt_entry *next_entry(struct acpi_madt *madt, struct acpi_madt_entry *entry)
{
	uint8_t *end = (uint8_t *)madt + madt->header.length;
	uint8_t *next = entry != NULL ? (uint8_t *)entry + entry->length : (uint8_t *)(madt + 1);
	size_t left = next < end ? (size_t)(end - next) : 0;

	entry = (struct acpi_madt_entry *)next;
	if (left < sizeof(*entry) || entry->length < sizeof(*entry) || entry->length > left)
		return NULL;
	return entry;
}

/* What an entry of either kind says of a processor; all zero if it is of something else. */
struct cpu_entry {
	bool is_cpu;
	uint32_t apic_id;
	uint32_t flags;
};

static struct cpu_entry read_cpu(const struct acpi_madt_entry *entry)
{
	const struct acpi_local_apic *apic = (const struct acpi_local_apic *)entry;
	const struct acpi_local_x2apic *x2apic = (const struct acpi_local_x2apic *)entry;

	if (entry->type == ACPI_MADT_LOCAL_APIC && entry->length >= sizeof(*apic))
		return (struct cpu_entry){true, apic->apic_id, apic->flags};
	if (entry->type == ACPI_MADT_LOCAL_X2APIC && entry->length >= sizeof(*x2apic))
		return (struct cpu_entry){true, x2apic->apic_id, x2apic->flags};
	return (struct cpu_entry){0};
}

static bool is_enabled(struct cpu_entry cpu)
{
	return cpu.is_cpu && (cpu.flags & ACPI_CPU_ENABLED);
}

static struct acpi_madt *find_madt(void)
{
	struct acpi_header *table = acpi_find_table(ACPI_MADT_SIGNATURE);

	if (table == NULL || table->length < sizeof(struct acpi_madt))
		return NULL;
	return (struct acpi_madt *)table;
}

unsigned int acpi_count_cpus(void)
{
	struct acpi_madt *madt = find_madt();
	struct acpi_madt_entry *entry = NULL;
	unsigned int count = 0;

	while (madt != NULL && (entry = next_entry(madt, entry)) != NULL)
		count += is_enabled(read_cpu(entry));
	return count;
}

unsigned int acpi_list_cpus(uint32_t boot_apic_id, uint32_t *ids, unsigned int max)
{
	struct acpi_madt *madt = find_madt();
	struct acpi_madt_entry *entry = NULL;
	unsigned int count = 0;

	while (madt != NULL && count < max && (entry = next_entry(madt, entry)) != NULL) {
		struct cpu_entry cpu = read_cpu(entry);

		if (is_enabled(cpu) && cpu.apic_id != boot_apic_id)
			ids[count++] = cpu.apic_id;
	}
	return count;
}

static bool lists_enabled(struct acpi_madt *madt, uint32_t apic_id)
{
	struct acpi_madt_entry *entry = NULL;

	while ((entry = next_entry(madt, entry)) != NULL) {
		struct cpu_entry cpu = read_cpu(entry);

		if (is_enabled(cpu) && cpu.apic_id == apic_id)
			return true;
	}
	return false;
}

/* others: how many of them may still stay. */
static bool stays(struct cpu_entry cpu, uint32_t boot_apic_id, unsigned int *others)
{
	if (!cpu.is_cpu || (is_enabled(cpu) && cpu.apic_id == boot_apic_id))
		return true;
	if (!is_enabled(cpu) || *others == 0)
		return false;
	(*others)--;
	return true;
}

/* Moves the entries that stay together; each overlaps the gap that it closes. */
static void remove_cpus(struct acpi_madt *madt, uint32_t boot_apic_id, unsigned int others)
{
	struct acpi_madt_entry *entry = next_entry(madt, NULL);
	uint8_t *end = (uint8_t *)(madt + 1);

	while (entry != NULL) {
		struct acpi_madt_entry *next = next_entry(madt, entry);
		uint8_t size = entry->length;

		if (stays(read_cpu(entry), boot_apic_id, &others)) {
			memmove(end, entry, size);
			end += size;
		}
		entry = next;
	}
	madt->header.length = (uint32_t)(end - (uint8_t *)madt);
}

int acpi_disable_cpus(unsigned int keep, uint32_t boot_apic_id)
{
	struct acpi_madt *madt = find_madt();
	unsigned int boot;

	if (madt == NULL)
		return -ENODEV;
	boot = lists_enabled(madt, boot_apic_id) ? 1 : 0;
	remove_cpus(madt, boot_apic_id, keep > boot ? keep - boot : 0);
	madt->header.checksum =
		(uint8_t)(madt->header.checksum - sum_bytes(madt, madt->header.length));
	return (int)acpi_count_cpus();
}
