/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A vendor for the tests of the neutral exit handlers: one guest whose registers the test
 * sets, and what the handler did to it.
 */
#ifndef VELLUM_TESTS_UNIT_FAKE_VENDOR_H
#define VELLUM_TESTS_UNIT_FAKE_VENDOR_H

#include "core/vcpu.h"
#include "core/vendor.h"

#define HIDDEN_MSR 0xc0010117u /* the only one that hides_msr() knows */

#define KEPT_MSR   0xc001001au /* the only one that keeps_msr() knows */

static struct {
	uint64_t cr0, cr4, efer;
	unsigned int cpl;
	unsigned int skips, injections, type_changes;
	unsigned int vector;
	int error_code;
	uint16_t released[8]; /* ports */
	unsigned int releases;
} guest;

static void fake_inject(struct vcpu *vcpu, unsigned int vector, int error_code)
{
	(void)vcpu;
	guest.injections++;
	guest.vector = vector;
	guest.error_code = error_code;
}

static void fake_skip(struct vcpu *vcpu)
{
	(void)vcpu;
	guest.skips++;
}

static uint64_t fake_cr0(const struct vcpu *vcpu)
{
	(void)vcpu;
	return guest.cr0;
}

static uint64_t fake_cr4(const struct vcpu *vcpu)
{
	(void)vcpu;
	return guest.cr4;
}

static uint64_t fake_read_efer(const struct vcpu *vcpu)
{
	(void)vcpu;
	return guest.efer;
}

static void fake_write_efer(struct vcpu *vcpu, uint64_t value)
{
	(void)vcpu;
	guest.efer = value;
}

static unsigned int fake_privilege_level(const struct vcpu *vcpu)
{
	(void)vcpu;
	return guest.cpl;
}

static void fake_release_port(struct vcpu *vcpu, uint16_t port)
{
	(void)vcpu;
	guest.released[guest.releases++ % 8] = port;
}

static bool fake_hides_msr(uint32_t msr)
{
	return msr == HIDDEN_MSR;
}

static void fake_types_changed(void)
{
	guest.type_changes++;
}

static bool fake_keeps_msr(uint32_t msr)
{
	return msr == KEPT_MSR;
}

static const struct vendor fake_vendor = {
	.inject_exception = fake_inject,
	.skip_instruction = fake_skip,
	.privilege_level = fake_privilege_level,
	.read_cr0 = fake_cr0,
	.read_cr4 = fake_cr4,
	.hides_msr = fake_hides_msr,
	.keeps_msr = fake_keeps_msr,
	.memory_types_changed = fake_types_changed,
	.read_efer = fake_read_efer,
	.write_efer = fake_write_efer,
	.release_port = fake_release_port,
};

const struct vendor *vendor = &fake_vendor;

#endif
