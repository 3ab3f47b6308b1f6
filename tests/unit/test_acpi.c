// SPDX-License-Identifier: GPL-2.0-only
/* ACPI tables in an arena: found only where, and only as far as, they are whole. */
#include "support.h"

#include "dev/acpi.h"
#include "lib/errno.h"

#include <string.h>

#define ARENA_SIZE (2 * MIB)
#define RSDP_AT	   0xf0010
#define RSDT_AT	   0x100000
#define XSDT_AT	   0x101000
#define FADT_AT	   0x102000
#define MADT_AT	   0x103000
#define DSDT_AT	   0x104000
#define EBDA_AT	   0x9fc00
#define MADT_MAX   1024

static void fix_checksum(void *start, size_t size, uint8_t *checksum)
{
	uint8_t *byte = start;
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += byte[i];
	*checksum -= sum;
}

static void fix_table(uint64_t address)
{
	struct acpi_header *table = arena_at(address);

	fix_checksum(table, table->length, &table->checksum);
}

static struct acpi_rsdp *put_rsdp(uint64_t address, uint8_t revision)
{
	struct acpi_rsdp *rsdp = arena_at(address);

	memset(rsdp, 0, sizeof(*rsdp));
	memcpy(rsdp->signature, "RSD PTR ", 8);
	rsdp->revision = revision;
	rsdp->rsdt = RSDT_AT;
	if (revision >= 2) {
		rsdp->length = sizeof(*rsdp);
		rsdp->xsdt = XSDT_AT;
	}
	fix_checksum(rsdp, ACPI_RSDP_V1_SIZE, &rsdp->checksum);
	fix_checksum(rsdp, sizeof(*rsdp), &rsdp->extended_checksum);
	return rsdp;
}

static struct acpi_header *put_table(uint64_t address, const char *signature, const void *body,
				     size_t body_size)
{
	struct acpi_header *table = arena_at(address);

	memset(table, 0, sizeof(*table));
	memcpy(table->signature, signature, 4);
	table->length = (uint32_t)(sizeof(*table) + body_size);
	memmove(table + 1, body, body_size);
	fix_table(address);
	return table;
}

static void put_roots(void)
{
	uint32_t rsdt[] = {0, FADT_AT, MADT_AT};
	uint64_t xsdt[] = {FADT_AT, MADT_AT};

	put_table(RSDT_AT, "RSDT", rsdt, sizeof(rsdt));
	put_table(XSDT_AT, "XSDT", xsdt, sizeof(xsdt));
}

static struct acpi_fadt *put_fadt(size_t size)
{
	struct acpi_fadt fadt = {
		.pm1a_control = 0x604,
		.flags = ACPI_FADT_RESET_REG,
		.reset_register = {.space = ACPI_SPACE_IO, .bit_width = 8, .address = 0xcf9},
		.reset_value = 0x0f,
		.x_pm1a_control = {.space = ACPI_SPACE_IO, .bit_width = 16, .address = 0x1804},
	};

	put_table(FADT_AT, "FACP", (uint8_t *)&fadt + sizeof(fadt.header),
		  size - sizeof(fadt.header));
	return arena_at(FADT_AT);
}

static uint8_t madt[MADT_MAX];
static size_t madt_size;

static void madt_begin(void)
{
	madt_size = sizeof(struct acpi_madt) - sizeof(struct acpi_header);
	memset(madt, 0, sizeof(madt));
}

static void madt_add(const void *entry, size_t size)
{
	memcpy(madt + madt_size, entry, size);
	madt_size += size;
}

static void madt_add_apic(uint8_t id, uint32_t flags)
{
	struct acpi_local_apic apic = {{ACPI_MADT_LOCAL_APIC, 8}, id, id, flags};

	madt_add(&apic, sizeof(apic));
}

static void madt_add_x2apic(uint32_t id, uint32_t flags)
{
	struct acpi_local_x2apic apic = {{ACPI_MADT_LOCAL_X2APIC, 16}, 0, id, flags, id};

	madt_add(&apic, sizeof(apic));
}

static void madt_add_ioapic(void)
{
	uint8_t ioapic[12] = {1, 12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	madt_add(ioapic, sizeof(ioapic));
}

static struct acpi_header *madt_end(void)
{
	return put_table(MADT_AT, "APIC", madt, madt_size);
}

static int setup(void **state)
{
	(void)state;
	arena_create(ARENA_SIZE);
	put_rsdp(RSDP_AT, 0);
	put_roots();
	put_fadt(sizeof(struct acpi_fadt));
	madt_begin();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free();
	return 0;
}

static void rsdp_in_the_bios_area(void **state)
{
	(void)state;
	assert_int_equal(acpi_find_rsdp().raw, RSDP_AT);
	((struct acpi_rsdp *)arena_at(RSDP_AT))->checksum++;
	assert_int_equal(acpi_find_rsdp().raw, 0);
	put_rsdp(0xffff0 - 16, 0); /* the last place where a pointer fits */
	assert_int_equal(acpi_find_rsdp().raw, 0xffff0 - 16);
}

static void rsdp_in_the_ebda_goes_first(void **state)
{
	uint16_t segment = EBDA_AT >> 4;

	(void)state;
	memcpy(arena_at(0x40e), &segment, sizeof(segment));
	assert_int_equal(acpi_find_rsdp().raw, RSDP_AT);
	put_rsdp(EBDA_AT + KIB, 0); /* one step behind what is searched */
	assert_int_equal(acpi_find_rsdp().raw, RSDP_AT);
	put_rsdp(EBDA_AT + 0x3c0, 0);
	assert_int_equal(acpi_find_rsdp().raw, EBDA_AT + 0x3c0);
}

static void rsdp_only_on_16_byte_boundaries(void **state)
{
	(void)state;
	memset(arena_at(RSDP_AT), 0, sizeof(struct acpi_rsdp));
	put_rsdp(RSDP_AT + 8, 0);
	assert_int_equal(acpi_find_rsdp().raw, 0);
}

static void tables_by_the_rsdt(void **state)
{
	(void)state;
	assert_ptr_equal(acpi_find_table("FACP"), arena_at(FADT_AT));
	assert_null(acpi_find_table("HPET"));
	((struct acpi_header *)arena_at(RSDT_AT))->checksum++;
	assert_null(acpi_find_table("FACP"));
}

static void tables_by_the_xsdt_if_there_is_one(void **state)
{
	(void)state;
	put_rsdp(RSDP_AT, 2);
	put_table(RSDT_AT, "RSDT", "", 0);
	assert_ptr_equal(acpi_find_table("FACP"), arena_at(FADT_AT));
}

static void a_broken_xsdt_falls_back_to_the_rsdt(void **state)
{
	struct acpi_rsdp *rsdp;

	(void)state;
	put_rsdp(RSDP_AT, 2)->extended_checksum++;
	put_table(XSDT_AT, "XSDT", "", 0);
	assert_ptr_equal(acpi_find_table("FACP"), arena_at(FADT_AT));
	rsdp = put_rsdp(RSDP_AT, 2);
	rsdp->length = 40; /* not what the checksum was made over */
	fix_checksum(rsdp, sizeof(*rsdp), &rsdp->extended_checksum);
	assert_ptr_equal(acpi_find_table("FACP"), arena_at(FADT_AT));
	put_rsdp(RSDP_AT, 2);
	((struct acpi_header *)arena_at(XSDT_AT))->checksum++;
	assert_ptr_equal(acpi_find_table("FACP"), arena_at(FADT_AT));
}

static void tables_out_of_memory_are_not_there(void **state)
{
	struct acpi_header *fadt = arena_at(FADT_AT);
	uint32_t rsdt[] = {0xfffffff0u, ARENA_SIZE - 16, ARENA_SIZE, FADT_AT};

	(void)state;
	put_table(RSDT_AT, "RSDT", rsdt, sizeof(rsdt));
	assert_ptr_equal(acpi_find_table("FACP"), fadt);
	fadt->length = 35;
	fix_table(FADT_AT);
	assert_null(acpi_find_table("FACP"));
	fadt->length = 0xffffffffu;
	assert_null(acpi_find_table("FACP"));
	fadt->length = ARENA_SIZE - FADT_AT + 1;
	assert_null(acpi_find_table("FACP"));
}

static void power_prefers_the_extended_fields(void **state)
{
	struct acpi_power power;

	(void)state;
	assert_int_equal(acpi_read_power(&power), 0);
	assert_int_equal(power.pm1a_control, 0x1804);
	assert_int_equal(power.pm1b_control, 0);
	assert_true(power.has_reset);
	assert_int_equal(power.reset.space, ACPI_SPACE_IO);
	assert_int_equal(power.reset.address, 0xcf9);
	assert_int_equal(power.reset_value, 0x0f);
}

static void power_from_an_acpi_1_table(void **state)
{
	struct acpi_power power;

	(void)state;
	put_fadt(116); /* ends behind flags: what follows in memory is not the table's */
	memset(arena_at(FADT_AT + 116), 0xff, 200);
	assert_int_equal(acpi_read_power(&power), 0);
	assert_int_equal(power.pm1a_control, 0x604);
	assert_int_equal(power.pm1b_control, 0);
	assert_false(power.has_reset);
}

static void power_ignores_what_is_no_port(void **state)
{
	struct acpi_fadt *fadt = arena_at(FADT_AT);
	struct acpi_power power;

	(void)state;
	fadt->x_pm1a_control.space = ACPI_SPACE_MEMORY;
	fadt->pm1b_control = 0x12345;
	fadt->flags = 0;
	fix_table(FADT_AT);
	assert_int_equal(acpi_read_power(&power), 0);
	assert_int_equal(power.pm1a_control, 0x604);
	assert_int_equal(power.pm1b_control, 0);
	assert_false(power.has_reset);
	fadt->x_pm1a_control.space = ACPI_SPACE_IO;
	fadt->x_pm1a_control.address = 0x11804;
	fix_table(FADT_AT);
	assert_int_equal(acpi_read_power(&power), 0);
	assert_int_equal(power.pm1a_control, 0x604);
}

/* A DSDT of these bytes, named by the FADT. */
static void put_dsdt(const void *aml, size_t size)
{
	struct acpi_fadt *fadt = arena_at(FADT_AT);

	put_table(DSDT_AT, "DSDT", aml, size);
	fadt->dsdt = DSDT_AT;
	fadt->smi_command = 0xb2;
	fadt->acpi_enable = 0xf1;
	fix_table(FADT_AT);
}

static void soft_off_is_read_from_the_dsdt(void **state)
{
	static const uint8_t aml[] = {
		0x10, 0x20, '_', 'S', '5', '_',	 0x00,		   /* no package: some other use */
		0x08, '_',  'S', '4', '_', 0x12, 0x04, 2, 1,	1, /* another state */
		0x08, '_',  'S', '5', '_', 0x12, 0x08, 4, 0x0a, 5, 0x0a, 7, 0, 0,
	};
	struct acpi_power power;

	(void)state;
	put_dsdt(aml, sizeof(aml));
	assert_int_equal(acpi_read_power(&power), 0);
	assert_true(power.has_soft_off);
	assert_int_equal(power.soft_off_a, 5);
	assert_int_equal(power.soft_off_b, 7);
	assert_int_equal(power.smi_command, 0xb2);
	assert_int_equal(power.acpi_enable, 0xf1);
}

static void soft_off_with_a_long_package_and_short_integers(void **state)
{
	static const uint8_t aml[] = {0x08, '_', 'S', '5', '_', 0x12, 0x46, 0x00, 2, 0x00, 0x01};
	struct acpi_power power;

	(void)state;
	put_dsdt(aml, sizeof(aml));
	assert_int_equal(acpi_read_power(&power), 0);
	assert_true(power.has_soft_off);
	assert_int_equal(power.soft_off_a, 0);
	assert_int_equal(power.soft_off_b, 1);
}

/* Cut anywhere, or with what is no sleep type: no soft off, and nothing beyond the end read. */
static void a_broken_s5_is_none(void **state)
{
	static const uint8_t whole[] = {0x08, '_', 'S', '5', '_', 0x12, 0x06, 2, 0x0a, 5, 0x0a, 5};
	static const uint8_t wide[] = {0x08, '_', 'S', '5', '_', 0x12, 0x06, 2, 0x0a, 8, 0x0a, 5};
	static const uint8_t word[] = {0x08, '_', 'S', '5', '_', 0x12, 0x06, 2, 0x0b, 5, 0, 0};
	struct acpi_power power;

	(void)state;
	for (size_t size = 0; size < 9; size++) {
		put_dsdt(whole, size);
		memset(arena_at(DSDT_AT + sizeof(struct acpi_header) + size), 0x0a, 32);
		assert_int_equal(acpi_read_power(&power), 0);
		assert_int_equal(power.has_soft_off, size > 5); /* the end reads as 0 */
		assert_int_equal(power.soft_off_a, 0);
	}
	put_dsdt(wide, sizeof(wide));
	assert_int_equal(acpi_read_power(&power), 0);
	assert_false(power.has_soft_off);
	put_dsdt(word, sizeof(word));
	assert_int_equal(acpi_read_power(&power), 0);
	assert_false(power.has_soft_off);
}

static void clocks_are_read_from_the_fadt(void **state)
{
	struct acpi_fadt *fadt = arena_at(FADT_AT);
	struct acpi_clocks clocks;

	(void)state;
	assert_int_equal(acpi_read_clocks(&clocks), 0);
	assert_int_equal(clocks.pm_timer, 0);
	assert_int_equal(clocks.century, 0);
	fadt->pm_timer = 0x608;
	fadt->century = 0x32;
	fix_table(FADT_AT);
	assert_int_equal(acpi_read_clocks(&clocks), 0);
	assert_int_equal(clocks.pm_timer, 0x608);
	assert_int_equal(clocks.century, 0x32);
	fadt->x_pm_timer = (struct acpi_address){.space = ACPI_SPACE_IO, .address = 0x1808};
	fix_table(FADT_AT);
	assert_int_equal(acpi_read_clocks(&clocks), 0);
	assert_int_equal(clocks.pm_timer, 0x1808);
	memset(arena_at(RSDP_AT), 0, sizeof(struct acpi_rsdp));
	assert_int_equal(acpi_read_clocks(&clocks), -ENODEV);
	assert_int_equal(clocks.pm_timer, 0);
}

static void no_tables_no_power(void **state)
{
	struct acpi_power power = {.pm1a_control = 1, .has_reset = true};

	(void)state;
	memset(arena_at(RSDP_AT), 0, sizeof(struct acpi_rsdp));
	assert_int_equal(acpi_read_power(&power), -ENODEV);
	assert_int_equal(power.pm1a_control, 0);
	assert_false(power.has_reset);
	assert_int_equal(acpi_count_cpus(), 0);
	assert_int_equal(acpi_list_cpus(0, NULL, 4), 0);
	assert_int_equal(acpi_disable_cpus(1, 0), -ENODEV);
}

static void counts_enabled_processors_of_both_kinds(void **state)
{
	(void)state;
	madt_add_apic(0, 1);
	madt_add_ioapic();
	madt_add_apic(1, 0);
	madt_add_apic(2, 2);
	madt_add_x2apic(300, 1);
	madt_add_x2apic(301, 3);
	madt_end();
	assert_int_equal(acpi_count_cpus(), 3);
}

static void processors_are_listed_in_the_tables_order_without_the_boot_processor(void **state)
{
	uint32_t ids[8];

	(void)state;
	madt_add_apic(4, 1);
	madt_add_ioapic();
	madt_add_apic(0, 1);
	madt_add_apic(5, 0); /* not there */
	madt_add_apic(6, 2); /* may come later */
	madt_add_x2apic(300, 1);
	madt_add_apic(2, 3);
	madt_end();
	memset(ids, 0xa5, sizeof(ids));
	assert_int_equal(acpi_list_cpus(0, ids, ARRAY_SIZE(ids)), 3);
	assert_int_equal(ids[0], 4);
	assert_int_equal(ids[1], 300);
	assert_int_equal(ids[2], 2);
	assert_int_equal(ids[3], 0xa5a5a5a5);
	assert_int_equal(acpi_list_cpus(300, ids, ARRAY_SIZE(ids)), 3);
	assert_int_equal(ids[1], 0);
	assert_int_equal(acpi_list_cpus(7, ids, ARRAY_SIZE(ids)), 4); /* is not in the table */
}

static void no_more_processors_are_listed_than_there_is_room_for(void **state)
{
	uint32_t ids[3];

	(void)state;
	for (uint8_t id = 0; id < 10; id++)
		madt_add_apic(id, 1);
	madt_end();
	memset(ids, 0xa5, sizeof(ids));
	assert_int_equal(acpi_list_cpus(0, ids, 2), 2);
	assert_int_equal(ids[1], 2);
	assert_int_equal(ids[2], 0xa5a5a5a5);
	assert_int_equal(acpi_list_cpus(0, ids, 0), 0);
}

static void a_broken_entry_ends_the_table(void **state)
{
	uint8_t zero_length[2] = {0, 0};
	uint8_t beyond_end[2] = {0, 8};
	uint8_t too_short[4] = {0, 4, 0, 0};
	uint32_t ids[4];

	(void)state;
	madt_add_apic(0, 1);
	madt_add(too_short, sizeof(too_short)); /* skipped: no room for flags */
	madt_add_apic(1, 1);
	madt_add(zero_length, sizeof(zero_length));
	madt_add_apic(2, 1);
	madt_end();
	assert_int_equal(acpi_count_cpus(), 2);
	assert_int_equal(acpi_list_cpus(0, ids, ARRAY_SIZE(ids)), 1);
	madt_begin();
	madt_add_apic(0, 1);
	madt_add(beyond_end, sizeof(beyond_end));
	madt_end();
	memset(arena_at(MADT_AT + sizeof(struct acpi_header) + madt_size), 1, 8);
	assert_int_equal(acpi_count_cpus(), 1);
}

static void a_madt_without_room_for_entries(void **state)
{
	(void)state;
	put_table(MADT_AT, "APIC", madt, 4);
	assert_int_equal(acpi_count_cpus(), 0);
	madt_end();
	assert_int_equal(acpi_count_cpus(), 0);
}

/* The table's entries must be those that the test has put into madt[] since madt_begin. */
static void assert_entries(void)
{
	struct acpi_header *table = acpi_find_table("APIC"); /* if its checksum is right */

	assert_non_null(table);
	assert_int_equal(table->length, sizeof(*table) + madt_size);
	assert_memory_equal(table + 1, madt, madt_size);
}

static void the_boot_processor_stays_wherever_it_is_listed(void **state)
{
	(void)state;
	madt_add_apic(0, 1);
	madt_add_ioapic();
	madt_add_apic(1, 1);
	madt_add_x2apic(2, 3);
	madt_add_apic(3, 1 | 0x100);
	madt_add_ioapic();
	madt_end();
	assert_int_equal(acpi_disable_cpus(2, 3), 2);
	madt_begin();
	madt_add_apic(0, 1);
	madt_add_ioapic();
	madt_add_apic(3, 1 | 0x100);
	madt_add_ioapic();
	assert_entries();
	assert_int_equal(acpi_disable_cpus(1, 3), 1);
	madt_begin();
	madt_add_ioapic();
	madt_add_apic(3, 1 | 0x100);
	madt_add_ioapic();
	assert_entries();
}

/* Vellum would not see a processor that comes later by itself. */
static void those_that_are_not_enabled_go_in_any_case(void **state)
{
	(void)state;
	madt_add_apic(0, 1);
	madt_add_apic(1, 2);
	madt_add_apic(2, 0);
	madt_add_x2apic(256, 1);
	madt_end();
	assert_int_equal(acpi_disable_cpus(8, 0), 2);
	madt_begin();
	madt_add_apic(0, 1);
	madt_add_x2apic(256, 1);
	assert_entries();
}

static void an_unlisted_boot_processor_takes_no_place(void **state)
{
	(void)state;
	madt_add_apic(0, 1);
	madt_add_apic(1, 1);
	madt_end();
	assert_int_equal(acpi_disable_cpus(1, 7), 1);
	madt_begin();
	madt_add_apic(0, 1);
	assert_entries();
}

#define with_setup(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_setup(rsdp_in_the_bios_area),
		with_setup(rsdp_in_the_ebda_goes_first),
		with_setup(rsdp_only_on_16_byte_boundaries),
		with_setup(tables_by_the_rsdt),
		with_setup(tables_by_the_xsdt_if_there_is_one),
		with_setup(a_broken_xsdt_falls_back_to_the_rsdt),
		with_setup(tables_out_of_memory_are_not_there),
		with_setup(power_prefers_the_extended_fields),
		with_setup(power_from_an_acpi_1_table),
		with_setup(power_ignores_what_is_no_port),
		with_setup(soft_off_is_read_from_the_dsdt),
		with_setup(soft_off_with_a_long_package_and_short_integers),
		with_setup(a_broken_s5_is_none),
		with_setup(clocks_are_read_from_the_fadt),
		with_setup(no_tables_no_power),
		with_setup(counts_enabled_processors_of_both_kinds),
		with_setup(processors_are_listed_in_the_tables_order_without_the_boot_processor),
		with_setup(no_more_processors_are_listed_than_there_is_room_for),
		with_setup(a_broken_entry_ends_the_table),
		with_setup(a_madt_without_room_for_entries),
		with_setup(the_boot_processor_stays_wherever_it_is_listed),
		with_setup(those_that_are_not_enabled_go_in_any_case),
		with_setup(an_unlisted_boot_processor_takes_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
