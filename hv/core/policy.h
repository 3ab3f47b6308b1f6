/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the guest's MSRs and ports Vellum guards; design and reasons: docs/exit-policy.md. */
#ifndef VELLUM_CORE_POLICY_H
#define VELLUM_CORE_POLICY_H

#include "lib/types.h"

/* Calls guard for each MSR whose reads or writes must exit, whoever the vendor is. */
void policy_guard_msrs(void (*guard)(uint32_t msr, bool read, bool write));

/* The same for ports: those that reset the machine or switch it off. */
void policy_guard_ports(void (*guard)(uint16_t port));

/*
 * Learns from ACPI where this machine is reset and switched off. Once, before the above;
 * without this call no port is guarded.
 */
void policy_find_power_ports(void);

/*
 * Hides count ports (at least 1) from first on from the guest: it reads FFh there, as where
 * there is no device, and its writes go nowhere. Before the above; once.
 */
void policy_hide_ports(uint16_t first, unsigned int count);

/* True if an access of size bytes at port touches one of these. */
bool policy_hides_port(uint16_t port, unsigned int size);

/*
 * What writing value (of size 1, 2 or 4 bytes) to port does to the machine: "reset",
 * "poweroff", or NULL for nothing of the kind.
 */
const char *policy_power_event(uint16_t port, uint32_t value, unsigned int size);

#endif
