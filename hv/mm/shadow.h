/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shadow page tables, for processors without nested paging: what the processor walks instead
 * of the guest's own tables. The invariants stand in shadow.c. One processor so far.
 */
#ifndef VELLUM_MM_SHADOW_H
#define VELLUM_MM_SHADOW_H

#include "mm/guest_tables.h"
#include "mm/shadow_pool.h"

/* One processor's address space. */
struct shadow_context {
	struct guest_paging guest; /* the registers as the guest has loaded them */
	struct paging_mode mode;
	uint64_t pdpte[PDPTE_COUNT]; /* PAE: as loaded with CR3 */
	struct shadow_page *root;    /* the page of the top entries */
	unsigned int first_top;	     /* and the first of them */
	hpa_t hardware_root;	     /* for the processor's CR3; below 4 GiB */
	gpa_t wanted; /* entry that the guest's last fault met, of level 1; nothing of it is cached
		       */
};

/*
 * A pool of this many pages (shadow_pool.h), and the tables for a guest that does not page:
 * all memory where it is. Once. -ENOMEM.
 */
int shadow_init(unsigned int pages);

/*
 * Reads the four PDPTEs of PAE at CR3. False, and nothing has changed, if one of them has a
 * reserved bit: #GP.
 */
bool shadow_load_pdptes(struct shadow_context *context, const struct guest_paging *guest);

/*
 * The guest has loaded CR0, CR3, CR4 or EFER, and all translations that are not in its tables
 * now have ended. Sets context->hardware_root.
 */
void shadow_load(struct shadow_context *context, const struct guest_paging *guest);

/*
 * VMI's AllocatePage: the guest tells of all changes to this table by shadow_entry_changed(),
 * so its writes need not fault. ReleasePage: it does no longer. In any order, any page.
 * Not in long mode, whose root could go.
 */
void shadow_announce(gpa_t table);
void shadow_release(gpa_t table);

/* An entry of whatever table has changed; what was cached of it before goes. */
void shadow_entry_changed(gpa_t entry);

/* All that is cached goes. Not in long mode. */
void shadow_forget(void);

/* The guest has mended the wanted entry, most likely, and is about to use it. */
void shadow_fill_wanted(struct shadow_context *context);

/* Whether the guest may have changed tables and has neither told so nor flushed. */
bool shadow_is_untold(const struct shadow_context *context);

/* INVLPG. */
void shadow_invalidate(struct shadow_context *context, gva_t address);

/*
 * A page fault of the processor's. True: the access is allowed, and will succeed if it is
 * made again. False: the fault is the guest's own, with *error_code.
 */
bool shadow_fault(struct shadow_context *context, const struct guest_access *access,
		  uint32_t *error_code);

#endif
