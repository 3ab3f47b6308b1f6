/* SPDX-License-Identifier: GPL-2.0-only */
/* Which MSRs and I/O ports exit: SDM volume 3C, 25.6.4 and 25.6.9. */
#include "core/policy.h"
#include "lib/bitmap.h"
#include "lib/errno.h"
#include "mm/frames.h"
#include "mm/mtrr.h"
#include "mm/physmap.h"
#include "vmx/vmx.h"

#define PORT_BITMAP_FRAMES 2 /* A: ports 0 to 7FFFh, B: the others */
#define MSR_BITMAP_FRAMES  1

/* The MSR bitmap's parts of 1 KiB: reads of low and high MSRs, then writes */
#define MSR_RANGE_SIZE	0x2000u
#define MSR_HIGH_BASE	0xc0000000u
#define MSR_HIGH_BYTES	0x400u
#define MSR_WRITE_BYTES 0x800u

/*
 * VMX's own; and those of what writes by addresses that nobody translates for the guest:
 * PEBS by Vellum's page tables if a counter overflows there, processor trace and hardware
 * feedback by physical ones (SDM volume 3B, 20.3.1, chapter 33 and 15.6).
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{MSR_FEATURE_CONTROL, MSR_FEATURE_CONTROL},
	{MSR_PEBS_ENABLE, MSR_PEBS_ENABLE},
	{MSR_VMX_FIRST, MSR_VMX_LAST},
	{MSR_RTIT_FIRST, MSR_RTIT_LAST},
	{MSR_DS_AREA, MSR_DS_AREA},
	{MSR_FEEDBACK_FIRST, MSR_FEEDBACK_LAST},
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

/* The read bit of an MSR in the bitmap, or -EINVAL: then it exits in any case. */
static int msr_bit(uint32_t msr)
{
	if (msr < MSR_RANGE_SIZE)
		return (int)msr;
	if (msr - MSR_HIGH_BASE < MSR_RANGE_SIZE)
		return (int)(MSR_HIGH_BYTES * 8 + (msr - MSR_HIGH_BASE));
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
		bitmap_set(msr_bitmap, (unsigned int)bit + MSR_WRITE_BYTES * 8);
}

static void guard_mtrr(uint32_t msr)
{
	guard_msr(msr, false, true);
}

static void guard_port(uint16_t port)
{
	bitmap_set(port_bitmap, port);
}

int vmx_bitmaps_init(void)
{
	int error = allocate(&msr_bitmap, MSR_BITMAP_FRAMES);

	if (!error)
		error = allocate(&port_bitmap, PORT_BITMAP_FRAMES);
	if (error)
		return error;
	policy_guard_msrs(guard_msr);
	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++)
		for (uint32_t msr = hidden[i].first; msr <= hidden[i].last; msr++)
			guard_msr(msr, true, true);
	mtrr_for_each(guard_mtrr);
	policy_guard_ports(guard_port);
	return 0;
}

bool vmx_hides_msr(uint32_t msr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++)
		if (msr >= hidden[i].first && msr <= hidden[i].last)
			return true;
	return false;
}

/* None: Intel's processors move memory about by chipset registers, not by MSRs. */
bool vmx_keeps_msr(uint32_t msr)
{
	return false;
}

hpa_t vmx_msr_bitmap(void)
{
	return virt_to_phys(msr_bitmap);
}

hpa_t vmx_port_bitmap(void)
{
	return virt_to_phys(port_bitmap);
}

void vmx_release_port(struct vcpu *vcpu, uint16_t port)
{
	bitmap_clear(port_bitmap, port);
}
