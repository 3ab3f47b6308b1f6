/* SPDX-License-Identifier: GPL-2.0-only */
/* Segment registers in the VMCB, in words that both vendors share: APM volume 2, 15.5.1. */
#ifndef VELLUM_SVM_SEGMENT_H
#define VELLUM_SVM_SEGMENT_H

#include "core/descriptor.h"
#include "svm/vmcb.h"

static inline struct guest_segment svm_unpacked(const struct vmcb_segment *segment)
{
	uint16_t low = segment->attributes & 0xff, high = segment->attributes & 0xf00;

	return (struct guest_segment){segment->selector, (uint16_t)(low | high << 4),
				      segment->limit, segment->base};
}

static inline struct vmcb_segment svm_packed(const struct guest_segment *segment)
{
	return (struct vmcb_segment){segment->selector, SEGMENT_ATTRIBUTES(segment->access),
				     segment->limit, segment->base};
}

#endif
