/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: an EFER that can be written where it may not, or that does not show the mode.
 * Manual: APM volume 2, 3.1.7 and 14.6.1: LME cannot change while paging is on: #GP; LMA
 * is set by the processor when paging is turned on with LME set.
 * Vendors: no difference.
 * Cannot tell apart: what TCG natively does with LME under paging; it ignores the write.
 */
#include "guest.h"

const char guest_name[] = "msr_efer_modes";

#define MOV_ECX_EFER	 0xb9, 0x80, 0x00, 0x00, 0xc0
#define RDMSR		 0x0f, 0x32
#define WRMSR		 0x0f, 0x30
#define CLEAR_EAX_BIT(n) 0x0f, 0xba, 0xf0, n /* BTR */
#define SET_EAX_BIT(n)	 0x0f, 0xba, 0xe8, n /* BTS */

static const uint8_t read[] = {MOV_ECX_EFER, RDMSR, INT_DONE};
static const uint8_t clear_lme[] = {MOV_ECX_EFER, RDMSR, CLEAR_EAX_BIT(8), WRMSR, INT_DONE};
static const uint8_t set_sce[] = {MOV_ECX_EFER, RDMSR, SET_EAX_BIT(0), WRMSR, RDMSR, INT_DONE};
static const uint8_t clear_sce[] = {MOV_ECX_EFER, RDMSR, CLEAR_EAX_BIT(0), WRMSR, INT_DONE};

static unsigned int long_vector(const uint8_t *code)
{
	struct state state = state_for64(code);

	run64(&state);
	return (unsigned int)state.vector;
}

/* The code ends behind an RDMSR. */
static void say_efer(const uint8_t *code)
{
	struct state state = state_for64(code);

	run64(&state);
	say_same("vector %llu, EFER %llx", state.vector, state.rdx << 32 | state.rax);
}

static void check_refused(void)
{
	EXPECT_EQ("clearing LME in long mode", long_vector(clear_lme), VECTOR_GP);
	paging_on(PAGING_PAE);
	EXPECT_EQ("setting LME under paging", msr_write(MSR_EFER, EFER_LME), VECTOR_GP);
	paging_off();
}

void guest_main(void)
{
	say_efer(read);
	say_efer(set_sce);
	EXPECT_EQ("clearing SCE in long mode", long_vector(clear_sce), DONE);
	say_efer(read);
	paging_on(PAGING_PAE);
	EXPECT_EQ("setting NXE", msr_write(MSR_EFER, EFER_NXE), DONE);
	EXPECT_EQ("clearing NXE", msr_write(MSR_EFER, 0), DONE);
	paging_off();
	if (under_vellum())
		check_refused();
}
