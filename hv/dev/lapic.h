/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The local APIC of the processor that runs this (SDM volume 3A, chapter 11). It is the
 * guest's; Vellum borrows it to start processors, and leaves it as it was.
 */
#ifndef VELLUM_DEV_LAPIC_H
#define VELLUM_DEV_LAPIC_H

#include "lib/types.h"

/* Registers, by their offset in the APIC's page; x2APIC's MSR is 800h + offset / 16. */
#define LAPIC_ID	   0x020u
#define LAPIC_VERSION	   0x030u
#define LAPIC_TPR	   0x080u
#define LAPIC_EOI	   0x0b0u
#define LAPIC_LDR	   0x0d0u
#define LAPIC_DFR	   0x0e0u
#define LAPIC_SVR	   0x0f0u
#define LAPIC_ISR	   0x100u /* 8 registers of 32 bits, 16 bytes apart */
#define LAPIC_ESR	   0x280u
#define LAPIC_ICR	   0x300u /* 64 bits in x2APIC mode */
#define LAPIC_ICR_HIGH	   0x310u /* not in x2APIC mode */
#define LAPIC_LVT_TIMER	   0x320u
#define LAPIC_LVT_THERMAL  0x330u
#define LAPIC_LVT_COUNTERS 0x340u
#define LAPIC_LVT_LINT0	   0x350u
#define LAPIC_LVT_LINT1	   0x360u
#define LAPIC_LVT_ERROR	   0x370u
#define LAPIC_INITIAL	   0x380u
#define LAPIC_CURRENT	   0x390u
#define LAPIC_DIVIDE	   0x3e0u

#define MSR_X2APIC_BASE 0x00000800u
#define MSR_X2APIC_ICR	(MSR_X2APIC_BASE + LAPIC_ICR / 16)

/* The interrupt command register's low half */
#define ICR_VECTOR(icr)	   ((icr)&0xff)
#define ICR_MODE(icr)	   ((icr) >> 8 & 7)
#define ICR_LOGICAL	   BIT(11)
#define ICR_PENDING	   BIT(12)
#define ICR_ASSERT	   BIT(14)
#define ICR_LEVEL	   BIT(15)
#define ICR_SHORTHAND(icr) ((icr) >> 18 & 3)

enum icr_mode { ICR_FIXED = 0, ICR_NMI = 4, ICR_INIT = 5, ICR_STARTUP = 6 };
enum icr_shorthand { ICR_NONE = 0, ICR_SELF = 1, ICR_ALL = 2, ICR_OTHERS = 3 };

/* True if the APIC is in x2APIC mode: then its page means nothing. */
bool lapic_is_x2apic(void);

/* Where the registers are in xAPIC mode. */
hpa_t lapic_page(void);

/* This processor's APIC id: 8 bits, or 32 in x2APIC mode. */
uint32_t lapic_id(void);

/* 32-bit accesses to a register that both modes have; to one of xAPIC only in its mode. */
uint32_t lapic_read(uint32_t offset);
void lapic_write(uint32_t offset, uint32_t value);

/*
 * Sends one interrupt (the low half of the command register, no shorthand) to a processor;
 * returns when it has been sent. The destination that the guest has set is left.
 */
void lapic_send(uint32_t apic_id, uint32_t command);

/* As INIT leaves it (SDM volume 3A, 11.4.7.1 and 11.4.7.3), but for what is pending. */
void lapic_reset(void);

#endif
