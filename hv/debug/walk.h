/* SPDX-License-Identifier: GPL-2.0-only */
/* A walk through the guest's page tables that keeps each step, for people to look at. */
#ifndef VELLUM_DEBUG_WALK_H
#define VELLUM_DEBUG_WALK_H

#include "mm/guest_memory.h"

#define WALK_LEVELS_MAX 5

struct walk_step {
	const char *name; /* of the table: "PML4", "PD", ... */
	uint64_t table;	  /* gpa */
	unsigned int index;
	uint64_t entry;	 /* 0 if the table is no memory of the guest's */
	bool wide;	 /* an entry of 64 bits */
	bool leaf;	 /* it maps a page, or would if it were present */
	bool has_rights; /* PAE's topmost entries have none (5.2.3) */
};

struct walk {
	unsigned int count; /* steps that could be made; 0 without paging */
	struct walk_step step[WALK_LEVELS_MAX];
	const char *wrong; /* with the last step; NULL: the address is mapped */
	gpa_t address;	   /* then: where it leads */
	uint64_t page;	   /* bytes that the last entry maps */
};

/* Flags of an entry, from bit 0 on: APM volume 2, 5.4.1 */
#define WALK_PRESENT BIT(0)
#define WALK_WRITE   BIT(1)
#define WALK_USER    BIT(2)
#define WALK_NX	     BIT(63)

void walk_guest(const struct guest_paging *paging, uint64_t address, struct walk *walk);

#endif
