/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VMCS in an array. A test includes this before the module's source, whose VMREAD and
 * VMWRITE then come here. Fields are as wide as their encoding says; one that only the
 * processor may write is no module's to write.
 */
#ifndef VELLUM_TESTS_UNIT_FAKE_VMCS_H
#define VELLUM_TESTS_UNIT_FAKE_VMCS_H

#define vmread	vmread_of_the_processor
#define vmwrite vmwrite_of_the_processor
#include "vmx/vmcs.h"
#undef vmread
#undef vmwrite

#define VMCS_FIELDS 0x7000u

static uint64_t vmcs[VMCS_FIELDS];
static unsigned int vmcs_writes;

/* Field encodings: SDM volume 3C, 25.11.2 */
static uint64_t vmcs_field_mask(uint32_t field)
{
	switch (field >> 13 & 3) {
	case 0:
		return UINT16_MAX;
	case 2:
		return UINT32_MAX;
	default:
		return UINT64_MAX;
	}
}

static inline uint64_t vmread(enum vmcs_field field)
{
	assert_true(field < VMCS_FIELDS);
	return vmcs[field];
}

static inline void vmwrite(enum vmcs_field field, uint64_t value)
{
	assert_true(field < VMCS_FIELDS);
	assert_int_not_equal(field >> 10 & 3, 1); /* read-only */
	vmcs[field] = value & vmcs_field_mask(field);
	vmcs_writes++;
}

static inline uint64_t *vmcs_segment(enum vmcs_field of_es, enum vmcs_segment segment)
{
	return &vmcs[segment_field(of_es, segment)];
}

#endif
