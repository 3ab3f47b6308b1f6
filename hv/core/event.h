/* SPDX-License-Identifier: GPL-2.0-only */
/* An exception that comes while another event is being delivered. */
#ifndef VELLUM_CORE_EVENT_H
#define VELLUM_CORE_EVENT_H

enum event_outcome {
	EVENT_SECOND, /* the second is delivered; its handler returns to where the first comes again
		       */
	EVENT_DOUBLE_FAULT,
	EVENT_SHUTDOWN,
};

/*
 * Of two exceptions by their vectors (0..31), the second raised by the delivery of the first:
 * SDM volume 3A, 6.15, table 6-5; APM volume 2, 8.2.9. Interrupts of all kinds are as benign
 * as #UD, so that the second is delivered; but they do not come again by themselves.
 */
enum event_outcome event_combine(unsigned int first, unsigned int second);

#endif
