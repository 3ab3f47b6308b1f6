/* SPDX-License-Identifier: GPL-2.0-only */
/* Which MSRs and I/O ports exit: APM volume 2, 15.10 and 15.11. */
#include "core/policy.h"
#include "core/smp.h"
#include "dev/lapic.h"
#include "lib/bitmap.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/physmap.h"
#include "svm/svm.h"

#define PORT_BITMAP_FRAMES 3 /* 65536 bits, and those past the end for wide accesses */
#define MSR_BITMAP_FRAMES  2

/* The MSR bitmap's three ranges of 2 KiB, two bits (read, write) an MSR */
#define MSR_RANGE_SIZE	0x2000u
#define MSR_RANGE_BYTES 0x800u

/* SVM's own: a processor without SVM answers #GP */
static const uint32_t own_msrs[] = {MSR_VM_CR, MSR_VM_HSAVE_PA, MSR_IGNNE, MSR_SMM_CTL,
				    MSR_SVM_KEY};

/* Written, they could put something else where Vellum lies, or hide its memory's content. */
static const uint32_t kept_msrs[] = {
	MSR_SYSCFG,  MSR_IORR_FIRST, MSR_IORR_FIRST + 1, MSR_IORR_FIRST + 2, MSR_IORR_LAST,
	MSR_TOP_MEM, MSR_TOP_MEM2,   MSR_MMIO_CFG_BASE,	 MSR_SMM_ADDR,	     MSR_SMM_MASK,
};

static uint8_t *msr_bitmap, *port_bitmap;

static int allocate(uint8_t **bitmap, unsigned int frames)
{
	hpa_t address;
	int error = frames_allocate(frames, 1, &address);

	if (!error)
		*bitmap = phys_to_virt(address);
	return error;
}

/* The first bit of an MSR in the bitmap, or -EINVAL: then it exits in any case. */
static int msr_bit(uint32_t msr)
{
	static const uint32_t bases[] = {0, 0xc0000000u, 0xc0010000u};

	for (unsigned int range = 0; range < ARRAY_SIZE(bases); range++)
		if (msr - bases[range] < MSR_RANGE_SIZE)
			return (int)(range * MSR_RANGE_BYTES * 8 + (msr - bases[range]) * 2);
	return -EINVAL;
}

static void guard_msr(uint32_t msr, bool read, bool write)
{
	int bit = msr_bit(msr);

	if (bit < 0)
		return;
	if (read)
		bitmap_set(msr_bitmap, (unsigned int)bit);
	if (write)
		bitmap_set(msr_bitmap, (unsigned int)bit + 1);
}

static void guard_port(uint16_t port)
{
	bitmap_set(port_bitmap, port);
}

int svm_bitmaps_init(void)
{
	int error = allocate(&msr_bitmap, MSR_BITMAP_FRAMES);

	if (!error)
		error = allocate(&port_bitmap, PORT_BITMAP_FRAMES);
	if (error)
		return error;
	policy_guard_msrs(guard_msr);
	for (unsigned int i = 0; i < ARRAY_SIZE(own_msrs); i++)
		guard_msr(own_msrs[i], true, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(kept_msrs); i++)
		guard_msr(kept_msrs[i], false, true);
	if (smp_guest_count() > 1) /* npt.c has the reason */
		guard_msr(MSR_X2APIC_ICR, false, true);
	policy_guard_ports(guard_port);
	return 0;
}

static bool is_among(uint32_t msr, const uint32_t *list, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (list[i] == msr)
			return true;
	return false;
}

bool svm_hides_msr(uint32_t msr)
{
	return is_among(msr, own_msrs, ARRAY_SIZE(own_msrs));
}

bool svm_keeps_msr(uint32_t msr)
{
	return is_among(msr, kept_msrs, ARRAY_SIZE(kept_msrs));
}

hpa_t svm_msr_bitmap(void)
{
	return virt_to_phys(msr_bitmap);
}

hpa_t svm_port_bitmap(void)
{
	return virt_to_phys(port_bitmap);
}

void svm_release_port(struct vcpu *vcpu, uint16_t port)
{
	bitmap_clear(port_bitmap, port);
	vmcb_of(vcpu)->control.clean &= ~(uint32_t)CLEAN_IOPM;
}
