/* SPDX-License-Identifier: GPL-2.0-only */
/* Segment registers in the current VMCS, in words that both vendors share: SDM volume 3C, 25.4.1.
 */
#ifndef VELLUM_VMX_SEGMENT_H
#define VELLUM_VMX_SEGMENT_H

#include "core/descriptor.h"
#include "vmx/vmx.h"

static inline struct guest_segment vmx_read_segment(enum vmcs_segment segment)
{
	uint64_t access = vmread(segment_field(VMCS_GUEST_ES_ACCESS, segment));

	return (struct guest_segment){
		.selector = (uint16_t)vmread(segment_field(VMCS_GUEST_ES_SELECTOR, segment)),
		.access = access & ACCESS_UNUSABLE ? 0 : (uint16_t)access,
		.limit = (uint32_t)vmread(segment_field(VMCS_GUEST_ES_LIMIT, segment)),
		.base = vmread(segment_field(VMCS_GUEST_ES_BASE, segment)),
	};
}

static inline void vmx_set_segment(enum vmcs_segment segment, const struct guest_segment *value)
{
	vmwrite(segment_field(VMCS_GUEST_ES_SELECTOR, segment), value->selector);
	vmwrite(segment_field(VMCS_GUEST_ES_ACCESS, segment),
		value->access ? value->access : ACCESS_UNUSABLE);
	vmwrite(segment_field(VMCS_GUEST_ES_LIMIT, segment), value->limit);
	vmwrite(segment_field(VMCS_GUEST_ES_BASE, segment), value->base);
}

#endif
