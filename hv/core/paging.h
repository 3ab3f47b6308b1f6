/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What exits with paging=shadow: page faults, and all that changes how the guest's tables are
 * read. Neutral; the vendors decode the instruction and load what comes out.
 */
#ifndef VELLUM_CORE_PAGING_H
#define VELLUM_CORE_PAGING_H

#include "core/vcpu.h"
#include "mm/guest_memory.h"

/* A pool of shadow pages out of the frames that are free. Once. -ENOMEM. */
int paging_prepare(void);

/* The vcpu has shadow page tables from now on. Once each. -ENOMEM. */
int paging_attach(struct vcpu *vcpu);

/* The registers that the vcpu starts with. */
void paging_start(struct vcpu *vcpu, const struct guest_paging *guest);

/* PAE's top entries, if the guest pages with such: false, and nothing has changed, if they are bad.
 */
bool paging_load_pdptes(struct vcpu *vcpu, const struct guest_paging *guest);

/* The registers after a task switch, with paging_load_pdptes() done. */
void paging_load(struct vcpu *vcpu, const struct guest_paging *guest);

/* Of an exit for #PF: its address and error code, as the processor gives them. */
void exit_page_fault(struct vcpu *vcpu, gva_t address, uint32_t error_code);

/*
 * Whether the guest's program may read or write size bytes, at most a page, that Vellum shall
 * touch for one of its instructions. If not, the #PF is on its way to the guest.
 */
bool paging_allows(struct vcpu *vcpu, gva_t address, unsigned int size, bool write);

/* MOV from CR0, CR3 or CR4. */
uint64_t exit_read_control_register(const struct vcpu *vcpu, unsigned int number);

/* MOV to one of them: loads it and skips the instruction, or raises #GP. */
void exit_write_control_register(struct vcpu *vcpu, unsigned int number, uint64_t value);

void exit_clts(struct vcpu *vcpu);
void exit_lmsw(struct vcpu *vcpu, uint16_t value);
void exit_invlpg(struct vcpu *vcpu, gva_t address);

/*
 * VMI's call 38, of the entry that was told to be wanted; 46 and 47. False, and nothing is done,
 * with nested paging.
 */
bool paging_fill_wanted(struct vcpu *vcpu);
bool paging_invalidate(struct vcpu *vcpu, gva_t address);
bool paging_flush(struct vcpu *vcpu);

/* The vendor's write_efer(). */
void paging_write_efer(struct vcpu *vcpu, uint64_t value);

#endif
